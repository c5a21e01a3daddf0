import { Effect, Layer } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { ApiKeys } from "../../tenancy/apikey/ApiKey.ts"
import { Billing } from "../../money/billing/Billing.ts"
import { Trunks } from "../../numbers/trunk/Trunk.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { Onboarding } from "../../tenancy/tenant/Onboarding.ts"
import { disablingAll } from "../../webhook/Webhook.ts"

/** The functions of features above `tenant` that signup and verification need. */
export const layer = Layer.effect(
  Onboarding,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const apiKeys = yield* ApiKeys
    const billing = yield* Billing
    const connections = yield* Trunks
    const jobs = yield* Jobs
    const by = { type: "system", name: "e-mail verification" } as const
    return Onboarding.of({
      open: Effect.fn("Onboarding.open")(function* (tenant) {
        yield* billing.openWithin(tenant)
        yield* connections.createDefaultWithin(tenant)
        const { audit, ...apiKey } = yield* apiKeys.createWithin(tenant)
        return { account: accounts.opening(tenant.id, tenant.at, tenant.seed), audit: [audit], apiKey }
      }),
      trialWithin: billing.trialWithin,
      // It fails when nothing is left to do (the tenant is closed, or suspended for another reason), and in an outage.
      // After an outage the sweep of `tenancy/tenant/EmailVerification.ts` does it.
      verified: (tenantId) =>
        Effect.andThen(
          accounts.moneyMoved(tenantId),
          Effect.ignore(accounts.reactivate(tenantId, "email_unverified", by))
        ),
      endAccessWithin: (tenantId, at) =>
        Effect.andThen(
          jobs.enqueue({ kind: disablingAll, key: `${tenantId} ${at}`, tenantId }),
          apiKeys.revokeAllWithin(tenantId, at)
        ),
      endMemberAccessWithin: (member, at) => apiKeys.revokeOfWithin(member, "all", at),
      accessChanged: apiKeys.tenantChanged,
      unverified: (tenantId) => Effect.ignore(accounts.suspend(tenantId, "email_unverified", by))
    })
  })
)
