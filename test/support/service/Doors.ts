/** The doors by which rows are written without an entity, for tests of what happens to those rows in trouble. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import type { Caller } from "../../../src/runtime/audit/Audit.ts"
import { Bans } from "../../../src/carrier/ban/Ban.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { IngressBans } from "../../../src/carrier/peer/IngressBans.ts"
import { Trunks } from "../../../src/numbers/trunk/Trunk.ts"
import type * as Id from "../../../src/domain/Id.ts"
import * as TargetPolicy from "../../../src/ports/egress/TargetPolicy.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import * as Slot from "../../../src/runtime/idempotency/Slot.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as SealedRows from "../../../src/runtime/store/vault/SealedRows.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import { Targets } from "../../../src/tenancy/target/Target.ts"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as Features from "./Features.ts"

/** The features with all their doors, over a client. */
export const layer = Layer.mergeAll(
  Webhooks.layer({ ownsConnection: () => Effect.succeed(true), subscriptionLimit: () => Effect.succeed(50) }),
  DialingPermissions.layer,
  Idempotency.layer,
  Targets.layer(TargetPolicy.make()),
  Bans.layer.pipe(Layer.provide(IngressBans.layer))
).pipe(Layer.provideMerge(Features.startedAs("doors", [0])))

type Services = Layer.Success<typeof layer> | SqlClient.SqlClient

/** The subject of one pass: each door is tried once, in order. */
export interface Subject {
  readonly caller: Caller
  readonly email: string
  readonly subscription: Id.SubscriptionId
  readonly spareKey: Id.ApiKeyId
  readonly number: string
  readonly nth: number
}

let made = 0

const idOf = (rendered: { readonly body: string | null }) => (JSON.parse(rendered.body ?? "") as { id: string }).id

export const subject = Effect.gen(function* () {
  const nth = ++made
  const { caller, email } = yield* Features.newTenant()
  const subscription = idOf(yield* (yield* Webhooks).create(caller, hook("a"), null)) as Id.SubscriptionId
  const spareKey = (yield* (yield* ApiKeys).issue(caller.tenantId, key)).id
  const number = `+120255501${50 + (nth % 50)}`
  // The use of a key is noted after the request.
  const sql = yield* SqlClient.SqlClient
  const noted = sql`SELECT FROM api_key WHERE id = ${caller.keyId} AND last_used_at IS NOT NULL`
  while ((yield* noted).length === 0) yield* Effect.sleep("5 millis")
  return { caller, email, subscription, spareKey, number, nth } satisfies Subject
})

const by = { type: "operator", name: "test" } as const
const key = { name: "spare", scopes: ["calls:read"], expiresAtMs: null }
const hook = (path: string) => ({
  targetUrl: `https://hook.example/${path}`,
  eventTypes: ["call.started"],
  description: null,
  connectionId: null
})
const trunk = { name: "T", host: "192.0.2.10", port: 5060, username: "u", password: "secret", isDefault: false }
const slotOf = (nth: number) =>
  Slot.make({
    owner: `owner ${nth}`,
    credential: "svc_live_x",
    idempotencyKey: "k",
    method: "POST",
    path: "/v1/calls",
    body: new Uint8Array()
  })

