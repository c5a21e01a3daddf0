import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Netem from "../support/network/Netem.ts"
import * as CardStage from "./support/load/CardStage.ts"
import * as PostgresServer from "./support/peer/PostgresServer.ts"
import * as Service from "./support/peer/Service.ts"

/**
 * Cards on the running service while its database fails it: Postgres is restarted in the middle of everything, and
 * answers to COMMIT are lost. Nothing here waits for a time: events are awaited, and end states are compared.
 */
const seed = Number(process.env["CRASH_SEED"] ?? 1)
const rounds = Math.ceil(Number(process.env["CRASH_ROUNDS"] ?? 1) / 2)
const random = Netem.random(seed)
const { until } = CardStage
const settledWithinMs = 240_000

let folder: string
let postgres: PostgresServer.PostgresServer
let network: PostgresServer.Network
let stage: CardStage.CardStage
let service: Service.Service

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trunkline-payment-outage-"))
  // As root the Postgres in it belongs to another user.
  await chmod(folder, 0o711)
  postgres = await PostgresServer.start(join(folder, "database"))
  network = await postgres.network()
  const { url: lookUrl } = await postgres.network()
  stage = await CardStage.make({ databaseUrl: network.url, lookUrl })
  service = Service.start(stage.options)
  await service.ready
}, 300_000)

afterAll(async () => {
  await service.kill("SIGTERM")
  await stage.close()
  await postgres.close()
  await rm(folder, { recursive: true, force: true })
}, 300_000)

/** Waits until all that is under way has ended. */
const settled = () =>
  until(async () => {
    await stage.hurry()
    return (await stage.pending()) === 0
  }, settledWithinMs)

/** The invariants of the money, whatever happened, once it has settled. */
const balances = async () => {
  expect(await stage.wrongs()).toEqual([])
  const { cards, wrong } = await stage.ledger()
  expect([wrong, cards]).toEqual([0, stage.double.net])
  expect(await stage.operator("payment/reconcile", {})).toMatchObject({ difference_cents: 0, exceptions: [] })
}

/** The client repeats its request until the answer is that it is done. */
const toldDone = (payer: CardStage.Tenant, cents: number, key: string) =>
  until(async () => (await stage.topUp(payer, cents, key)).status === 201, settledWithinMs)

