import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { Effect, Layer, Schema } from "effect"
import { Egress, EgressError, type EgressRequest, type EgressResponse } from "../Egress.ts"
import * as Target from "../Target.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import * as Client from "./Client.ts"

export interface Options extends Omit<Client.Options, "permits" | "authorities"> {
  readonly rules: Target.Rules
  /** PEM certificates trusted besides the default roots. */
  readonly extraAuthorities?: string
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Credentials stay with the origin they were for. */
const anonymous = ({ headers, ...request }: EgressRequest): EgressRequest => ({
  ...request,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => !["authorization", "cookie"].includes(name.toLowerCase()))
  )
})

/** Egress under these rules; connections close with the scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { extraAuthorities, rules } = options
  const client = yield* Client.make({ ...options, permits: rules.permits, authorities: extraAuthorities ?? null })
  const targetOf = (url: string, scheme: Target.Scheme) => Client.accepted(Target.parse(url, rules, [scheme]))

  const hop = (request: EgressRequest, endsAt: number, hopsLeft: number): Effect.Effect<EgressResponse, EgressError> =>
    Effect.gen(function* () {
      const target = yield* targetOf(request.url, "https:")
      const response = yield* client.request(target, request, Math.max(0, endsAt - performance.now()))
      const location = response.headers["location"]
      if (hopsLeft === 0 || request.method !== "GET" || location === undefined || !redirects.has(response.status))
        return response
      const next = URL.parse(location, target.href)
      if (next === null)
        return yield* new EgressError({ reason: "invalid_url", detail: "the redirect is not a valid URL" })
      const sameOrigin = next.origin === new URL(target.href).origin
      return yield* hop({ ...(sameOrigin ? request : anonymous(request)), url: next.href }, endsAt, hopsLeft - 1)
    })

  return Egress.of({
    refuse: (url, schemes) => Target.refuse(url, rules, schemes),
    request: (request) =>
      Effect.suspend(() => hop(request, performance.now() + request.timeoutMs, request.maxRedirects ?? 0)),
    stream: (request) => Effect.flatMap(targetOf(request.url, "https:"), (target) => client.stream(target, request)),
    pin: (url, timeoutMs) => Effect.flatMap(targetOf(url, "wss:"), (target) => client.pin(target, timeoutMs))
  })
})

/** `TARGET_CA_FILE` names no file of PEM certificates. */
class TargetCaFileUnusable extends Schema.TaggedError<TargetCaFileUnusable>()("TargetCaFileUnusable", {
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
