import { Context } from "effect"
import type { Flow, TransportType } from "../../../sip/Flow.ts"
import type { Endpoint } from "../../../sip/message/SipMessage.ts"
import type { SelfAddress } from "./SelfAddress.ts"

/** Called with each message of a peer, complete, and the flow that it came by. Must not throw. */
export type Receiver = (bytes: Uint8Array, from: Flow) => void

/**
 * One way to carry SIP messages, RFC 3261 section 18: a socket for datagrams, or a listener with its connections.
 *
 * Addresses are IP literals in their one spelling (`IpAddress.canonical`), those of peers too. A transport reports what
 * goes wrong by `refused` and never throws. How many connections it keeps, and which it closes first, is its own affair.
 */
export interface Transport {
  readonly type: TransportType
  /** Our end of a flow to this IP address; null: the transport cannot reach it. */
  readonly localTo: (address: string) => Endpoint | null
  /** Where a peer at this IP address reaches us, which a translator of addresses may have made another. */
  readonly announcedTo: (address: string) => Endpoint | null
  /** A flow to a peer that `localTo` knows: over a connection that stands, or one that the first message opens. */
  readonly open: (remote: Endpoint) => Flow
  /** `refused` is called, later, when the message could not be sent. */
  readonly send: (bytes: Uint8Array, flow: Flow, refused: () => void) => void
  /** One receiver; a second replaces the first. What comes before the first is dropped. */
  readonly receive: (receiver: Receiver) => void
}

/**
 * The transports of one user agent, as one.
 *
 * A peer that none of them reaches still has a flow: `open` is total, and what is sent on such a flow is refused, as it
 * is when a socket fails.
 */
export class Transports extends Context.Service<
  Transports,
  {
    /** Whether a transport of this name, as a URI has it, reaches the IP address. */
    readonly reaches: (transport: string, address: string) => boolean
    /** A flow to an IP address. */
    readonly open: (transport: string, remote: Endpoint) => Flow
    /** A flow of an earlier process, by a transport of this one. */
    readonly resume: (flow: Flow) => Flow
    /** What we call ourselves on this flow. */
    readonly self: (flow: Flow) => SelfAddress
    readonly send: Transport["send"]
    readonly receive: (receiver: Receiver) => void
  }
>()("trunkline/carrier/sip/Transports") {}

/** Our address towards a peer that no transport reaches. */
const noAddress: Endpoint = { address: "0.0.0.0", port: 5060 }

export const make = (transports: ReadonlyArray<Transport>): Transports["Service"] => {
  const reaching = (type: string, address: string): ReadonlyArray<Transport> =>
    transports.filter((transport) => transport.type === type && transport.localTo(address) !== null)

  /** Of several that would do, the one that stands where the flow began. */
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
