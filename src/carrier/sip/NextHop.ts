import { isIP } from "node:net"
import { Effect, Result } from "effect"
import * as Requests from "../../sip/Requests.ts"
import type { Endpoint, SipRequest } from "../../sip/SipMessage.ts"
import * as SipUri from "../../sip/SipUri.ts"
import * as Via from "../../sip/Via.ts"
import type { RouteDirectory, SipTrunk } from "../Carrier.ts"
import type { Context } from "./Context.ts"
import * as SelfAddress from "./SelfAddress.ts"

const unbracketed = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host)

/**
 * Where a request within a dialog goes, RFC 3261 section 8.1.2: to the address in its first Route or Request-URI. A name
 * is not looked up: whoever names itself so in a Contact is reached where the packets of the call come from.
 */
export const of = (request: SipRequest, peer: Endpoint): Endpoint => {
  const uri = Result.getOrUndefined(SipUri.parseSipUri(Requests.nextHop(request)))
  const address = uri === undefined ? "" : unbracketed(uri.host)
  return isIP(address) === 0 ? peer : { address, port: uri?.port ?? Via.defaultPort }
}

/** A trunk and where its packets go. */
export interface Reached {
  readonly trunk: SipTrunk
  readonly peer: Endpoint
}

/** The trunk of a route; `null`: there is none, or its name cannot be resolved. */
export const trunkOf = (
  context: { readonly directory: RouteDirectory["Service"]; readonly resolve: Context["resolve"] },
  routeId: string
): Effect.Effect<Reached | null> =>
  Effect.flatMap(context.directory.sipTrunk(routeId), (trunk) =>
    trunk === null
      ? Effect.succeed(null)
      : Effect.match(context.resolve(unbracketed(trunk.host)), {
          onFailure: () => null,
          onSuccess: (address) => ({ trunk, peer: { address, port: trunk.port } })
        })
  )

/** Request-URI of a call to a number at a trunk. */
export const uriAt = (trunk: SipTrunk, number: string): string =>
  `sip:${SipUri.escapedUser(number)}@${SelfAddress.hostOf(unbracketed(trunk.host))}:${trunk.port}`
