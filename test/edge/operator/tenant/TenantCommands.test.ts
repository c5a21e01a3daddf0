import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import { Closings } from "../../../../src/tenancy/closing/Closing.ts"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import * as TenantCommands from "../../../../src/edge/operator/tenant/TenantCommands.ts"
import { Tenants } from "../../../../src/tenancy/tenant/Tenant.ts"
import * as TenantView from "../../../../src/tenancy/tenant/TenantView.ts"
import * as Ids from "../../../support/Ids.ts"

const tenant = TenantView.view({
  id: Ids.tenant("t"),
  name: "T",
  slug: "t",
  status: "active",
  suspensionReason: null,
  webhookFailoverUrl: null,
  createdAt: 0,
  updatedAt: 0
})
const given: Array<number> = []

/** The database fails after the credit. */
const world = Layer.mergeAll(
  Layer.mock(Tenants, { findByReference: () => Effect.succeed(tenant) }),
  Layer.mock(Accounts, {
    moneyMoved: () => Effect.void,
    overview: () => Effect.die("away"),
    opening: () => {
      throw new Error("nobody signs up")
    },
    onStatus: () => {}
  }),
  Layer.mock(Billing, {
    adjust: (_, cents) => Effect.sync(() => ({ balanceCents: given.push(cents) })),
    balance: () => Effect.die("away")
  }),
  Layer.mock(Calls, {}),
  Layer.mock(Closings, {}),
  Layer.mock(Funding, {})
)

describe("What the operator changes of a tenant", () => {
  it.effect("is not told as refused when it is done and cannot be shown", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(TenantCommands.credit.run({ tenant: "t", cents: 100, reason: "goodwill" }))
      expect(given).toEqual([100])
      expect([refused.code, refused.message]).toEqual(["internal_error", expect.stringMatching(/^it is done/)])
    }).pipe(Effect.provide(world), Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
