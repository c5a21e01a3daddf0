import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import * as Id from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { type Rendered, sealedReceipt, type Slot } from "../../runtime/idempotency/Slot.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type { LetterLimited } from "../../ports/letter/Letter.ts"
import { Mail } from "../../ports/mail/Mail.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as AddressIdentity from "./AddressIdentity.ts"
import * as EmailVerification from "./EmailVerification.ts"
import { Onboarding } from "./Onboarding.ts"
import { Passwords } from "./Passwords.ts"
import type { SignupInvitations } from "./SignupInvitations.ts"
import * as Slug from "./Slug.ts"
import * as TenantRepo from "./TenantRepo.ts"
import { signedUp } from "./TenantView.ts"

/** The edge has checked the lengths and forms. */
export interface SignupRequest {
  readonly email: string
  readonly password: string
  readonly tenantName: string
  readonly firstName: string
  readonly lastName: string
  readonly legalName: string | null
  readonly country: string | null
  readonly companySize: string | null
  readonly industry: string | null
  readonly useCase: string | null
  readonly webhookFailoverUrl: string | null
  /** The token of an invitation; null without one. */
  readonly invitationToken: string | null
}

const emailUsed = ApiError.of("conflict", "this e-mail address has an account already", "email")

/** `whsec_` and 32 random bytes in base64url. */
export const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString("base64url")}`

/**
 * Signs a tenant up, guide/tenants.md#signup, in one transaction with the tenant, its owner, balance, first key,
 * default route, trial credit, account, the letter and the receipt.
 *
 * Only the unique index of the e-mail decides which request gets it: of many at once one is signed up, and the others
 * get 409.
 */
export const make = Effect.fnUntraced(function* (
  verification: {
    readonly askWithin: (member: TenantRepo.Unverified, at: number) => Effect.Effect<void, LetterLimited>
  },
  invitations: Pick<SignupInvitations, "check" | "useWithin">
) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const onboarding = yield* Onboarding
  const mail = yield* Mail
  const entropy = yield* Entropy
  const vault = yield* Vault
  const repo = yield* TenantRepo.make
  const passwords = yield* Passwords

  // The e-mail is looked up again at this request's turn, so that no password is hashed for one that lost the race.
  const isFree = (email: string) =>
    Effect.flatMap(repo.emailUsed(email), (isUsed) => (isUsed ? Effect.fail(emailUsed) : Effect.void))

  return Effect.fn("Signup")(function* (request: SignupRequest, ip: string | null, slot: Slot | null) {
    const email = EmailAddress.canonical(request.email)
    const { invitationToken } = request
    const mayBegin = Effect.andThen(invitations.check(invitationToken, email), isFree(email))
    yield* invitations.check(invitationToken, email)
    const passwordHash = yield* passwords.hash(request.password, ip, mayBegin)
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const tenant = { id: Id.deriveUuid(seed, "tenant"), at, seed }
    const userId = Id.deriveUuid(seed, "member")
    const secret = request.webhookFailoverUrl === null ? null : secretOf(entropy.bytes(32))

    return yield* Effect.gen(function* () {
      yield* repo.insert(
        {
          id: tenant.id,
          name: request.tenantName,
          legalName: request.legalName,
          country: request.country,
          companySize: request.companySize,
          industry: request.industry,
          useCase: request.useCase,
          webhookFailoverUrl: request.webhookFailoverUrl,
          webhookFailoverSecret: secret === null ? null : vault.seal(secret),
          createdAt: at
        },
        Slug.of(request.tenantName)
      )
      const { firstName, lastName } = request
      const owner = { id: userId, tenantId: tenant.id, email, firstName, lastName }
      if (!(yield* repo.insertOwner({ ...owner, passwordHash, createdAt: at }))) return yield* emailUsed
      yield* invitations.useWithin(invitationToken, tenant.id, at)
      // Strangers may have used up the limit of this mailbox, which must not keep its owner from signing up.
      const isAsked = yield* verification.askWithin(owner, at).pipe(
        Effect.as(true),
        Effect.catchTag("LetterLimited", () => Effect.succeed(false))
      )
      const { account, apiKey, audit } = yield* onboarding.open(tenant)
      // Where mail reaches people, the credit waits until the address is verified.
      const money = mail.isReal ? [] : yield* onboarding.trialWithin({ ...tenant, identity: AddressIdentity.of(email) })
      const body = signedUp({
        tenant: { id: tenant.id, name: request.tenantName, status: "active" },
        user: {
          id: userId,
          email,
          firstName,
          lastName,
          role: "owner",
          emailVerified: false
        },
        apiKey,
        apiKeyPlaintext: apiKey.plaintext,
        verificationEmailSent: isAsked,
        verificationExpiresAt: at + EmailVerification.lifetimeMs,
        ...(secret === null ? {} : { webhookFailoverSecretPlaintext: secret })
      })
      const rendered: Rendered = { status: 201, body: JSON.stringify(body) }
      const created = Audit.line({
        ...tenant,
        tenantId: tenant.id,
        actor: { type: "user", id: userId, name: `${firstName} ${lastName}` },
        ip,
        action: "tenant.created",
        resourceId: tenant.id
      })
      yield* journal.commitWithin({
        ...empty,
        entities: [account],
        money,
        audit: [created, ...audit],
        receipt: sealedReceipt(slot, rendered, at, entropy.bytes(12))
      })
      return rendered
    }).pipe(transaction)
  }, Effect.uninterruptible)
})
