import { Effect, Result } from "effect"
import type { RouteId } from "../../../domain/Id.ts"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import * as LocalNetwork from "../../../domain/network/LocalNetwork.ts"
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as Flow from "../../../protocol/sip/Flow.ts"
import type * as Requests from "../../../protocol/sip/message/Requests.ts"
import * as SipUri from "../../../protocol/sip/message/header/SipUri.ts"
import * as Via from "../../../protocol/sip/message/header/Via.ts"
import type { RouteDirectory, SipTrunk } from "../../Carrier.ts"
import type { Context } from "../Context.ts"
import * as SelfAddress from "./SelfAddress.ts"

const unbracketed = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host)

/** The transport that a URI asks for, RFC 3263 section 4.1: an address without `transport` is reached over UDP. */
const transportOf = (uri: SipUri.SipUri): string =>
  uri.scheme === "sips" ? "tls" : (SipUri.param(uri, "transport")?.toLowerCase() ?? "udp")

const addressOf = (uri: SipUri.SipUri | undefined): string | null =>
  uri === undefined ? null : IpAddress.canonical(unbracketed(uri.host))

/**
 * Whether a peer is behind a NAT: its Contact is an address of a local network, and its packets come from elsewhere.
 */
const isBehindNat = (contact: string, { remote }: Flow.Flow): boolean => {
  const address = addressOf(Result.getOrUndefined(SipUri.parseSipUri(contact)))
  return address !== null && !LocalNetwork.isReachable(address, remote.address)
}

/**
 * The flow to a URI, RFC 3261 section 8.1.2: its address, by the transport that it names. When the host is a name,
 * which is not resolved, or no transport of ours reaches the address, the request goes back by `flow`, from which the
 * packets of the call come. Otherwise such a peer would never get a BYE, and its call would continue.
 */
const to = ({ transports }: Pick<Context, "transports">, uri: string, flow: Flow.Flow): Flow.Flow => {
  const target = Result.getOrUndefined(SipUri.parseSipUri(uri))
  const address = addressOf(target)
  if (target === undefined || address === null) return flow
  const transport = transportOf(target)
  const port = target.port ?? Flow.defaultPort(transport)
  const isThere = transport === flow.transport && address === flow.remote.address && port === flow.remote.port
  return isThere || !transports.reaches(transport, address) ? flow : transports.open(transport, { address, port })
}

/** The flow of a request, and its Via. */
interface Hop {
  readonly flow: Flow.Flow
  readonly hop: Requests.Hop
}

/** The hop by this flow, with a branch for a new transaction. */
export const by = (context: Pick<Context, "transports" | "random">, flow: Flow.Flow): Hop => ({
  flow,
  hop: SelfAddress.hop(context.transports.self(flow), `${Via.magicCookie}${context.random(16)}`)
})

/**
 * The hop of our next request within a dialog whose packets came by `flow`. Without a route set, a peer behind a NAT
 * gets it by that flow, because the NAT passes only what comes back to the address that its packets came from.
 */
export const within = (
  context: Pick<Context, "transports" | "random">,
  dialog: Dialog.Dialog,
  flow: Flow.Flow
): Hop => {
  const isDirect = dialog.routeSet.length === 0
  const goesBack = isDirect && isBehindNat(dialog.remoteTarget, flow)
  return by(context, goesBack ? flow : to(context, Dialog.nextHop(dialog), flow))
}

/** A trunk with the way to it. */
export interface Reached {
  readonly trunk: SipTrunk
  readonly flow: Flow.Flow
}

type Resolving = Pick<Context, "resolve" | "transports">

/**
 * The way to a trunk; null when its name cannot be resolved now. Of several addresses, the first one that the trunk's
 * transport reaches is taken. When it reaches none, the flow refuses every message.
 */
export const wayTo = ({ resolve, transports }: Resolving, trunk: SipTrunk): Effect.Effect<Reached | null> =>
  Effect.match(resolve(unbracketed(trunk.host)), {
    onFailure: () => null,
    onSuccess: (addresses) => {
      const address = addresses.find((each) => transports.reaches(trunk.transport, each)) ?? addresses[0]
      if (address === undefined) return null
      return { trunk, flow: transports.open(trunk.transport, { address, port: trunk.port }) }
    }
  })

/** The trunk of a route and the way to it; null when there is no trunk, or its name cannot be resolved. */
export const trunkOf = (
  context: Resolving & { readonly directory: RouteDirectory["Service"] },
  routeId: RouteId
): Effect.Effect<Reached | null> =>
  Effect.flatMap(context.directory.sipTrunk(routeId), (trunk) =>
    trunk === null ? Effect.succeed(null) : wayTo(context, trunk)
  )

/** The Request-URI of a call to a number at a trunk. */
export const uriAt = (trunk: SipTrunk, number: string): string =>
  SelfAddress.uri(number, { ...trunk, address: unbracketed(trunk.host) })
