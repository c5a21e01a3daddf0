import { Context } from "effect"
import type { Flow, TransportType } from "../../../protocol/sip/Flow.ts"
import type { Endpoint } from "../../../protocol/sip/message/SipMessage.ts"
import type { SelfAddress } from "./SelfAddress.ts"

/** Called with each complete message of a peer and the flow by which it arrived. Must not throw. */
export type Receiver = (bytes: Uint8Array, from: Flow) => void

/**
 * A way to carry SIP messages, RFC 3261 section 18: a socket for datagrams, or a listener with its connections.
 *
 * All addresses are IP literals in their canonical spelling (`IpAddress.canonical`). A transport reports failures by
 * `refused` and never throws. It decides itself how many connections it keeps, and which it closes first.
 */
export interface Transport {
  readonly type: TransportType
  /** Our end of a flow to this IP address; null when the transport cannot reach it. */
  readonly localTo: (address: string) => Endpoint | null
  /** The address at which a peer at this IP address reaches us. It differs from `localTo` behind a NAT. */
  readonly announcedTo: (address: string) => Endpoint | null
  /** A flow to a peer that `localTo` reaches, over an open connection or one that the first message will open. */
  readonly open: (remote: Endpoint) => Flow
  /** Calls `refused` when the message could not be sent, but never before `send` has returned. */
  readonly send: (bytes: Uint8Array, flow: Flow, refused: () => void) => void
  /** Replaces the receiver. Messages that arrive without a receiver are dropped. */
  readonly receive: (receiver: Receiver) => void
}

/**
 * The transports of one user agent, as one.
 *
 * `open` always gives a flow, even to a peer that no transport reaches. A message on such a flow is refused, as when a
 * socket fails.
 */
export class Transports extends Context.Service<
  Transports,
  {
    /** Whether a transport with this name in a URI reaches the IP address. */
    readonly reaches: (transport: string, address: string) => boolean
    /** A flow to an IP address. */
    readonly open: (transport: string, remote: Endpoint) => Flow
    /** The flow of an earlier process, over a transport of this one. */
    readonly resume: (flow: Flow) => Flow
    /** Our own name on this flow. */
    readonly self: (flow: Flow) => SelfAddress
    readonly send: Transport["send"]
    readonly receive: (receiver: Receiver) => void
  }
>()("trunkline/carrier/sip/Transports") {}

/** A placeholder for our address towards a peer that no transport reaches. */
const noAddress: Endpoint = { address: "0.0.0.0", port: 5060 }

export const make = (transports: ReadonlyArray<Transport>): Transports["Service"] => {
  const reaching = (type: string, address: string): ReadonlyArray<Transport> =>
    transports.filter((transport) => transport.type === type && transport.localTo(address) !== null)

  /** Among several transports that reach the peer, the one on whose address the flow began. */
  const carrying = ({ local, remote, transport: type }: Flow): Transport | null => {
    const candidates = reaching(type, remote.address)
    const from = ({ localTo }: Transport): Endpoint | null => localTo(remote.address)
    return (
      candidates.find((each) => from(each)?.address === local.address && from(each)?.port === local.port) ??
      candidates[0] ??
      null
    )
  }

  return {
    reaches: (type, address) => reaching(type, address).length > 0,
    open: (type, remote) =>
      reaching(type, remote.address)[0]?.open(remote) ?? {
        transport: "udp",
        local: noAddress,
        remote: { address: remote.address, port: 0 },
        connection: null
      },
    resume: (flow) => carrying(flow)?.open(flow.remote) ?? flow,
    self: (flow) => ({ transport: flow.transport, ...(carrying(flow)?.announcedTo(flow.remote.address) ?? noAddress) }),
    send: (bytes, flow, refused) => {
      const transport = carrying(flow)
      if (transport === null || flow.remote.port === 0) return queueMicrotask(refused)
      transport.send(bytes, flow, refused)
    },
    receive: (receiver) => {
      for (const transport of transports) transport.receive(receiver)
    }
  }
}
