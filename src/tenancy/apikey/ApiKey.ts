import { Cache, Clock, Context, Effect, Layer } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as Id from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Role from "../../domain/Role.ts"
import * as Scope from "../../domain/Scope.ts"
import { receipt, type Rendered, sealedReceipt, type Slot } from "../../runtime/idempotency/Slot.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as RowCache from "../../runtime/store/list/RowCache.ts"
import * as ApiKeyRepo from "./ApiKeyRepo.ts"
import { type ApiKeyView, type CreatedApiKey, created, view } from "./ApiKeyView.ts"
import * as Credential from "./Credential.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as KeyLookup from "./KeyLookup.ts"

export { ApiKey, CreatedApiKey } from "./ApiKeyView.ts"

interface CreateRequest {
  /** The name has 1 to 120 characters. */
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly expiresAtMs: number | null
}

/** The login of a member. */
interface Login {
  readonly tenantId: Id.TenantId
  readonly member: { readonly id: Id.UserId; readonly name: string; readonly role: string }
  readonly at: number
  readonly expiresAtMs: number
  readonly ip: string | null
  /** The seed of the login. The key's id is derived from it. */
  readonly seed: string
}

const nobodys = { memberId: null, isLogin: false }

/** A new key. Only at this moment does its plaintext exist outside the client. */
interface FirstKey {
  readonly id: Id.ApiKeyId
  readonly prefix: string
  readonly scopes: ReadonlyArray<string>
  readonly plaintext: string
  readonly audit: AuditRow
}

type TenantStatus = "active" | "suspended" | "closed"

const invalid = (message: string, param: string) => ApiError.of("invalid_request", message, param)
const inThePast = invalid("expires_at must be in the future", "expires_at")
const livesLonger = ApiError.of("forbidden", "a key cannot live longer than the key that makes it", "expires_at")
const notFound = ApiError.of("not_found", "no such API key")

/** The most verified keys in memory, and the most tenants whose status is. */
const remembered = 10_000

/**
 * Makes, lists, revokes and recognizes API keys, guide/authentication.md#keys.
 *
 * `authenticate` answers from memory after the first time. The next request sees a revocation that this process made.
 */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /**
     * 201 with the plaintext; 400 for unknown or no scopes, 403 for scopes that the caller does not hold, and for a
     * life that is longer than the caller's. A logged-in member may make a key that lives longer than the login. A key
     * that a member's key makes belongs to the member too.
     */
    readonly create: Audit.Request<[request: CreateRequest]>
    /** Makes a key by the operator, with any scope and any life. There is no receipt. */
    readonly issue: (
      tenantId: Id.TenantId,
      request: CreateRequest
    ) => Effect.Effect<typeof CreatedApiKey.Encoded, ApiError>
    /** The first key of a tenant, scopes `["*"]`, inside signup's transaction. */
    readonly createWithin: (tenant: {
      readonly id: Id.TenantId
      readonly at: number
      readonly seed: string
    }) => Effect.Effect<FirstKey>
    /** Makes a key for a member's login, inside the caller's transaction. */
    readonly loginWithin: (login: Login) => Effect.Effect<{ readonly id: Id.ApiKeyId; readonly plaintext: string }>
    /** Revokes a member's keys inside the caller's transaction. The caller calls `memberChanged` after it. */
    readonly revokeOfWithin: (
      member: { readonly id: Id.UserId; readonly tenantId: Id.TenantId },
      which: "all" | "logins",
      at: number
    ) => Effect.Effect<ReadonlyArray<Id.ApiKeyId>>
    /** Revokes all keys of a tenant inside the caller's transaction. The caller calls `tenantChanged` after it. */
    readonly revokeAllWithin: (tenantId: Id.TenantId, at: number) => Effect.Effect<ReadonlyArray<Id.ApiKeyId>>
    readonly tenantChanged: (tenantId: Id.TenantId) => Effect.Effect<void>
    /** Called after a transaction that changed a member, so that the next request with the member's keys sees it. */
    readonly memberChanged: (memberId: Id.UserId) => Effect.Effect<void>
    readonly list: (tenantId: Id.TenantId, window: Listing.Window) => Effect.Effect<Listing.Page<ApiKeyView>>
    readonly find: (tenantId: Id.TenantId, id: Id.ApiKeyId) => Effect.Effect<ApiKeyView, ApiError>
    /** Revokes a key of this tenant by the operator. A key that is revoked already stays unchanged. */
    readonly revokeByOperator: (tenantId: Id.TenantId, id: Id.ApiKeyId) => Effect.Effect<ApiKeyView, ApiError>
    /** 204, even for a key that is revoked already. */
    readonly revoke: Audit.Request<[id: Id.ApiKeyId]>
    readonly authenticate: (credential: string, ip: string | null) => Effect.Effect<Audit.Caller, ApiError>
    readonly tenantStatus: (tenantId: Id.TenantId) => Effect.Effect<TenantStatus>
  }
