import { expect, it as test, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as Id from "../../../../src/domain/Id.ts"
import { Api } from "../../../../src/edge/http/Api.ts"
import * as Features from "../../../support/service/Features.ts"
import * as PortingSample from "../../../support/fake/PortingSample.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

/**
 * Every writing endpoint leaves a line in the audit log with its actor, or is listed here with the reason why not. A
 * new endpoint is missing in both tables, so this test fails.
 */
class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("audit walk"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** Whole families, with their reasons. */
const families: ReadonlyArray<readonly [names: RegExp, why: string]> = [
  [
    /^POST \/v1\/calls\/:[a-z]+\/actions\/(?!hangup$)/i,
    "what a call is told is an event of the call; its status, recordings and transcriptions have lines of their own"
  ],
  [
    /^[A-Z]+ \/v1\/conferences/,
    "a room and its participants have lines for each change, test/edge/http/conference/Audit; the rest are its events"
  ]
]
const withoutLine: Readonly<Record<string, string>> = {
  "POST /v1/auth/verify-email/resend": "a letter, which changes nothing",
  "POST /v1/auth/password-reset": "a letter, which changes nothing",
  "POST /v1/auth/password-reset/confirm": "its line is tested with its letter, test/edge/http/auth",
  "POST /v1/auth/verify-email": "its line is tested with the letter of a reset, test/edge/http/auth",
  "POST /v1/team/invitations/accept": "its line is tested with its letter, test/edge/http/team",
  "POST /v1/billing/payment-methods/setup": "nothing is kept of it",
  "POST /v1/billing/webhooks/stripe": "the processor tells; what follows has its lines",
  "POST /v1/porting/check": "it only asks",
  "POST /v1/webhook-deliveries/:id/redeliver": "needs a delivery that has failed, test/webhook"
}
const isWithoutLine = (name: string) => withoutLine[name] !== undefined || families.some(([names]) => names.test(name))

interface Step {
  /** The endpoint's declared name. */
  readonly name: string
  /** The earlier step whose result replaces `:id`. */
  readonly of?: string
  readonly body?: unknown
  readonly action: string
  /** Absent for the key. */
  readonly actor?: string
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")
const login = { email: "", password: "correct horse battery" }
const document = { document_type: "loa", filename: "loa.pdf", content_base64: base64(PortingSample.pdf) }
const bill = { document_type: "invoice", filename: "bill.png", content_base64: base64(PortingSample.png) }
const order = { phone_numbers: ["+12155552001"], end_user: PortingSample.endUser }
const address = { name: "Acme", street_address: "1600 Pennsylvania Avenue NW", locality: "Washington" }

const steps: ReadonlyArray<Step> = [
  {
    name: "PATCH /v1/account",
    body: { webhook_failover_url: "https://hooks.example.com/late" },
    action: "tenant.updated"
  },
  { name: "POST /v1/auth/login", body: login, action: "user.logged_in", actor: "user" },
  { name: "POST /v1/api-keys/", body: { name: "made", scopes: ["calls:read"] }, action: "api_key.created" },
  { name: "DELETE /v1/api-keys/:id/", of: "POST /v1/api-keys/", action: "api_key.revoked" },
  {
    name: "POST /v1/team/invitations",
    body: { email: "in@example.com", role: "viewer" },
    action: "invitation.created"
  },
  { name: "DELETE /v1/team/invitations/:id", of: "POST /v1/team/invitations", action: "invitation.revoked" },
  { name: "PATCH /v1/team/members/:id", of: "member", body: { role: "viewer" }, action: "user.updated" },
  { name: "DELETE /v1/team/members/:id", of: "member", action: "user.removed" },
  { name: "PUT /v1/billing/subscription", body: { plan_slug: "walk" }, action: "plan_subscription.began" },
  {
    name: "POST /v1/billing/payment-methods",
    body: { processor_payment_method_id: "pm_card_visa" },
    action: "payment_method.created"
  },
  {
    name: "POST /v1/billing/payment-methods",
    body: { processor_payment_method_id: "pm_card_mastercard", set_default: false },
    action: "payment_method.created"
  },
  {
    name: "PATCH /v1/billing/payment-methods/:id",
    of: "POST /v1/billing/payment-methods",
    body: { is_default: true },
    action: "payment_method.updated"
  },
  { name: "POST /v1/billing/topup", body: { amount_cents: 5_000 }, action: "balance.topped_up" },
  {
    name: "PUT /v1/billing/auto-recharge",
    body: { enabled: false, auto_recharge_threshold_cents: 100, auto_recharge_amount_cents: 2_000 },
    action: "auto_recharge.updated"
  },
  {
    name: "DELETE /v1/billing/payment-methods/:id",
    of: "POST /v1/billing/payment-methods",
    action: "payment_method.deleted"
  },
  {
    name: "POST /v1/numbers/order",
    body: { phone_numbers: ["+12025550190"], country_code: "US", number_type: "local" },
    action: "number_order.created"
  },
  {
    name: "POST /v1/numbers/emergency-addresses",
    body: { ...address, postal_code: "20500", country_code: "us" },
    action: "emergency_address.created"
  },
  {
    name: "DELETE /v1/numbers/emergency-addresses/:id",
    of: "POST /v1/numbers/emergency-addresses",
    action: "emergency_address.deleted"
  },
  { name: "PATCH /v1/numbers/:id", of: "number", body: { name: "front desk" }, action: "number.updated" },
  { name: "POST /v1/calls", body: { from: "+12025550190", to: "+12025550100" }, action: "call.created" },
  { name: "POST /v1/calls/:id/actions/hangup", of: "POST /v1/calls", body: {}, action: "call.status_changed" },
  { name: "DELETE /v1/recordings/:id", of: "recording", action: "recording.deleted" },
  { name: "DELETE /v1/numbers/:id", of: "number", action: "number.released" },
  { name: "POST /v1/porting/orders", body: order, action: "porting_order.created" },
  {
    name: "PATCH /v1/porting/orders/:id",
    of: "POST /v1/porting/orders",
    body: { customer_reference: "walk" },
    action: "porting_order.updated"
  },
  { name: "DELETE /v1/porting/orders/:id", of: "POST /v1/porting/orders", action: "porting_order.deleted" },
  { name: "POST /v1/porting/orders", body: order, action: "porting_order.created" },
  {
    name: "POST /v1/porting/orders/:id/documents",
    of: "POST /v1/porting/orders",
    body: document,
    action: "porting_order.document_added"
  },
  {
    name: "POST /v1/porting/orders/:id/documents",
    of: "POST /v1/porting/orders",
    body: bill,
    action: "porting_order.document_added"
  },
  { name: "POST /v1/porting/orders/:id/submit", of: "POST /v1/porting/orders", action: "porting_order.status_changed" },
  { name: "POST /v1/porting/orders/:id/cancel", of: "POST /v1/porting/orders", action: "porting_order.status_changed" },
  {
    name: "POST /v1/webhook-subscriptions",
    body: { target_url: "https://hooks.example.com/", event_types: ["*"] },
    action: "webhook_subscription.created"
  },
  {
    name: "PATCH /v1/webhook-subscriptions/:id",
    of: "POST /v1/webhook-subscriptions",
    body: { description: "walked" },
    action: "webhook_subscription.updated"
  },
  {
    name: "POST /v1/webhook-subscriptions/:id/redeliver",
    of: "POST /v1/webhook-subscriptions",
    body: { created_after: new Date(Date.now() - 3_600_000).toISOString() },
    action: "webhook_subscription.redelivered"
  },
  {
    name: "POST /v1/webhook-subscriptions/:id/test",
    of: "POST /v1/webhook-subscriptions",
    body: {},
    action: "webhook_subscription.tested"
  },
  {
    name: "DELETE /v1/webhook-subscriptions/:id",
    of: "POST /v1/webhook-subscriptions",
    action: "webhook_subscription.deleted"
  }
]

test("each endpoint that writes is walked, or says why it leaves no line", () => {
  const names: Array<string> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => void names.push(`${endpoint.method} ${endpoint.path}`)
  })
  const writes = names.filter((name) => !/^(GET|HEAD) /.test(name) && name !== "POST /v1/signup")
  const walked = new Set(steps.map(({ name }) => name))
  expect(writes.filter((name) => !walked.has(name) && !isWithoutLine(name))).toEqual([])
  expect([...walked, ...Object.keys(withoutLine)].filter((name) => !writes.includes(name))).toEqual([])
})

layer(running, { timeout: "60 seconds", excludeTestServices: true })(
  "Whoever writes (guide/tenants.md#audit)",
  (it) => {
    it.effect("leaves a line with who it was, what it did, and to what", () =>
      Effect.gen(function* () {
        const { ask, context } = yield* Running
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* Effect.provide(Features.newTenant(), context)
        const send = (method: string, path: string, body?: unknown) => ask(tenant.plaintext, method, path, body)
        yield* sql`INSERT INTO plan (slug, name, is_public, monthly_fee_cents, included, created_at)
        VALUES ('walk', 'Walk', true, 0, '{}', now())`
        const member = Id.deriveUuid("walk", "member")
        yield* sql`
          INSERT INTO member
            (id, tenant_id, email, email_verified_at, password_hash, first_name, last_name, role, status, created_at)
          VALUES (${member}, ${tenant.id}, 'walk@example.com', now(), 'none', 'Grace', 'Hopper', 'developer', 'active',
            now())`
        const recording = Id.derive("walk", "rec")
        yield* sql`INSERT INTO recording (id, tenant_id, call_id, channels, format, status, duration_seconds, size_bytes, created_at)
        VALUES (${recording}, ${tenant.id}, ${Id.derive("walk", "call")}, 'dual', 'wav', 'available', 3, 5, now())`
        const ids = new Map<string, string>([
          ["member", member],
          ["recording", recording]
        ])
        const lines = sql<{
          readonly id: string
          readonly action: string
          readonly actor: string
          readonly who: string | null
          readonly name: string | null
          readonly ip: string | null
        }>`
        SELECT id::text AS id, action, actor_type AS actor, actor_id AS who, actor_name AS name, ip FROM audit WHERE tenant_id = ${tenant.id} ORDER BY ordinal`
        const problems: Array<string> = []
        for (const { action, actor = "api_key", body, name, of } of steps) {
          const before = new Set((yield* lines).map(({ id }) => id))
          const [method = "", path = ""] = name.split(" ")
          const given = body === login ? { ...login, email: tenant.email } : body
          const answer = yield* send(method, path.replace(/:id/, ids.get(of ?? "") ?? ""), given)
          if (answer.status < 200 || answer.status >= 300) {
            problems.push(`${name} answered ${answer.status}: ${answer.text}`)
            continue
          }
          const { id } = (answer.json ?? {}) as { readonly id?: string }
          if (id !== undefined) ids.set(name, id)
          if (name === "POST /v1/numbers/order") {
            // Orders are finished by a job.
            const [number] = yield* sql<{ readonly id: string }>`
            UPDATE phone_number SET status = 'active' WHERE phone_number = '+12025550190' RETURNING id`
            ids.set("number", number?.id ?? "")
          }
          const added = (yield* lines).filter((line) => !before.has(line.id))
          const left = added.filter((line) => line.action === action && line.actor === actor && line.who !== null)
          if (left.length === 0)
            problems.push(`${name} left ${added.map((line) => `${line.action} by ${line.actor}`).join() || "nothing"}`)
          else if (left.some((line) => line.name === null || line.ip === null))
            problems.push(`${name} left ${action} without the name of who it was, or where the request came from`)
        }
        expect(problems).toEqual([])
      })
    )
  }
)
