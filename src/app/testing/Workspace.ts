import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { ApiKeys } from "../../tenancy/apikey/ApiKey.ts"
import { Billing } from "../../money/billing/Billing.ts"
import { TenantId } from "../../domain/Id.ts"
import { Numbers } from "../../numbers/number/Number.ts"
import { Tenants } from "../../tenancy/tenant/Tenant.ts"
import * as Activity from "./Activity.ts"
import * as Assembly from "./Assembly.ts"
import * as Databases from "./Databases.ts"
import * as Served from "./Served.ts"

/** A workspace that can place and take calls. */
export interface Workspace {
  readonly tenantId: string
  readonly apiKey: string
  /** Its phone number. */
  readonly number: string
}

const number = "+12025550150"
const creditCents = 100_000

const fields = {
  email: "tests@example.com",
  password: "correct horse battery staple",
  tenantName: "Tests",
  firstName: "Ada",
  lastName: "Lovelace",
  legalName: null,
  country: null,
  companySize: null,
  industry: null,
  useCase: null,
  webhookFailoverUrl: null,
  invitationToken: null
}

/** Makes the workspace, with the same values in each of its databases. */
const make = Effect.gen(function* () {
  const rendered = yield* (yield* Tenants).signup(fields, "127.0.0.1", null)
  const { api_key_plaintext: apiKey, tenant } = JSON.parse(rendered.body ?? "") as {
    readonly tenant: { readonly id: TenantId }
    readonly api_key_plaintext: string
  }
  const caller = yield* (yield* ApiKeys).authenticate(apiKey, "127.0.0.1")
  yield* (yield* Billing).adjust(tenant.id, creditCents, "credit for tests")
  const quota = { dailySpendCapCents: null, monthlySpendCapCents: null, concurrentCallLimit: 1_000 }
  yield* (yield* Accounts).setQuota(tenant.id, quota, { type: "operator", name: "trunkline/testing" })
  const order = { phoneNumbers: [number], countryCode: "US", numberType: "local", routeId: null } as const
  yield* (yield* Numbers).order(caller, { ...order, customerReference: null }, null)
  return { tenantId: tenant.id, apiKey, number } satisfies Workspace
})

/** Credits or debits the difference to the balance, as the operator does. */
export const setBalance = Effect.fnUntraced(function* ({ tenantId }: Workspace, cents: number) {
  const billing = yield* Billing
  const id = TenantId.make(tenantId)
  const { balance_cents } = yield* billing.balance(id)
  if (balance_cents === cents) return
  yield* billing.adjust(id, cents - balance_cents, "balance for a test")
  yield* (yield* Accounts).moneyMoved(id)
})

/** Fills an empty database, and returns its workspace as JSON. */
export const prepare = async (databaseUrl: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), `trunkline-testing-${process.pid}-`))
  const activity = Activity.make()
  const { service } = Served.make({ during: activity.during, fault: () => undefined, seen: () => undefined })
  const layer = Assembly.rows.pipe(
    Layer.provideMerge(
      Assembly.features({
        databaseUrl,
        baseUrl: "http://127.0.0.1",
        directory,
        activity,
        egress: service,
        voices: [],
        onLost: () => undefined
      })
    ),
    Layer.provideMerge(Assembly.surroundings({ seed: "trunkline/testing", logLevel: "Error" }))
  )
  const program = Effect.gen(function* () {
    const context = yield* Layer.build(layer)
    const workspace = yield* Effect.provide(make, Context.merge(context, Context.empty()))
    // A job completes the order of the number.
    while (
      (yield* Effect.promise(() =>
        Databases.query(databaseUrl, "SELECT FROM phone_number WHERE status <> 'active' LIMIT 1")
      )).length > 0
    )
      yield* Effect.sleep(20)
    return JSON.stringify(workspace)
  })
  try {
    return await Effect.runPromise(Effect.scoped(program))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
