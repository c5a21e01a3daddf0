import { Agent as PlainAgent, request as httpRequest } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import { isIP } from "node:net"
import { Effect, Result, type Scope } from "effect"
import { EgressError, type EgressResponse, type EgressStreamResponse, type Streamed, type Whole } from "../Egress.ts"
import { addressMs, type Pinned } from "../Pinned.ts"
import type { EgressTargetFault, EgressTarget } from "../EgressTarget.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import { Connections } from "./Connections.ts"
import * as Drains from "./Drains.ts"
import { type Start, exchange } from "./HttpExchange.ts"
import * as NodeFailure from "./NodeFailure.ts"
import * as Pace from "../../../domain/fair/Pace.ts"
import * as StreamExchange from "./StreamExchange.ts"
import * as Trust from "./Trust.ts"

/**
 * The number of webhook deliveries that may be under way. Many tenants may share a receiver's host, and a request that
 * waited for a connection there would wait for the requests of others.
 */
export const connectionsPerDestination = 2_048

export interface Options {
  readonly permits: (address: string) => boolean
  /** True when all of these together are refused as addresses of the host; by default none are. */
  readonly refuses?: (host: string, addresses: ReadonlyArray<string>) => boolean
  readonly resolve: CheckedLookup.Resolve
  /** The certificate authorities that are trusted besides the default roots, as PEM. */
  readonly authorities: string | null
  readonly maxConnectionsPerDestination?: number
  /** The most requests under way in all, including streams; one more fails at once with `connect`. */
  readonly maxInFlight?: number
  /** How much of an answer is read and dropped after it was cut, at one destination. */
  readonly drains?: Drains.Bounds
  /** An unused connection is closed after this time, or earlier when the peer's `Keep-Alive` header asks for it. */
  readonly idleMs?: number
}

/** Sends requests to parsed targets, under one set of rules. Both kinds of egress use it. */
interface Client {
  readonly request: (
    target: EgressTarget,
    request: Whole,
    withinMs: number
  ) => Effect.Effect<EgressResponse, EgressError>
  readonly stream: <E>(
    target: EgressTarget,
    request: Streamed<E>
  ) => Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope>
  readonly pin: (target: EgressTarget, timeoutMs: number) => Effect.Effect<Pinned, EgressError>
  /** Keeps open connections from serving further requests, because the rules have changed. */
  readonly renew: () => void
}

/** With more open connections than this, one that becomes idle is closed. */
const maxIdleConnections = 1024

/** Gives a parsed target, or fails with the reason why there is none. */
export const accepted = (
  parsed: Result.Result<EgressTarget, EgressTargetFault>
): Effect.Effect<EgressTarget, EgressError> =>
  Result.match(parsed, {
    onSuccess: (target) => Effect.succeed(target),
    onFailure: ({ detail, reason }) => Effect.fail(new EgressError({ reason, detail: `the URL ${detail}` }))
  })

const tooMany = new EgressError({ reason: "connect", detail: "too many requests are under way" })

/** A client over `node:https` and `node:http`; its connections close with the scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const {
    authorities,
    maxConnectionsPerDestination: maxSockets = connectionsPerDestination,
    maxInFlight = 4096
  } = options
  const resolve = CheckedLookup.checked(options.resolve, options.permits, options.refuses)
  const secureContext = Trust.contextOf(authorities)
  const transport = {
    lookup: CheckedLookup.make(resolve),
    autoSelectFamilyAttemptTimeout: addressMs,
    ...(secureContext === undefined ? {} : { secureContext })
  }
  const kept = { maxSockets, timeout: options.idleMs ?? 30_000 }
  const connections = yield* closing(new Connections({ ...transport, ...kept, maxIdle: maxIdleConnections }))
  const plainConnections = yield* closing(new PlainAgent({ ...kept, keepAlive: true, maxFreeSockets: 16 }))

  const startAt =
    ({ host, path, port, scheme }: EgressTarget, reuse: boolean): Start =>
    ({ headers, method }) => {
      const to: RequestOptions = {
        ...transport,
        host,
        port,
        path,
        method,
        headers: { "accept-encoding": "identity", ...headers }
      }
      return scheme === "http:"
        ? httpRequest({ ...to, agent: reuse && plainConnections })
        : httpsRequest({ ...to, agent: reuse && connections })
    }

  const pace = Pace.make()
  const drains = Drains.make(options.drains)
  let inFlight = 0
  const admitted = Effect.acquireRelease(
    Effect.suspend(() => (inFlight >= maxInFlight ? Effect.fail(tooMany) : Effect.sync(() => void inFlight++))),
    () => Effect.sync(() => void inFlight--)
  )
  const client: Client = {
    renew: () => {
      connections.renew()
    },
    request: (target, request, withinMs) =>
      Effect.scoped(
        Effect.andThen(
          admitted,
          exchange(startAt(target, true), request, withinMs, {
            pace,
            drain: drains.at(`${target.host}:${target.port}`)
          })
        )
      ),
    // A stream gets a new connection, because the peer may close a kept one, and a stream cannot be sent again.
    stream: (target, request) => Effect.andThen(admitted, StreamExchange.make(startAt(target, false), request)),
    pin: ({ host, path, port, scheme }, timeoutMs) =>
      Effect.tryPromise({
        try: async () => (isIP(host) === 0 ? await resolve(host) : [host]),
        catch: (error) => NodeFailure.fromNode(error instanceof Error ? error : new Error("not resolved"))
      }).pipe(
        Effect.timeoutOrElse({
          duration: timeoutMs,
          orElse: () => Effect.fail(new EgressError({ reason: "timeout", detail: "the host was not resolved in time" }))
        }),
        Effect.map((addresses) => ({
          addresses,
          port,
          host,
          path,
          secure: scheme === "wss:" || scheme === "https:" || scheme === "smtps:",
          authorities
        }))
      )
  }
  return client
})

const closing = <A extends { readonly destroy: () => void }>(agent: A) =>
  Effect.acquireRelease(Effect.succeed(agent), () => Effect.sync(() => agent.destroy()))
