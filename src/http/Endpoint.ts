import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { type Code, catalogue } from "../domain/ErrorCatalogue.ts"
import type { EndpointScope } from "../domain/Scope.ts"

/** The scope that an authenticated endpoint asks for; `null` on a public one. */
export class RequiredScope extends Context.Service<RequiredScope, EndpointScope | null>()(
  "trunkline/http/RequiredScope"
) {}

/** Answered for a suspended tenant too: it must see why, and pay. */
export const ServesSuspended = Context.Reference<boolean>("trunkline/http/ServesSuspended", {
  defaultValue: () => false
})

/** What the published document says of the statuses that every endpoint of a kind can answer. */
const everywhere: ReadonlyArray<Code> = ["invalid_request", "internal_error", "service_unavailable"]
const authenticated: ReadonlyArray<Code> = [
  "authentication_required",
  "invalid_credentials",
  "forbidden",
  "tenant_suspended"
]
const mutating: ReadonlyArray<Code> = ["idempotency_key_too_long", "idempotency_conflict", "conflict"]

interface About {
  readonly summary: string
  readonly description?: string
  /** `null`: no key is asked for, and the route is rate limited. */
  readonly scope: EndpointScope | null
  readonly servesSuspended?: boolean
  /** Codes of the error catalogue that this endpoint adds to those of its kind. */
  readonly refusals?: ReadonlyArray<Code>
  /** Where this endpoint's row names another status than the catalogue. */
  readonly statuses?: Partial<Record<Code, number>>
}

/**
 * Everything about an endpoint but its schemas: `.annotateMerge(about({ … }))` on each. The middleware reads the scope,
 * the published document the rest.
 */
export const about = (options: About): Context.Context<never> => {
  const annotations = OpenApi.annotations({
    summary: options.summary,
    description: options.description,
    transform: (operation) => describe(operation as Operation, options)
  })
  return Context.merge(
    annotations,
    Context.make(RequiredScope, options.scope).pipe(Context.add(ServesSuspended, options.servesSuspended ?? false))
  )
}

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>
  readonly parameters?: ReadonlyArray<unknown>
  readonly [key: string]: unknown
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", maxLength: 128 },
  description: "The first response is stored for 24 hours; a repetition returns it with `Idempotent-Replayed: true`."
}

const describe = (operation: Operation, { scope, refusals = [], statuses = {} }: About): Operation => {
  const successes = Object.entries(operation.responses).filter(([status]) => status < "400")
  const mutates = scope !== null && !scope.endsWith(":read")
  const codes = [
    ...everywhere,
    ...(scope === null ? (["rate_limited"] as const) : authenticated),
    ...(mutates ? mutating : []),
    ...(operation.parameters?.some((parameter) => isPathParameter(parameter)) === true ? (["not_found"] as const) : []),
    ...refusals
  ]
  const byStatus = new Map<number, Set<Code>>()
  for (const code of codes) {
    const status = statuses[code] ?? catalogue[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  const errors = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      {
        description: [...codes].map((code) => `\`${code}\``).join(", "),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
      }
    ])
  return {
    ...operation,
    ...(scope === null ? { security: [] } : { security: [{ bearer: [] }], "x-required-scope": scope }),
    ...(mutates ? { parameters: [...(operation.parameters ?? []), idempotencyKey] } : {}),
    responses: { ...Object.fromEntries(successes), ...Object.fromEntries(errors) }
  }
}

const isPathParameter = (parameter: unknown): boolean =>
  typeof parameter === "object" && parameter !== null && "in" in parameter && parameter.in === "path"
