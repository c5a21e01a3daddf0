import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { Effect, Layer, Result, Schema } from "effect"
import { Egress, EgressError, type EgressRequest, type EgressResponse } from "../Egress.ts"
import * as EgressTarget from "../EgressTarget.ts"
import * as TargetPolicy from "../TargetPolicy.ts"
import * as CheckedLookup from "./CheckedLookup.ts"
import * as HttpsClient from "./HttpsClient.ts"

export interface Options extends Omit<HttpsClient.Options, "permits" | "authorities"> {
  readonly rules: EgressTarget.Rules
  /** The operator's policy, which adds to `rules`. */
  readonly policy?: TargetPolicy.TargetPolicy
  /** The certificate authorities that are trusted besides the default roots, as PEM. */
  readonly extraAuthorities?: string
}

const refused: EgressTarget.EgressTargetFault = {
  reason: "blocked",
  detail: "points to a host that the operator does not allow"
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Credentials are not sent to another origin than their own. */
const anonymous = ({ headers, ...request }: EgressRequest): EgressRequest => ({
  ...request,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => !["authorization", "cookie"].includes(name.toLowerCase()))
  )
})

/** Makes an egress under these rules; its connections close with the scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { extraAuthorities, policy = TargetPolicy.make(), rules } = options
  const client = yield* HttpsClient.make({
    ...options,
    permits: rules.permits,
    refuses: (host, addresses) => policy.rules().refuses(host, addresses),
    authorities: extraAuthorities ?? null
  })
  policy.onChange(client.renew)
  const parsed = (url: string, schemes?: ReadonlyArray<EgressTarget.Scheme>) =>
    Result.flatMap(EgressTarget.parse(url, rules, schemes), (target) =>
      policy.rules().refusesHost(target.host) ? Result.fail(refused) : Result.succeed(target)
    )
  const targetOf = (url: string, scheme: EgressTarget.Scheme) => HttpsClient.accepted(parsed(url, [scheme]))

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
    refuse: (url, schemes) =>
      Result.match(parsed(url, schemes), { onSuccess: () => null, onFailure: ({ detail }) => detail }),
    request: (request) =>
      Effect.suspend(() => hop(request, performance.now() + request.timeoutMs, request.maxRedirects ?? 0)),
    stream: (request) => Effect.flatMap(targetOf(request.url, "https:"), (target) => client.stream(target, request)),
    pin: (url, timeoutMs) => Effect.flatMap(targetOf(url, "wss:"), (target) => client.pin(target, timeoutMs))
  })
})

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
  readonly policy?: TargetPolicy.TargetPolicy
}): Layer.Layer<Egress, TargetCaFileUnusable> =>
  Layer.effect(
    Egress,
    Effect.gen(function* () {
      const pem = config.caFile === undefined ? undefined : yield* authorities(config.caFile)
      return yield* make({
        rules: config.allowPrivate ? EgressTarget.privateToo : EgressTarget.publicOnly,
        resolve: config.allowPrivate ? CheckedLookup.system : CheckedLookup.dns(),
        ...(pem === undefined ? {} : { extraAuthorities: pem }),
        ...(config.policy === undefined ? {} : { policy: config.policy })
      })
    })
  )
