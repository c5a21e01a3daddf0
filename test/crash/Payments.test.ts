import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { setTimeout as delay } from "node:timers/promises"
import * as Netem from "../support/network/Netem.ts"
import * as TcpProxy from "../support/network/TcpProxy.ts"
import * as StripeDouble from "../ports/payment/StripeDouble.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as CardStage from "./support/load/CardStage.ts"
import * as Service from "./support/peer/Service.ts"

/**
 * Cards on the running service, in a process of its own, with a processor that loses answers or gives wrong ones, whose
 * events are lost, repeated and early, and whose key is refused or replaced; and the same while the service is killed.
 * This is the short form; `CRASH_ROUNDS` makes it longer.
 */
const seed = Number(process.env["CRASH_SEED"] ?? 1)
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 1)
const random = Netem.random(seed)

type Tenant = CardStage.Tenant
const { until } = CardStage

const scope = Scope.makeUnsafe()
let stage: CardStage.CardStage
/** The network between the service and its database. */
let network: TcpProxy.TcpProxy
let service: Service.Service
let {
  ask,
  balanceOf,
  database,
  double,
  event,
  hasMoved,
  intentOf,
  isCredited,
  ledger,
  operator,
  options,
  tenant,
  topUp
} = {} as CardStage.CardStage

beforeAll(async () => {
  const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  const url = new URL(Redacted.value(await scoped(TestDatabase.migrated)))
  const lookUrl = url.href
  network = await scoped(TcpProxy.make({ host: url.hostname, port: Number(url.port) }))
  url.port = String(network.port)
  stage = await CardStage.make({ databaseUrl: url.href, lookUrl })
  ;({
    ask,
    balanceOf,
    database,
    double,
    event,
    hasMoved,
    intentOf,
    isCredited,
    ledger,
    operator,
    options,
    tenant,
    topUp
  } = stage)
  service = Service.start(options)
  await service.ready
}, 300_000)

