import type { HttpApiEndpoint } from "effect/http-api"
import { type Code, statusOf } from "../../../domain/ErrorCatalogue.ts"
import type { About } from "../Endpoint.ts"
import type { Json } from "./Json.ts"
import * as SchemaCodes from "./SchemaCodes.ts"

/** The errors in the published document: each endpoint lists every status that it answers, and the codes of each. */

const everywhere: ReadonlyArray<Code> = ["invalid_request", "internal_error", "service_unavailable"]
const authenticated: ReadonlyArray<Code> = ["authentication_required", "invalid_credentials", "forbidden"]
const idempotent: ReadonlyArray<Code> = ["idempotency_key_too_long", "idempotency_conflict", "conflict"]

export const honoursKey = ({ method }: HttpApiEndpoint.Top, { idempotent = false, scope }: About): boolean =>
  idempotent || (scope !== null && method !== "GET")

const codesOf = (endpoint: HttpApiEndpoint.Top, about: About): ReadonlySet<Code> => {
  const isPublic = about.scope === null
  const schemas = [
    endpoint.params,
    endpoint.query,
    ...[...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  ].filter((schema) => schema !== undefined)
  const query = endpoint.query?.ast
  const isPaged = query?._tag === "Objects" && query.propertySignatures.some(({ name }) => name === "page")
  return new Set<Code>([
    ...everywhere,
    ...(isPublic ? (["rate_limited"] as const) : authenticated),
    ...(isPublic || (about.servesSuspended === true && endpoint.method === "GET")
      ? []
      : (["tenant_suspended"] as const)),
    ...(honoursKey(endpoint, about) ? idempotent : []),
    ...(isPaged ? (["not_found"] as const) : []),
    ...SchemaCodes.of(schemas.map(({ ast }) => ast)),
    ...(about.errors ?? [])
  ])
}

const retryAfter = {
  "Retry-After": { description: "Seconds until there is room again.", schema: { type: "integer", minimum: 1 } }
}

/** `says`: whether a 429 says when to retry. */
const response = (status: number, codes: ReadonlyArray<Code>, says: boolean): Json => ({
  description: codes.map((code) => `\`${code}\``).join(", "),
  ...(status === 429 && says ? { headers: retryAfter } : {}),
  content: {
    "application/json": {
      schema: {
        allOf: [
          { $ref: "#/components/schemas/Error" },
          // The message is named as well, because a validator takes each part for all of the fields.
          { properties: { error: { properties: { code: { enum: codes }, message: { type: "string" } } } } }
        ]
      },
      example: { error: { code: codes[0], message: "what went wrong, in words" } }
    }
  }
})

/** The error responses by status, in ascending order. */
export const responses = (endpoint: HttpApiEndpoint.Top, about: About): Readonly<Record<string, Json>> => {
  const byStatus = new Map<number, Array<Code>>()
  for (const code of codesOf(endpoint, about)) {
    const status = about.statuses?.[code] ?? statusOf(code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  // A body with a content coding.
  if (endpoint.method !== "GET") byStatus.set(415, [...(byStatus.get(415) ?? []), "invalid_request"])
  // The limit of a connection, which is on new calls, passes within a second.
  const says = about.errors?.includes("concurrent_call_cap_exceeded") !== true
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [String(status), response(status, codes, says)])
  )
}
