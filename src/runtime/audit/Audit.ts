import { Context, Effect } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import type { Rendered, Slot } from "../idempotency/Slot.ts"
import type { AuditRow } from "../store/journal/Journal.ts"

export { AuditLog } from "./AuditLog.ts"
export { AuditLine } from "./AuditView.ts"

/** The author of an authenticated request: the API key, its tenant, and its permissions. */
export interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
  /** The key's name, for the audit log. */
  readonly name: string
  /** The key's permissions now: at most those of its member's role. */
  readonly scopes: ReadonlyArray<string>
  /** The member whose key it is; null: the key belongs to the tenant. */
  readonly member: Acting | null
  readonly ip: string | null
}

/** The member whose key authenticates a request. */
export interface Acting {
  readonly id: Id.UserId
  readonly name: string
  readonly role: string
  /** True when the key comes from a login, so that the member acts in person. */
  readonly isLogin: boolean
}

/** A request that changes something. Its answer is kept in the slot of its `Idempotency-Key`, where it has one. */
export type Request<Arguments extends ReadonlyArray<unknown>> = (
  caller: Caller,
  ...rest: [...Arguments, slot: Slot | null]
) => Effect.Effect<Rendered, ApiError>

export type Actor = AuditRow["actor"]

/** Names the member if the key comes from a login, and otherwise the key. */
export const keyOf = ({ keyId, member, name }: Pick<Caller, "keyId" | "member" | "name">): Actor =>
  member !== null && member.isLogin
    ? { type: "user", id: member.id, name: member.name }
    : { type: "api_key", id: keyId, name }
/** The name of the person whose command of the operator runs; null: it came without one, or no command runs. */
export const OperatorName = Context.Reference<string | null>("trunkline/audit/OperatorName", {
  defaultValue: () => null
})
/** The operator, by the name that this command has. */
export const operator: Effect.Effect<Actor> = Effect.gen(function* () {
  return { type: "operator", id: null, name: yield* OperatorName }
})
export const system: Actor = { type: "system", id: null, name: null }

/** The actor that a line names, and the address from which the request came. */
export interface By {
  readonly actor: Actor
  readonly ip: string | null
}
export const byCaller = (caller: Omit<Caller, "scopes">): By => ({ actor: keyOf(caller), ip: caller.ip })
export const byOperator: Effect.Effect<By> = Effect.map(operator, (actor) => ({ actor, ip: null }))
export const bySystem: By = { actor: system, ip: null }

/** The tenant of a request, and the actor and address that its lines name. */
export const of = (caller: Omit<Caller, "scopes">) => ({ tenantId: caller.tenantId, ...byCaller(caller) })

/**
 * Makes a line of the audit log, guide/tenants.md#audit: `action` is `<resource>.<past>`. Secrets never appear in
 * `changes`.
 */
export const line = ({
  changes = [],
  ip = null,
  seed,
  resourceType,
  ...rest
}: {
  /** Null: the operator changed it for all tenants. */
  readonly tenantId: Id.TenantId | null
  readonly at: number
  /** The seed of the request that caused the line. The line's id is derived from seed, action and resource. */
  readonly seed: string
  readonly actor: Actor
  readonly ip?: string | null
  readonly action: string
  /** Absent: the resource in `action`. */
  readonly resourceType?: string
  readonly resourceId: string
  readonly changes?: AuditRow["changes"]
}): AuditRow => ({
  id: Id.deriveUuid(`${seed} ${rest.action} ${rest.resourceId}`, "audit"),
  tenantId: rest.tenantId,
  at: rest.at,
  actor: rest.actor,
  action: rest.action,
  resourceType: resourceType ?? rest.action.slice(0, rest.action.indexOf(".")),
  resourceId: rest.resourceId,
  changes,
  ip
})
