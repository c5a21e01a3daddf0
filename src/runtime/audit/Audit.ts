import * as Id from "../../domain/Id.ts"
import type { AuditRow } from "../store/journal/Journal.ts"

export { AuditLog } from "./AuditLog.ts"
export { AuditLine } from "./AuditView.ts"

/** Whoever made an authenticated request: the API key, its tenant, and what it may do. */
export interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
  /** The key's name, for the audit log. */
  readonly name: string
  /** What it may do now: at most what its member's role allows. */
  readonly scopes: ReadonlyArray<string>
  /** The person whose key it is; null: a key of the tenant's own. */
  readonly member: Acting | null
  readonly ip: string | null
}

/** A member by whose key something is asked. */
export interface Acting {
  readonly id: Id.UserId
  readonly name: string
  readonly role: string
  /** Whether the person logged in for it, and so acts in person. */
  readonly isLogin: boolean
}

export type Actor = AuditRow["actor"]

/** A person who is logged in, or else the key. */
export const keyOf = ({ keyId, member, name }: Pick<Caller, "keyId" | "member" | "name">): Actor =>
  member !== null && member.isLogin
    ? { type: "user", id: member.id, name: member.name }
    : { type: "api_key", id: keyId, name }
export const operator: Actor = { type: "operator", id: null, name: null }
export const system: Actor = { type: "system", id: null, name: null }

/** Who a line names, and where the request came from. */
export interface By {
  readonly actor: Actor
  readonly ip: string | null
}
export const byCaller = (caller: Omit<Caller, "scopes">): By => ({ actor: keyOf(caller), ip: caller.ip })
export const byOperator: By = { actor: operator, ip: null }
export const bySystem: By = { actor: system, ip: null }

/**
 * One line of the audit log, guide/tenants.md#audit: `action` is `<resource>.<past>`. Secrets never appear in
 * `changes`.
 */
export const line = (options: {
  /** Null: what the operator changes for all. */
  readonly tenantId: Id.TenantId | null
  readonly at: number
  /** Of the request that caused it; the line's id is derived from seed, action and resource. */
  readonly seed: string
  readonly actor: Actor
  readonly ip?: string | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly changes?: AuditRow["changes"]
}): AuditRow => ({
  id: Id.deriveUuid(`${options.seed} ${options.action} ${options.resourceId}`, "audit"),
  tenantId: options.tenantId,
  at: options.at,
  actor: options.actor,
  action: options.action,
  resourceType: options.resourceType,
  resourceId: options.resourceId,
  changes: options.changes ?? [],
  ip: options.ip ?? null
})
