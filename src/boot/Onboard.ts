import { Effect, Layer } from "effect"
import { Accounts } from "../account/Account.ts"
import { ApiKeys } from "../apikey/ApiKey.ts"
import { Billing } from "../billing/Billing.ts"
import { Connections } from "../connection/Connection.ts"
import { Onboarding } from "../tenant/Onboarding.ts"

const sweeper = { type: "system", name: "email verification" } as const

/** What a new tenant gets from the features above `tenant`: balance and credit, account, first key, default route. */
export const layer = Layer.effect(
  Onboarding,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const apiKeys = yield* ApiKeys
    const billing = yield* Billing
    const connections = yield* Connections
    return Onboarding.of({
      open: Effect.fn("Onboarding.open")(function* (tenant) {
        const money = yield* billing.openWithin(tenant)
        yield* connections.createDefaultWithin(tenant)
        const { audit, ...apiKey } = yield* apiKeys.createWithin(tenant)
        return { account: accounts.opening(tenant.id, tenant.at, tenant.seed), money, audit: [audit], apiKey }
      }),
      verified: (tenantId) => Effect.ignore(accounts.reactivate(tenantId, "email_unverified", sweeper)),
      unverified: (tenantId) => Effect.ignore(accounts.suspend(tenantId, "email_unverified", sweeper))
    })
  })
)