/** Each door writes something, the first time for its subject. The last one closes the tenant. */
export const all: Readonly<Record<string, (of: Subject) => Effect.Effect<unknown, unknown, Services>>> = {
  signup: ({ nth }) =>
    Effect.flatMap(Tenants, (tenants) =>
      tenants.signup(Features.request({ email: `new${nth}@example.com` }), "192.0.2.1", null)
    ),
  "verification that is sent again": ({ email }) =>
    Effect.flatMap(Tenants, (tenants) => tenants.resendVerification(email)),
  "failover URL": ({ caller }) =>
    Effect.flatMap(Tenants, (tenants) => tenants.setFailoverUrl(caller, "https://failover.example/", null)),
  "key creation": ({ caller }) => Effect.flatMap(ApiKeys, (keys) => keys.create(caller, key, null)),
  "key revocation": ({ caller, spareKey }) => Effect.flatMap(ApiKeys, (keys) => keys.revoke(caller, spareKey, null)),
  "trunk creation": ({ caller }) =>
    Effect.flatMap(Trunks, (connections) => connections.addSipTrunk({ ...trunk, tenantId: caller.tenantId })),
  "number order": ({ caller, number }) =>
    Effect.flatMap(Numbers, (numbers) =>
      numbers.order(
        caller,
        { phoneNumbers: [number], countryCode: "US", numberType: "local", routeId: null, customerReference: null },
        null
      )
    ),
  rates: ({ nth }) =>
    Effect.flatMap(Billing, (billing) =>
      billing.setRates([{ direction: "outbound", prefix: "", microUsdPerMinute: 10_000 + nth }])
    ),
  "credit of the operator": ({ caller }) =>
    Effect.flatMap(Billing, (billing) => billing.adjust(caller.tenantId, 100, "a gift")),
  "credit limit": ({ caller }) => Effect.flatMap(Billing, (billing) => billing.setCreditLimit(caller.tenantId, 5_000)),
  quota: ({ caller }) =>
    Effect.flatMap(Accounts, (accounts) => accounts.setQuota(caller.tenantId, { allowCallerIdForwarding: true }, by)),
  "dialing rule": ({ caller }) =>
    Effect.flatMap(DialingPermissions, (rules) =>
      rules.add({ tenantId: caller.tenantId, kind: "country_allow", value: "DE" })
    ),
  target: ({ nth }) => Effect.flatMap(Targets, (targets) => targets.put("deny", `host${nth}.example`, null)),
  ban: ({ nth }) =>
    Effect.flatMap(Bans, (bans) => bans.add({ network: `198.51.100.${nth}`, reason: "loud", forSecs: null })),
  "subscription creation": ({ caller }) => Effect.flatMap(Webhooks, (hooks) => hooks.create(caller, hook("b"), null)),
  "subscription change": ({ caller, subscription }) =>
    Effect.flatMap(Webhooks, (hooks) => hooks.update(caller, subscription, { description: "changed" }, null)),
  "subscription that is disabled": ({ subscription }) =>
    Effect.flatMap(Webhooks, (hooks) =>
      hooks.disable(subscription, { actor: { type: "system", id: null, name: null }, ip: null }, "it fails")
    ),
  "subscription removal": ({ caller, subscription }) =>
    Effect.flatMap(Webhooks, (hooks) => hooks.remove(caller, subscription, null)),
  receipt: ({ nth }) =>
    Effect.flatMap(Idempotency, (receipts) => receipts.remember(slotOf(nth), { status: 404, body: "{}" })),
  job: ({ nth }) => Effect.flatMap(Jobs, (jobs) => jobs.enqueue({ kind: "doors", key: String(nth), tenantId: null })),
  "vault rotation": () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      yield* SealedRows.forEachPage((page) => {
        const [row] = page.rows
        return row === undefined
          ? Effect.void
          : SealedRows.replace(page, [{ id: row.id, old: row.sealed, sealed: vault.seal(vault.open(row.sealed)) }])
      })
    }),
  closing: ({ caller }) => Effect.flatMap(Accounts, (accounts) => accounts.close(caller.tenantId, by))
}

/** Everything in the database except the journal's own rows, as one text for each table. */
export const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND NOT relispartition AND relname NOT IN ('journal_owner', 'transaction_witness', 'write_probe') ORDER BY relname`
  const sums = tables.map(
    ({ name }) => `SELECT '${name}' AS name, md5(string_agg(t::text, '|' ORDER BY t::text)) AS sum FROM "${name}" t`
  )
  const rows = yield* sql.unsafe<{ readonly name: string; readonly sum: string | null }>(sums.join(" UNION ALL "))
  return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]))
}).pipe(Effect.orDie)