afterAll(async () => {
  await service.kill("SIGTERM")
  await stage.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** After every round: ledger, balances and processor agree, and no card was charged twice, or for a 402. */
const agrees = async (): Promise<void> => {
  expect(await stage.wrongs()).toEqual([])
  const { cards, wrong } = await ledger()
  expect([cards, wrong]).toEqual([double.net, 0])
  expect(await operator("payment/reconcile", {})).toMatchObject({ difference_cents: 0, exceptions: [] })
}

describe("cards on the running service, with Stripe's double", () => {
  it("a late success is credited by its event, once, however often that comes", async () => {
    const payer = await tenant("pm_card_late")
    const { body, status } = await topUp(payer, 1_000, "late")
    expect([status, body.status, body.client_secret]).toEqual([201, "pending", null])
    const [intent] = intentOf(body.id)
    double.confirm(intent?.id ?? "")
    const payload = double.events.at(-1) ?? ""
    for (let n = 0; n < 3; n++) expect(await event(payload)).toMatchObject({ status: 200, body: { received: true } })
    await until(isCredited(body.id))
    expect(await event(payload)).toMatchObject({ status: 200 })
    expect(await balanceOf(payer)).toBe(1_500)
    const { results } = await operator("payment/list", { tenant: payer.id })
    expect(results).toEqual([
      expect.objectContaining({ id: body.id, kind: "topup", status: "succeeded", intent_id: intent?.id })
    ])
  }, 300_000)

  it("a payment that its holder confirms is credited, and its answer held the secret", async () => {
    const payer = await tenant("pm_card_authenticationRequired")
    const { body } = await topUp(payer, 1_000, "confirmed")
    const [intent] = intentOf(body.id)
    expect(body).toMatchObject({ status: "pending", client_secret: intent?.client_secret })
    double.confirm(intent?.id ?? "")
    await event(double.events.at(-1) ?? "")
    await until(isCredited(body.id))
  }, 300_000)

  it("forged, altered, old and future events change nothing", async () => {
    const payer = await tenant("pm_card_late")
    const { body } = await topUp(payer, 1_000, "forged")
    const [intent] = intentOf(body.id)
    const now = double.now()
    const payload = JSON.stringify({
      id: "evt_forged",
      object: "event",
      type: "payment_intent.succeeded",
      data: { object: { ...intent, status: "succeeded", amount_received: 1_000 } }
    })
    const signed = double.signed(payload)
    for (const [text, headers] of [
      [payload, {}],
      [payload, { "stripe-signature": `t=${now},v1=${"0".repeat(64)}` }],
      [payload, double.signed(payload, now, "whsec_other")],
      [payload, double.signed(payload, now - 3_600)],
      [payload, double.signed(payload, now + 3_600)],
      [payload.replace("1000", "9000"), signed],
      [`${payload} `, signed],
      ["[]", double.signed("[]")]
    ] as const) {
      const answer = await event(text, { "content-type": "application/json", ...headers })
      expect([answer.status, answer.body.error?.code]).toEqual([400, "invalid_request"])
    }
    // The event is well signed and false, so its object is fetched again.
    expect((await event(payload, signed)).status).toBe(200)
    await delay(3_000)
    expect(await balanceOf(payer)).toBe(500)
    expect(await database.query(`SELECT FROM processor_event WHERE id = 'evt_forged'`)).toHaveLength(1)
  }, 300_000)

  it("the operator refunds once, whatever is lost; a refund at the processor and a dispute are booked", async () => {
    const payer = await tenant("pm_card_visa")
    const { body } = await topUp(payer, 2_000, "refunded")
    const [intent] = intentOf(body.id)
    double.faults.push("lose_answer")
    await operator("payment/refund", { attempt: body.id, cents: 500, reason: "asked for" })
    await until(async () => (await balanceOf(payer)) === 2_000)
    expect(double.refunds.filter((refund) => refund.payment_intent === intent?.id)).toHaveLength(1)
    const tooMuch = await operator("payment/refund", { attempt: body.id, cents: 1_501 })
    expect(tooMuch).toMatchObject({ error: { code: "invalid_request" } })
    double.refund(intent?.id ?? "", 300)
    await event(double.events.at(-1) ?? "")
    await until(async () => (await balanceOf(payer)) === 1_700)

    const other = await tenant("pm_card_visa")
    const { body: paid } = await topUp(other, 3_000, "disputed")
    const dispute = double.dispute(intentOf(paid.id)[0]?.id ?? "")
    const opened = double.events.at(-1) ?? ""
    await event(opened)
    await event(opened)
    await until(hasMoved(`dispute:${dispute.id}:opened`))
    expect(await balanceOf(other)).toBe(500)
    double.win(dispute)
    await event(double.events.at(-1) ?? "")
    await until(hasMoved(`dispute:${dispute.id}:won`))
    // The event that opened it comes once more, late.
    await event(opened)
    await delay(1_500)
    expect(await balanceOf(other)).toBe(3_500)
    expect((await ledger()).wrong).toBe(0)
  }, 300_000)

  it("what nobody told of is booked by the reconciliation, and nothing differs then", async () => {
    const payer = await tenant("pm_card_visa")
    const { body } = await topUp(payer, 2_500, "untold")
    const intentId = intentOf(body.id)[0]?.id ?? ""
    double.refund(intentId, 700)
    double.dispute(intentOf((await topUp(payer, 1_100, "untold dispute")).body.id)[0]?.id ?? "")
    const result = await operator("payment/reconcile", { tenant: payer.id })
    expect(result).toMatchObject({
      charged_cents: 3_600,
      refunded_cents: 1_800,
      difference_cents: 0,
      exceptions: []
    })
    expect(await balanceOf(payer)).toBe(2_300)
    // Payments that are under way meanwhile make no difference.
    const [busy] = await Promise.all([
      operator("payment/reconcile", {}),
      ...Array.from({ length: 20 }, (_, n) => topUp(payer, 1_000, `meanwhile ${n}`))
    ])
    expect(busy).toMatchObject({ difference_cents: 0, exceptions: [] })
    const all = await operator("payment/reconcile", {})
    expect(all).toMatchObject({ difference_cents: 0, exceptions: [] })
    expect((await ledger()).cards).toBe(double.net)
  }, 300_000)

  const fewer = Math.ceil(rounds / 2)

  it(`${fewer} times killed while tenants are closed, what is left goes back to each card once`, async () => {
    for (let round = 0; round < fewer; round++) {
      const leavers = await Promise.all(Array.from({ length: 3 }, () => tenant("pm_card_visa")))
      for (const leaver of leavers) {
        for (const cents of [1_000, 2_000, 1_500]) await topUp(leaver, cents, `leaves ${cents}`)
        await operator("tenant/credit", { tenant: leaver.id, cents: -700, reason: "paid out" })
      }
      const refundsOf = ({ id }: Tenant) =>
        double.refunds.filter(({ payment_intent }) => double.intents.get(payment_intent)?.metadata["tenant"] === id)
      stage.misbehave(random, 3 * leavers.length)
      // Two operators close it and ask for its payout.
      const close = (leaver: Tenant) => operator("tenant/close", { tenant: leaver.id, refund: true })
      const closings = Promise.allSettled(leavers.flatMap((leaver) => [close(leaver), close(leaver)]))
      await delay(random() * 600)
      await service.kill("SIGKILL")
      await closings
      service = Service.start(options)
      await service.ready
      const events = double.events.splice(0).filter(() => random() < 0.6)
      const repeated = leavers.flatMap((leaver) => [close(leaver), operator("tenant/payout", { tenant: leaver.id })])
      for (const payload of events) await event(payload)
      await Promise.allSettled(repeated)
      for (const leaver of leavers) {
        await close(leaver)
        await until(async () => {
          const shown = await operator("tenant/show", { tenant: leaver.id })
          return (shown["payout"] as { readonly status: string } | null)?.status === "finished"
        }, 120_000)
        // 4,500 by card and 500 of trial credit, less 700 in cash: the trial credit stays.
        expect(await balanceOf(leaver)).toBe(500)
        const refunds = refundsOf(leaver)
        expect(refunds.reduce((sum, { amount }) => sum + amount, 0)).toBe(3_800)
        expect(refunds.map(({ amount }) => amount).toSorted((one, other) => one - other)).toEqual([300, 1_500, 2_000])
      }
    }
    stage.behave()
    await agrees()
  }, 600_000)

  it("nothing is charged twice or lost while the database goes away, the processor's key is refused, and the clock is a day ahead and set back", async () => {
    const payers = await Promise.all(Array.from({ length: 4 }, () => tenant("pm_card_visa")))
    for (const payer of payers)
      await ask("PUT", "/v1/billing/auto-recharge", {
        key: payer.key,
        body: { enabled: true, auto_recharge_threshold_cents: 200, auto_recharge_amount_cents: 2_000 }
      })
    const dayMs = 24 * 3_600_000
    /** The key is not accepted for a while. */
    const denied = async (): Promise<void> => {
      double.answersInstead = () =>
        StripeDouble.failed(401, { type: "invalid_request_error", message: "Invalid API Key" })
      await delay(1_500)
      double.answersInstead = () => null
    }
    const away = async (): Promise<void> => {
      await delay(random() * 300)
      network.cut()
      await delay(2_500)
      network.restore()
    }
    const ahead = async (): Promise<void> => {
      service.setWallClock(dayMs)
      await delay(1_500)
      service.setWallClock(0)
    }
    let round = 0
    for (const trouble of [away, ahead, denied, ahead]) {
      round++
      const requests = payers.flatMap((payer) =>
        Array.from({ length: 4 }, (_, n) => ({ payer, cents: 1_100 + n, key: `trouble ${round} ${n}` }))
      )
      stage.misbehave(random, requests.length)
      const first = Promise.allSettled(requests.map(({ cents, key, payer }) => topUp(payer, cents, key)))
      const told = double.events.splice(0)
      const webhooks = Promise.allSettled(told.map((payload) => event(payload)))
      await trouble()
      await Promise.all([first, webhooks])
      stage.behave()
      await Promise.all(
        requests.map(({ cents, key, payer }) =>
          until(async () => (await topUp(payer, cents, key)).status === 201, 90_000)
        )
      )
      await until(async () => {
        await stage.hurry()
        const rows = await database.query(`SELECT FROM payment_attempt WHERE status = 'pending' AND tenant_id IN (
          ${payers.map(({ id }) => `'${id}'`).join()})`)
        return rows.length === 0
      }, 120_000)
      const sum = requests.slice(0, 4).reduce((cents, of) => cents + of.cents, 0)
      for (const payer of payers) expect([round, await balanceOf(payer)]).toEqual([round, 500 + round * sum])
    }
    // Their money is spent while the database is away: each is recharged once.
    const spent = payers.map(async (payer) => {
      const cents = 150 - (await balanceOf(payer))
      await operator("tenant/credit", { tenant: payer.id, cents, reason: "spent" })
    })
    await Promise.all(spent)
    await away()
    await until(async () => {
      await database.query(`UPDATE job SET due_at = now() WHERE kind = 'funding.auto_recharge' AND leased_by IS NULL`)
      return (await Promise.all(payers.map(balanceOf))).every((cents) => cents === 2_150)
    }, 90_000)
    await agrees()
  }, 600_000)

  it(`${fewer} times killed under auto-recharge, one is pending at a time, and none is charged twice`, async () => {
    const payers = await Promise.all(Array.from({ length: 4 }, () => tenant("pm_card_visa")))
    const recharges = async ({ id }: Tenant) =>
      database.query<{ id: string; status: string }>(
        `SELECT id, status FROM payment_attempt WHERE tenant_id = '${id}' AND kind = 'auto_recharge' ORDER BY ordinal`
      )
    for (const payer of payers) {
      const set = await ask("PUT", "/v1/billing/auto-recharge", {
        key: payer.key,
        body: { enabled: true, auto_recharge_threshold_cents: 200, auto_recharge_amount_cents: 2_000 }
      })
      expect(set.status).toBe(200)
    }
    let due = 0
    // Three recharges a day at most: a fourth does not begin.
    for (let round = 0; round < Math.min(fewer, 4); round++) {
      stage.misbehave(random, payers.length)
      for (const payer of payers) {
        const cents = 150 - (await balanceOf(payer))
        await operator("tenant/credit", { tenant: payer.id, cents, reason: "spent" })
      }
      if (due < 3) due++
      await delay(random() * 500)
      await service.kill("SIGKILL")
      service = Service.start(options)
      await service.ready
      stage.behave()
      for (const payload of double.events.splice(0)) if (random() < 0.6) await event(payload)
      await until(async () => {
        // The sweep finds what no event reported, a minute later; the job need not be waited for.
        await database.query(`UPDATE job SET due_at = now() WHERE kind = 'funding.auto_recharge' AND leased_by IS NULL`)
        const all = await Promise.all(payers.map(recharges))
        return all.every((of) => of.length === due && of.every(({ status }) => status === "succeeded"))
      }, 120_000)
      for (const payer of payers) {
        for (const { id } of await recharges(payer))
          expect(intentOf(id).filter(({ status }) => status === "succeeded")).toHaveLength(1)
        expect(await balanceOf(payer)).toBe(round < 3 ? 2_150 : 150)
      }
    }
    await agrees()
  }, 600_000)

  it(`${rounds} times killed under top-ups, no attempt is charged twice, and the ledger is what the processor has`, async () => {
    const payers = await Promise.all(Array.from({ length: 4 }, () => tenant("pm_card_visa")))
    for (let round = 0; round < rounds; round++) {
      const requests = payers.flatMap((payer) =>
        Array.from({ length: 6 }, (_, n) => ({ payer, cents: 1_000 + n, key: `round ${round} ${n}` }))
      )
      stage.misbehave(random, requests.length)
      const first = Promise.allSettled(requests.map(({ cents, key, payer }) => topUp(payer, cents, key)))
      await delay(100 + random() * 900)
      await service.kill("SIGKILL")
      await first
      const charged = double.charges.length
      // The operator sets the key of another account, which has none of the customers, and then the right one.
      const rightAccount = double.otherAccount()
      const made = double.asked.length
      service = Service.start({ ...options, settings: { ...options.settings, STRIPE_SECRET_KEY: "sk_test_2" } })
      await service.ready
      stage.behave()
      if ((await stage.pending()) > 0)
        await until(async () => {
          await stage.hurry()
          return double.asked.slice(made).some((asked) => asked.startsWith("GET /v1/"))
        })
      expect([double.charges.length, await stage.wrongs()]).toEqual([charged, []])
      await service.kill("SIGTERM")
      rightAccount()
      service = Service.start(options)
      await service.ready
      // The clients do not know the outcome of their requests and repeat them, some of them twice at once.
      await Promise.all(
        requests.map(async ({ cents, key, payer }) => {
          await until(async () => {
            const [one] = await Promise.all([
              topUp(payer, cents, key),
              ...(random() < 0.3 ? [topUp(payer, cents, key)] : [])
            ])
            return one.status === 201
          })
        })
      )
      for (const payload of double.events.splice(0))
        if (random() < 0.6) for (let n = 0; n < (random() < 0.3 ? 2 : 1); n++) await event(payload)
      await until(async () => {
        await stage.hurry()
        return (
          (
            await database.query(`SELECT FROM payment_attempt WHERE status = 'pending' AND card_id IN (
          SELECT processor_id FROM payment_method WHERE tenant_id IN (${payers.map(({ id }) => `'${id}'`).join()}))`)
          ).length === 0
        )
      }, 120_000)
      await agrees()
      const expected = 500 + (round + 1) * requests.slice(0, 6).reduce((sum, { cents }) => sum + cents, 0)
      for (const payer of payers) expect(await balanceOf(payer)).toBe(expected)
    }
    // A payment that the ledger has and the processor has not is named, and so is one that only the processor has.
    await database.query(`UPDATE payment_attempt SET intent_id = 'pi_unknown' WHERE id = (
      SELECT id FROM payment_attempt WHERE status = 'succeeded' AND amount_cents = 1000 AND tenant_id = '${payers[0]?.id}' LIMIT 1)`)
    const differing = await operator("payment/reconcile", {})
    expect(differing).toMatchObject({ difference_cents: 0 })
    expect(differing["exceptions"]).toEqual([
      expect.objectContaining({ tenant_id: payers[0]?.id, intent_id: "pi_unknown", ledger_cents: 1_000 }),
      expect.objectContaining({ tenant_id: payers[0]?.id, processor_cents: 1_000, ledger_cents: 0 })
    ])
    const { cards, wrong } = await ledger()
    expect([cards, wrong]).toEqual([double.net, 0])
  }, 600_000)
})
