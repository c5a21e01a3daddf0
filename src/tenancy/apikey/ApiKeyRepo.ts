import { Effect } from "effect"
import type { Acting } from "../../runtime/audit/Audit.ts"
import type { ApiKeyId, TenantId, UserId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { type ApiKeyRow, view } from "./ApiKeyView.ts"
import type { Stored } from "./Credential.ts"

export interface StoredKey extends ApiKeyRow, Stored {
  readonly tenantId: TenantId
}

/** A key with its member. */
interface FoundKey extends StoredKey {
  /** Null when the key has no member, or when its member is gone or disabled. */
  readonly member: Acting | null
}

export type ApiKeyRepo = Effect.Success<typeof make>

/** Rows of `api_key`. Every read is by tenant, except the one by prefix. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, done, first, lockTenant, some, sql, values } = yield* Sql.make
  const read = yield* Listing.reader
  const columns = sql`id, tenant_id, name, prefix, salt, hash, scopes, member_id, is_login, last_used_at,
    last_used_ip, expires_at, revoked_at, created_at`

  return {
    /** Makes changes of one team and its keys wait for each other, until the end of the caller's transaction. */
    lock: lockTenant,

    isLive: (id: ApiKeyId) => some`SELECT FROM api_key WHERE id = ${id} AND revoked_at IS NULL`,

    insert: (key: StoredKey) => done`INSERT INTO api_key ${values({ ...key, scopes: sql`${key.scopes}::text[]` })}`,

    byPrefix: (prefix: string) =>
      Effect.map(
        all<StoredKey & { readonly memberName: string | null; readonly role: string }>`
          SELECT k.*, m.first_name || ' ' || m.last_name AS member_name, m.role
          FROM (SELECT ${columns} FROM api_key WHERE prefix = ${prefix}) AS k
          LEFT JOIN member m ON m.id = k.member_id AND m.tenant_id = k.tenant_id AND m.status = 'active'`,
        (rows) =>
          rows.map(({ memberName, role, ...key }): FoundKey => ({
            ...key,
            member:
              key.memberId === null || memberName === null
                ? null
                : { id: key.memberId, name: memberName, role, isLogin: key.isLogin }
          }))
      ),

    find: (tenantId: TenantId, id: ApiKeyId) =>
      first<StoredKey>`SELECT ${columns} FROM api_key WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** The newest first; revoked keys stay in the list. */
    list: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns, from: "api_key", window, item: view }),

    /** Returns true when this statement revoked it. A second revocation changes nothing. */
    revoke: (tenantId: TenantId, id: ApiKeyId, at: number) =>
      some`
        UPDATE api_key SET revoked_at = ${timestamptz(at)}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL RETURNING 1`,

    /** Revokes the keys of a member that are not revoked yet: all, or only those of logins. */
    revokeOf: (tenantId: TenantId, memberId: UserId, which: "all" | "logins", at: number) =>
      column<ApiKeyId>`
        UPDATE api_key SET revoked_at = ${timestamptz(at)}
        WHERE tenant_id = ${tenantId} AND member_id = ${memberId} AND revoked_at IS NULL
          AND (is_login OR ${which === "all"}) RETURNING id`,

    /** Revokes all keys of the tenant that are not revoked yet. */
    revokeAll: (tenantId: TenantId, at: number) =>
      column<ApiKeyId>`
        UPDATE api_key SET revoked_at = ${timestamptz(at)} WHERE tenant_id = ${tenantId} AND revoked_at IS NULL
        RETURNING id`,

    used: (id: ApiKeyId, at: number, ip: string | null) =>
      sql`UPDATE api_key SET last_used_at = ${timestamptz(at)}, last_used_ip = ${ip} WHERE id = ${id}`
  }
})