describe(`cards on the running service while its database fails it (seed ${seed})`, () => {
  for (let round = 1; round <= rounds; round++)
    it(`Postgres restarts under top-ups, webhooks, refunds and auto-recharge: all of them happen, and once (${round})`, async () => {
      const { balanceOf, double, event, operator, tenant, topUp } = stage
      const paid = async (payer: CardStage.Tenant, cents: number, key: string) => {
        const { body, status } = await topUp(payer, cents, key)
        expect([status, body.status]).toEqual([201, "succeeded"])
        return body.id ?? ""
      }
      const payers = [await tenant("pm_card_visa"), await tenant("pm_card_visa")]
      const late = await tenant("pm_card_late")
      const refunded = await tenant("pm_card_visa")
      const spenders = [await tenant("pm_card_visa"), await tenant("pm_card_visa")]
      const toRefund = [await paid(refunded, 3_000, "first"), await paid(refunded, 4_000, "second")]
      for (const cents of [1_200, 1_300])
        expect((await topUp(late, cents, `late ${cents}`)).body.status).toBe("pending")
      double.events.length = 0
      for (const { id, metadata } of double.intents.values()) if (metadata["tenant"] === late.id) double.confirm(id)
      const events = double.events.splice(0)
      expect(events).toHaveLength(2)
      for (const { key } of spenders) {
        const body = { enabled: true, auto_recharge_threshold_cents: 200, auto_recharge_amount_cents: 2_000 }
        expect((await stage.ask("PUT", "/v1/billing/auto-recharge", { key, body })).status).toBe(200)
      }

      // All requests are sent at once. When the processor gets one, Postgres stops.
      stage.misbehave(random, 9)
      const heard = new Promise<void>((done) => {
        double.heard = (asked) => {
          if (asked === "POST /v1/payment_intents") done()
        }
      })
      const requests = payers.flatMap((payer) => [1_100, 1_101, 1_102].map((cents) => ({ payer, cents })))
      const keyOf = (cents: number) => `round ${round} ${cents}`
      const under = Promise.allSettled([
        ...requests.map(({ cents, payer }) => topUp(payer, cents, keyOf(cents))),
        ...[...events, ...events].map((payload) => event(payload)),
        ...toRefund.map((attempt) => operator("payment/refund", { attempt, cents: 500, reason: "asked for" })),
        ...spenders.map(({ id }) => operator("tenant/credit", { tenant: id, cents: -350, reason: "spent" }))
      ])
      await heard
      const start = await postgres.stop()
      // It is away as seen from outside too: a request now is answered that nothing happened.
      const away = await topUp(payers[0] ?? late, 9_900, `away ${round}`)
      expect([away.status, away.body.error?.code]).toEqual([503, "service_unavailable"])
      await start()
      await under
      stage.behave()
      double.heard = () => {}

      await Promise.all(requests.map(({ cents, payer }) => toldDone(payer, cents, keyOf(cents))))
      for (const payload of events) await until(async () => (await event(payload)).status === 200)
      // An operator whose command got no answer looks first, and repeats it where there is no effect.
      for (const { id } of spenders)
        await until(async () => {
          const spent = `SELECT FROM ledger WHERE tenant_id = '${id}' AND amount_cents = -350`
          if ((await stage.database.query(spent)).length === 0)
            await operator("tenant/credit", { tenant: id, cents: -350, reason: "spent" })
          return (await stage.database.query(spent)).length === 1
        })
      for (const attempt of toRefund)
        await until(async () => {
          const asked = `SELECT FROM payment_refund WHERE attempt_id = '${attempt}'`
          if ((await stage.database.query(asked)).length === 0)
            await operator("payment/refund", { attempt, cents: 500, reason: "asked for" })
          return (await stage.database.query(asked)).length === 1
        })
      await until(async () => {
        await stage.hurry()
        return (await Promise.all(spenders.map(balanceOf))).every((cents) => cents === 2_150)
      }, settledWithinMs)
      await until(async () => {
        await stage.hurry()
        return (await balanceOf(late)) === 500 + 1_200 + 1_300
      }, settledWithinMs)
      await settled()

      for (const payer of payers) expect(await balanceOf(payer)).toBe(500 + 1_100 + 1_101 + 1_102)
      expect(await balanceOf(refunded)).toBe(500 + 7_000 - 2 * 500)
      expect(await Promise.all(spenders.map(balanceOf))).toEqual([2_150, 2_150])
      await balances()
    }, 600_000)

  /** The step of a payment that is under way when the next answer to COMMIT is lost. */
  const moments = ["the request has come", "the processor is asked", "its event has come"] as const
  it.each(moments.flatMap((moment) => [true, false].map((arrives) => ({ moment, arrives, by: "cut" as const }))))(
    "an answer to COMMIT is lost ($by) when $moment, and it arrives: $arrives; the card is charged once, and credited",
    async ({ arrives, by, moment }) => {
      const { balanceOf, double, event, tenant } = stage
      const before = network.proxy.losses()
      const lose = () => network.proxy.lose({ text: "COMMIT", arrives, by })
      if (moment === "its event has come") {
        const payer = await tenant("pm_card_late")
        const { body } = await stage.topUp(payer, 1_700, "late")
        double.events.length = 0
        double.confirm(stage.intentOf(body.id)[0]?.id ?? "")
        const [payload = ""] = double.events.splice(0)
        lose()
        await until(async () => (await event(payload)).status === 200)
        await until(async () => {
          await stage.hurry()
          return await stage.isCredited(body.id)()
        }, settledWithinMs)
        expect(await balanceOf(payer)).toBe(500 + 1_700)
      } else {
        const payer = await tenant("pm_card_visa")
        if (moment === "the request has come") lose()
        else
          double.heard = (asked) => {
            if (asked !== "POST /v1/payment_intents") return
            double.heard = () => {}
            lose()
          }
        await toldDone(payer, 1_700, "once")
        await settled()
        expect(await balanceOf(payer)).toBe(500 + 1_700)
      }
      // The loss did happen.
      await until(async () => network.proxy.losses() === before + 1)
      await settled()
      await balances()
    },
    600_000
  )
})
