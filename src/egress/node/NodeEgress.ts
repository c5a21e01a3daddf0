import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createSecureContext, getCACertificates } from "node:tls"
import { Effect, Layer, Result, Schema } from "effect"
import { Egress, EgressError, type EgressRequest, type EgressResponse } from "../Egress.ts"
import * as Target from "../Target.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import { Connections } from "./Connections.ts"
import { exchange } from "./Exchange.ts"

export interface Options {
  readonly rules: Target.Rules
  readonly resolve: CheckedLookup.Resolve
  /** PEM certificates trusted besides the default roots. */
  readonly extraAuthorities?: string
  /** Connections per host and port, 256 by default: many tenants may share a receiver's host. */
  readonly maxConnectionsPerDestination?: number
  /** Requests under way in all; one more fails at once with `connect`. */
  readonly maxInFlight?: number
  /** An unused connection is closed after this long, or when the peer's `Keep-Alive` header says so. */
  readonly idleMs?: number
}

/** Over this many open connections, one that falls idle is closed. */
const maxIdleConnections = 1024

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What the request becomes at the new place, RFC 9110 section 15.4; credentials stay with the origin they were for. */
const redirected = (request: EgressRequest, status: number, sameOrigin: boolean): EgressRequest => {
  const { body, headers, ...rest } = request
  const toGet = status === 303 || ((status === 301 || status === 302) && request.method === "POST")
  const dropped = new Set([
    ...(sameOrigin ? [] : ["authorization", "cookie"]),
    ...(toGet ? ["content-type", "content-length"] : [])
  ])
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name.toLowerCase())))
  return {
    ...rest,
    headers: kept,
    method: toGet ? "GET" : request.method,
    ...(toGet || body === undefined ? {} : { body })
  }
}

/** Egress over `node:https` with these rules; connections close with the scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { rules, maxInFlight = 4096 } = options
  const connections = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Connections({
          lookup: CheckedLookup.make(options.resolve, rules.permits),
          // Made once: reading the roots anew for each connection costs more than the handshake.
          ...(options.extraAuthorities === undefined
            ? {}
            : {
                secureContext: createSecureContext({
                  ca: [...getCACertificates("default"), options.extraAuthorities]
                })
              }),
          maxSockets: options.maxConnectionsPerDestination ?? 256,
          maxIdle: maxIdleConnections,
          timeout: options.idleMs ?? 30_000
        })
    ),
    (connections) => Effect.sync(() => connections.destroy())
  )

  const hop = (
    request: EgressRequest,
    endsAt: number,
    hopsLeft: number
  ): Effect.Effect<EgressResponse, EgressError> => {
    const parsed = Target.parse(request.url, rules)
    if (Result.isFailure(parsed)) {
      const { reason, detail } = parsed.failure
      return Effect.fail(new EgressError({ reason, detail: `the URL ${detail}` }))
    }
    const target = parsed.success
    const answer = exchange(connections, target, request, Math.max(0, endsAt - performance.now()))
    if (hopsLeft === 0) return answer
    return Effect.flatMap(answer, (response) => {
      const location = response.headers["location"]
      if (location === undefined || !redirects.has(response.status)) return Effect.succeed(response)
      const next = URL.parse(location, target.href)
      if (next === null)
        return Effect.fail(new EgressError({ reason: "invalid_url", detail: "the redirect is not a valid URL" }))
      const sameOrigin = next.origin === new URL(target.href).origin
      return hop({ ...redirected(request, response.status, sameOrigin), url: next.href }, endsAt, hopsLeft - 1)
    })
  }

  let inFlight = 0
  return Egress.of({
    refuse: (url, schemes) => Target.refuse(url, rules, schemes),
    request: (request) =>
      Effect.suspend(() => {
        if (inFlight >= maxInFlight)
          return Effect.fail(new EgressError({ reason: "connect", detail: "too many requests are under way" }))
        inFlight++
        return Effect.ensuring(
          hop(request, performance.now() + request.timeoutMs, request.maxRedirects ?? 0),
          Effect.sync(() => void inFlight--)
        )
      })
  })
})

/** `TARGET_CA_FILE` names no file of PEM certificates. */
export class TargetCaFileUnusable extends Schema.TaggedError<TargetCaFileUnusable>()("TargetCaFileUnusable", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `TARGET_CA_FILE ${this.path} cannot be used: ${this.detail}`
  }
}

const authorities = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      const pem = await readFile(path, "utf8")
      const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
      if (certificates.length === 0) throw new Error("it holds no PEM certificate")
      return certificates.map((certificate) => new X509Certificate(certificate).toString()).join("")
    },
    catch: (cause) => new TargetCaFileUnusable({ path, detail: cause instanceof Error ? cause.message : String(cause) })
  })

/**
 * The outgoing HTTPS of a running service: `ALLOW_PRIVATE_TARGETS` chooses the rules and the resolver (public DNS, or
 * the machine's own), `TARGET_CA_FILE` adds authorities to the default roots.
 */
export const layer = (config: {
  readonly allowPrivate: boolean
  readonly caFile?: string
}): Layer.Layer<Egress, TargetCaFileUnusable> =>
  Layer.effect(
    Egress,
    Effect.gen(function* () {
      const pem = config.caFile === undefined ? undefined : yield* authorities(config.caFile)
      return yield* make({
        rules: config.allowPrivate ? Target.privateToo : Target.publicOnly,
        resolve: config.allowPrivate ? CheckedLookup.system : CheckedLookup.dns(),
        ...(pem === undefined ? {} : { extraAuthorities: pem })
      })
    })
  )
