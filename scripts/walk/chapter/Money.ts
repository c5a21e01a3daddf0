import { at, listAt, textAt } from "../../demo/Json.ts"
import type { Walk } from "../Walk.ts"
import type { Tenants } from "./Tenants.ts"

const day = (offset: number) => `${new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`

/** Cards, top-ups, automatic recharge and plans, before calls are charged; gives a card. */
export const walk = async ({ operator }: Walk, { main, other, poor }: Tenants): Promise<string> => {
  for (const kind of ["recording", "conference", "machine_detection", "lookup", "transcription"])
    await operator("prices", "set", kind, "20000")
  const methods = "/v1/billing/payment-methods"
  const card = (name: string, isDefault: boolean) =>
    `POST ${methods} {"processor_payment_method_id":"${name}","set_default":${isDefault}}`
  await main.run(`
    GET ${methods}
    POST /v1/billing/topup {"amount_cents":5000}
    POST ${methods}/setup
    POST ${methods}/setup {"unknown":1}
    ${card("pm_card_visa", true)}
    ${card("pm_card_mastercard", false)}
    ${card("pm_card_chargeDeclined", true)}
    ${card("pm_card_nothing", true)}
    ${card("card", true)}
    ${card("pm_card_chargeCustomerFail", false)}
    ${card("pm_card_authenticationRequired", false)}`)
  const cards = listAt((await main.get(methods)).json, "results")
  const [asks, fails, mastercard = "", visa] = cards.map((row) => textAt(row, "id"))
  await main.gets(methods, "?page_size=2 ?page_size=2&page=2")
  const unknown = `svc_pm_${"0".repeat(32)}`
  await main.run(`
    PATCH ${methods}/${mastercard} {"is_default":true}
    PATCH ${methods}/${mastercard} {"is_default":false}
    PATCH ${methods}/${mastercard} {}`)
  await other.run(`PATCH ${methods}/${visa} {"is_default":true}`)
  /** Waits for its ledger entry, whether the answer has it already or not. */
  const topUp = async (amount: number, by: string | undefined) => {
    const body = { amount_cents: amount, payment_method_id: by }
    await main.ask("POST", "/v1/billing/topup", body, { "idempotency-key": `topup ${amount}` })
    await main.until(
      "/v1/billing/ledger?type=topup&page_size=1",
      (list) => at(list, "results", 0, "amount_cents") === amount
    )
  }
  for (const [amount, by] of [
    [5000, visa],
    [2000, mastercard],
    [2000, mastercard]
  ] as const)
    await topUp(amount, by)
  const recharge = `"auto_recharge_threshold_cents":1,"auto_recharge_amount_cents"`
  await main.run(`
    POST /v1/billing/topup {"amount_cents":999}
    POST /v1/billing/topup {"amount_cents":500001}
    POST /v1/billing/topup {"amount_cents":3000,"payment_method_id":"${fails}"}
    POST /v1/billing/topup {"amount_cents":4000,"payment_method_id":"${asks}"}
    POST /v1/billing/topup {"amount_cents":1000,"payment_method_id":"${unknown}"}
    GET /v1/billing/auto-recharge
    PUT /v1/billing/auto-recharge {"enabled":true}
    PUT /v1/billing/auto-recharge {"enabled":true,${recharge}:2000}
    PUT /v1/billing/auto-recharge {"enabled":true,${recharge}:2000,"payment_method_id":"${visa}"}
    PUT /v1/billing/auto-recharge {"enabled":true,${recharge}:5}
    PUT /v1/billing/auto-recharge {"enabled":false}
    GET /v1/billing/auto-recharge
    DELETE ${methods}/${visa}
    DELETE ${methods}/${visa}
    DELETE ${methods}/${unknown}`)
  await other.run(`POST /v1/billing/topup {"amount_cents":5000}`)

  await operator(
    "plan",
    "set",
    "small",
    "--name",
    "Small",
    "--fee",
    "1000",
    "--include",
    "transcription_minutes=50",
    "--public"
  )
  await operator("plan", "set", "large", "--name", "Large", "--fee", "5000", "--concurrent-calls", "200", "--public")
  await operator("plan", "set", "secret", "--name", "Secret", "--fee", "1")
  await main.gets("/v1/billing/", "plans plans?page_size=1&page=2 subscription")
  for (const plan_slug of ["secret", "nothing", "small", "small", "large", null, "small"])
    await main.ask("PUT", "/v1/billing/subscription", { plan_slug })
  await poor.ask("PUT", "/v1/billing/subscription", { plan_slug: "large" })
  await main.gets("/v1/", "billing/subscription quota")
  await main.gets(
    "/v1/billing/ledger",
    `. ?type=topup ?type=adjustment&page_size=1 ?page_size=2&page=2 ?type=what ?created_after=${day(-1)}&type=plan_fee
    ?created_before=2001-01-01T00:00:00Z ?created_after=yesterday .csv .csv?type=topup .csv?page=1`
  )
  for (const tenant of [main, other, poor])
    await tenant.gets("/v1/billing/", "proof balance invoices ledger?page_size=5")
  await main.gets(
    "/v1/billing/invoices",
    `?status=paid ?status=what ?period_start_after=2001-01-01T00:00:00Z ?page=2 /svc_inv_${"0".repeat(32)}`
  )
  await main.run(`
    POST /v1/billing/webhooks/stripe {"id":"evt_1","type":"payment_intent.succeeded"}
    stripe-signature=t=1,v1=00 POST /v1/billing/webhooks/stripe {"id":"evt_1","type":"payment_intent.succeeded"}`)
  return mastercard
}

/** Usage, balance and audit, when no call lives any more. */
export const account = async ({ main, other, narrow }: Tenants, callId: string): Promise<void> => {
  const period = `?start=${day(-1)}&end=${day(1)}`
  const groups = ["day", "month", "customer_reference", "number", "destination", "what"]
  await main.gets("/v1/usage", `. ${period} ${groups.map((by) => `${period}&group_by=${by}`).join(" ")}`)
  await main.gets("/v1/usage", `?start=${day(1)}&end=${day(0)} ?start=2001-01-01T00:00:00Z&end=2002-01-01T00:00:00Z`)
  for (const caller of [other, narrow]) await caller.get("/v1/usage")
  await main.gets("/v1/", "billing/balance quota")
  await main.gets(
    "/v1/audit",
    `?resource_id=${callId} ?resource_type=api_key&page_size=3 ?resource_type=phone_number ?action=member.role_changed
    ?action=api_key.created ?action=api_key.created&page=2&page_size=2 ?resource_type=what
    ?created_after=2999-01-01T00:00:00Z ?created_before=2001-01-01T00:00:00Z ?actor_id=walk
    ?resource_type=porting_order&page_size=2 ?page=999`
  )
}