>()("trunkline/apikey/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const { all, transaction } = yield* Sql.make
      const journal = yield* Journal
      const entropy = yield* Entropy
      const accounts = yield* Accounts
      const repo = yield* ApiKeyRepo.make
      const recognition = yield* KeyLookup.make(repo, remembered)

      const make = Effect.fnUntraced(function* (
        tenantId: Id.TenantId,
        request: CreateRequest,
        by: { readonly actor: Audit.Actor; readonly ip: string | null; readonly at: number; readonly seed: string },
        of: { readonly memberId: Id.UserId | null; readonly isLogin: boolean } = nobodys
      ) {
        const plaintext = Credential.make(entropy.bytes(32))
        const key: ApiKeyRepo.StoredKey = {
          ...Credential.store(plaintext, entropy.hex(16)),
          id: Id.deriveUuid(by.seed, "api_key"),
          tenantId,
          name: request.name,
          scopes: request.scopes,
          ...of,
          lastUsedAt: null,
          lastUsedIp: null,
          expiresAt: request.expiresAtMs,
          revokedAt: null,
          createdAt: by.at
        }
        yield* repo.insert(key)
        const audit = Audit.line({
          ...by,
          tenantId,
          action: "api_key.created",
          resourceId: key.id,
          changes: [{ field: "scopes", from: null, to: key.scopes }]
        })
        return { key, plaintext, audit }
      })

      const find = Effect.fn("ApiKeys.find")(function* (tenantId: Id.TenantId, id: Id.ApiKeyId) {
        const row = Id.isUuid(id) ? yield* repo.find(tenantId, id) : null
        return row === null ? yield* notFound : view(row)
      })

      const end = Effect.fn("ApiKeys.revoke")(function* (
        tenantId: Id.TenantId,
        id: Id.ApiKeyId,
        by: { readonly actor: Audit.Actor; readonly ip: string | null },
        slot: Slot | null
      ) {
        yield* find(tenantId, id)
        const at = yield* Clock.currentTimeMillis
        const rendered: Rendered = { status: 204, body: null }
        const line = Audit.line({
          ...by,
          tenantId,
          at,
          seed: entropy.hex(16),
          action: "api_key.revoked",
          resourceId: id
        })
        yield* Effect.gen(function* () {
          yield* repo.lock(tenantId)
          const first = yield* repo.revoke(tenantId, id, at)
          yield* journal.commitWithin({ ...empty, audit: first ? [line] : [], receipt: receipt(slot, rendered, at) })
        }).pipe(
          transaction,
          // Runs even if the answer of the commit was lost: forgetting a key in vain costs only another look.
          Effect.ensuring(Effect.sync(() => recognition.revoked(id)))
        )
        return rendered
      })

      const statuses = yield* RowCache.make({
        capacity: remembered,
        lookup: (tenantId: Id.TenantId) =>
          all<{ readonly status: TenantStatus }>`SELECT status FROM tenant WHERE id = ${tenantId}`.pipe(
            // A key without a tenant cannot exist (foreign key). If it did, it would give no access.
            Effect.map((rows) => rows[0]?.status ?? "closed")
          )
      })
      accounts.onStatus((tenantId) => Effect.runSync(Cache.invalidate(statuses, tenantId)))

      return ApiKeys.of({
        create: Effect.fn("ApiKeys.create")(function* (caller, request, slot) {
          const at = yield* Clock.currentTimeMillis
          const scopes = yield* grantable(caller.scopes, request.scopes)
          if (hasEnded(request, at)) return yield* inThePast
          const own = caller.member?.isLogin === true ? null : yield* repo.find(caller.tenantId, caller.keyId)
          if (own !== null && outlives(request.expiresAtMs, own.expiresAt)) return yield* livesLonger
          const seed = entropy.hex(16)
          return yield* Effect.gen(function* () {
            // A revocation of all keys does not see a key that another transaction is making, so they take turns.
            yield* repo.lock(caller.tenantId)
            if (!(yield* repo.isLive(caller.keyId))) return yield* KeyLookup.unauthorized
            const by = { ...Audit.byCaller(caller), at, seed }
            const of = { memberId: caller.member?.id ?? null, isLogin: false }
            const made = yield* make(caller.tenantId, { ...request, scopes }, by, of)
            const body = created({ ...made.key, apiKeyPlaintext: made.plaintext })
            const rendered: Rendered = { status: 201, body: JSON.stringify(body) }
            const stored = sealedReceipt(slot, rendered, at, entropy.bytes(12))
            yield* journal.commitWithin({ ...empty, audit: [made.audit], receipt: stored })
            return rendered
          }).pipe(transaction)
        }),
        issue: Effect.fn("ApiKeys.issue")(function* (tenantId, request) {
          const at = yield* Clock.currentTimeMillis
          const scopes = yield* grantable(["*"], request.scopes)
          if (hasEnded(request, at)) return yield* inThePast
          return yield* Effect.gen(function* () {
            yield* repo.lock(tenantId)
            const by = { actor: yield* Audit.operator, ip: null, at, seed: entropy.hex(16) }
            const made = yield* make(tenantId, { ...request, scopes }, by)
            yield* journal.commitWithin({ ...empty, audit: [made.audit] })
            return created({ ...made.key, apiKeyPlaintext: made.plaintext })
          }).pipe(transaction)
        }, Effect.uninterruptible),
        createWithin: Effect.fn("ApiKeys.createWithin")(function* (tenant) {
          const { audit, key, plaintext } = yield* make(
            tenant.id,
            { name: "Default", scopes: ["*"], expiresAtMs: null },
            { actor: Audit.system, ip: null, at: tenant.at, seed: tenant.seed }
          )
          return { id: key.id, prefix: key.prefix, scopes: key.scopes, plaintext, audit }
        }),
        loginWithin: Effect.fn("ApiKeys.loginWithin")(function* (login) {
          const { at, ip, member, seed, tenantId } = login
          const { key, plaintext } = yield* make(
            tenantId,
            { name: "Login", scopes: Role.scopesOf(member.role), expiresAtMs: login.expiresAtMs },
            { actor: { type: "user", id: member.id, name: member.name }, ip, at, seed },
            { memberId: member.id, isLogin: true }
          )
          return { id: key.id, plaintext }
        }),
        revokeOfWithin: (member, which, at) => repo.revokeOf(member.tenantId, member.id, which, at),
        revokeAllWithin: repo.revokeAll,
        tenantChanged: (tenantId) => Effect.sync(() => recognition.forgetOfTenant(tenantId)),
        memberChanged: (memberId) => Effect.sync(() => recognition.forgetOf(memberId)),
        list: repo.list,
        find,
        revoke: (caller, id, slot) => end(caller.tenantId, id, Audit.byCaller(caller), slot),
        revokeByOperator: Effect.fnUntraced(function* (tenantId, id) {
          yield* end(tenantId, id, yield* Audit.byOperator, null)
          return yield* find(tenantId, id)
        }),
        authenticate: recognition.authenticate,
        tenantStatus: (tenantId) => Cache.get(statuses, tenantId)
      })
    })
  )
}

/** Whether a key that ends at `one` outlives a key that ends at `other`; null: it never ends. */
const outlives = (one: number | null, other: number | null): boolean => other !== null && (one === null || one > other)

const hasEnded = ({ expiresAtMs }: CreateRequest, at: number): boolean => expiresAtMs !== null && expiresAtMs <= at

/** Returns the wanted scopes if they are known, at least one, and all held. `*` beside others is `*`. */
const grantable = (held: ReadonlyArray<string>, wanted: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (wanted.length === 0) return yield* invalid("scopes must not be empty", "scopes")
    const unknown = wanted.find((scope) => !Scope.isScope(scope))
    if (unknown !== undefined)
      return yield* invalid(`there is no scope "${unknown}"; there are ${Scope.scopes.join(", ")}`, "scopes")
    const missing = wanted.find((scope) => !Scope.grants(held, scope))
    if (missing !== undefined)
      return yield* ApiError.of("forbidden", `the calling key does not hold the scope "${missing}"`, "scopes")
    return wanted.includes("*") ? ["*"] : [...new Set(wanted)]
  })
