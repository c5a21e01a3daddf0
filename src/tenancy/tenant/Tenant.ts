import { Clock, Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { InvitationId, TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import { Egress } from "../../ports/egress/Egress.ts"
import { type Rendered, sealedReceipt, type Slot } from "../../runtime/idempotency/Slot.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as EmailVerification from "./EmailVerification.ts"
import * as Signup from "./Signup.ts"
import * as SignupInvitations from "./SignupInvitations.ts"
import * as TenantRepo from "./TenantRepo.ts"
import * as TenantView from "./TenantView.ts"

export * as MemberAddress from "./MemberAddress.ts"
export * as EarlierAccess from "./EarlierAccess.ts"
export { Passwords } from "./Passwords.ts"
export { policies as signupPolicies, type SignupPolicy } from "./SignupInvitations.ts"
export { SignedUp, Verified, FailoverChanged, Tenant } from "./TenantView.ts"

/**
 * Tenants, guide/tenants.md: signup, verification of the owner's e-mail, and the failover URL. Status and quota belong
 * to the account, which mirrors the status here.
 */
export class Tenants extends Context.Service<
  Tenants,
  {
    /**
     * 201 with the first key; 400 `invalid_target_url`, 409 `conflict` for a used e-mail, 403 `forbidden` where sign-up
     * is closed or needs an invitation, 400 for an invitation that cannot be used.
     */
    readonly signup: (
      request: Signup.SignupRequest,
      ip: string | null,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** Invites an address by a letter and a link, which is shown once, and ends earlier invitations of the address. */
    readonly inviteSignup: (
      email: string
    ) => Effect.Effect<SignupInvitations.SignupInvitation & { readonly url: string }, ApiError>
    /** The newest 1,000 invitations to sign up. */
    readonly signupInvitations: Effect.Effect<ReadonlyArray<SignupInvitations.SignupInvitation>>
    /** 404 for an unknown invitation, 409 for one that was accepted. */
    readonly revokeSignup: (id: InvitationId) => Effect.Effect<SignupInvitations.SignupInvitation, ApiError>
    /** 200; 400 for a token that is unknown, used or expired. */
    readonly verifyEmail: (
      request: EmailVerification.Confirmation,
      ip: string | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 202 and `{}` for every address. */
    readonly resendVerification: (email: string) => Effect.Effect<Rendered>
    readonly find: (tenantId: TenantId) => Effect.Effect<TenantView.TenantView, ApiError>
    /** Finds a tenant by id or slug, for the operator. */
    readonly findByReference: (reference: string) => Effect.Effect<TenantView.TenantView, ApiError>
    /** All tenants, newest first, for the operator. */
    readonly list: (window: {
      readonly limit: number
      readonly offset: number
    }) => Effect.Effect<ReadonlyArray<TenantView.TenantView>>
    /** Each URL gets a new secret, which is shown once. Null ends the failover. */
    readonly setFailoverUrl: Audit.Request<[url: string | null]>
    /** Runs one pass of the seven-day rule, which also runs by itself every hour. */
    readonly sweep: Effect.Effect<void>
  }
>()("trunkline/tenant/Tenants") {
  /** `baseUrl` has no trailing slash; links in mails begin with it. `signup` says who may sign up. */
  static readonly layer = (options: { readonly baseUrl: string; readonly signup: SignupInvitations.SignupPolicy }) =>
    Layer.effect(
      Tenants,
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        const vault = yield* Vault
        const egress = yield* Egress
        const repo = yield* TenantRepo.make
        const verification = yield* EmailVerification.make(options)
        const invitations = yield* SignupInvitations.make({ baseUrl: options.baseUrl, policy: options.signup })
        const signup = yield* Signup.make(verification, invitations)

        const checkUrl = (url: string | null) => {
          const fault = url === null ? null : egress.refuse(url)
          return fault === null
            ? Effect.void
            : Effect.fail(
                ApiError.of("invalid_target_url", `webhook_failover_url: the URL ${fault}`, "webhook_failover_url")
              )
        }
        const orNotFound = (row: TenantView.TenantRow | null) =>
          row === null ? Effect.fail(ApiError.of("not_found", "no such tenant")) : Effect.succeed(TenantView.view(row))

        return Tenants.of({
          signup: (request, ip, slot) =>
            Effect.andThen(checkUrl(request.webhookFailoverUrl), signup(request, ip, slot)),
          inviteSignup: invitations.invite,
          signupInvitations: invitations.list(),
          revokeSignup: invitations.revoke,
          verifyEmail: verification.verify,
          resendVerification: verification.resend,
          find: (tenantId) => Effect.flatMap(repo.find(tenantId), orNotFound),
          findByReference: (reference) => Effect.flatMap(repo.findByReference(reference), orNotFound),
          list: (window) => Effect.map(repo.list(window), (rows) => rows.map(TenantView.view)),
          setFailoverUrl: Effect.fn("Tenants.setFailoverUrl")(function* (caller, url, slot) {
            yield* checkUrl(url)
            const before = yield* Effect.flatMap(repo.find(caller.tenantId), orNotFound)
            const at = yield* Clock.currentTimeMillis
            const secret = url === null ? null : Signup.secretOf(entropy.bytes(32))
            const body = TenantView.failoverChanged({ webhookFailoverUrl: url, webhookFailoverSecretPlaintext: secret })
            const rendered: Rendered = { status: 200, body: JSON.stringify(body) }
            const line = Audit.line({
              ...Audit.of(caller),
              at,
              seed: entropy.hex(16),
              action: "tenant.updated",
              resourceId: caller.tenantId,
              changes: [
                { field: "webhook_failover_url", from: maskedUrl(before.webhook_failover_url), to: maskedUrl(url) }
              ]
            })
            yield* Effect.andThen(
              repo.setFailover(caller.tenantId, url, secret === null ? null : vault.seal(secret), at),
              journal.commitWithin({
                ...empty,
                audit: [line],
                receipt: sealedReceipt(slot, rendered, at, entropy.bytes(12))
              })
            ).pipe(transaction)
            return rendered
          }, Effect.uninterruptible),
          sweep: verification.sweep
        })
      })
    )
}

/** Masks a URL for an audit line. */
const maskedUrl = (url: string | null): string | null => (url === null ? null : Secret.maskUrl(url))
