import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Machine from "../../../src/money/account/AccountMachine.ts"
import * as LiveAccounts from "../../../src/money/account/LiveAccounts.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import * as AskTimeout from "../../../src/runtime/actor/AskTimeout.ts"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import type { CallId, OrderId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import * as Random from "../../support/Random.ts"

const tenantId = Ids.tenant("tenant")
const limit = 3

/** The life of one call, for its rows and its account. */
interface Life {
  /** An inbound call reserves nothing until it is answered. */
  readonly direction: "outbound" | "inbound"
  /** The price of a minute. */
  readonly rate: number
  /** The time of a commit; the first one may never be written. */
  readonly commitMs: number
  readonly born: boolean
  /** The time from a commit until `began` is called. */
  readonly beganMs: number
  /** How many minutes it talks, each lasting `minuteMs`; null when it is still live at the end. */
  readonly minutes: number | null
  readonly minuteMs: number
  /** Whether the commits of its renewals are lost. */
  readonly forgets: boolean
  /** The time from the commit of its end until the account is notified. */
  readonly tellMs: number
  /** How often the account is notified. */
  readonly times: number
  /** Whether an earlier message to the account was lost. */
  readonly missed: boolean
}

const lifeOf = (random: Random.Random): Life => ({
  direction: random.chance(0.7) ? "outbound" : "inbound",
  rate: random.chance(0.2) ? 0 : random.below(60),
  commitMs: random.below(random.chance(0.5) ? 5 : 30),
  born: random.chance(0.8),
  beganMs: random.below(5),
  minutes: random.chance(0.1) ? null : random.below(4),
  minuteMs: 1 + random.below(20),
  forgets: random.chance(0.1),
  tellMs: random.below(10),
  times: 1 + random.below(3),
  missed: random.chance(0.1)
})

/** The part of a call's state that an account reads. */
const Stored = Schema.Struct({
  counts: Schema.Boolean,
  reservedCents: Schema.Number,
  told: Schema.Number,
  ended: Schema.Boolean
})
const readStored = Schema.decodeUnknownSync(Stored)

/** Rows contain what was committed, and are read slowly: the snapshot is taken at some time within a read. */
const setUp = Effect.fnUntraced(function* (random: Random.Random, firstCents = 1_000_000) {
  const rows = new Map<CallId, typeof Stored.Type>()
  let balanceCents = firstCents
  let lowest = firstCents
  const delay = () => Effect.sleep(random.below(25))
  let away = false
  const accounts = yield* LiveAccounts.make({
    read: Effect.fnUntraced(function* (_, __, ids) {
      yield* delay()
      if (away) return yield* AskTimeout.unavailable
      const asked = new Set(ids)
      const snapshot: LiveAccounts.Rows = {
        partition: 0,
        settings: { ...Machine.opened(tenantId), quota: { ...Machine.defaultQuota, concurrentCallLimit: limit } },
        money: {
          balanceCents,
          creditLimitCents: 0,
          rechargeFailed: false,
          planCallLimit: null,
          testMoneyCents: 0,
          daySpentCents: 0,
          monthSpentCents: 0
        },
        unsettled: [...rows].map(([id, state]) => ({
          id,
          kind: "call" as const,
          stateVersion: 1,
          state: { ...state }
        })),
        born: new Set([...rows.keys()].filter((id) => asked.has(id)))
      }
      yield* delay()
      return snapshot
    }),
    onBalance: () => {},
    write: () => Effect.die(new Error("planted")),
    partitions: [0],
    originMs: () => 0,
    outage: Effect.succeed(false)
  })
  yield* accounts.reserving("call", (row, inFlight) => {
    const { counts, ended, reservedCents, told } = readStored(row.state)
    if (ended) return null
    const stored = counts ? { places: 1, reservedCents, heard: told } : null
    return inFlight !== null && inFlight.reservedCents >= (stored?.reservedCents ?? 0) ? inFlight : stored
  })
  /** Calls with a place at the account, neither ended nor abandoned. */
  const holding = new Map<string, number>()
  const beyondLimit: Array<string> = []
  const debit = (cents: number) => {
    balanceCents -= cents
    lowest = Math.min(lowest, balanceCents)
  }

  const reserve = (id: CallId, purpose: "outbound" | "answer" | "renewal", cents: number) =>
    Effect.map(Effect.option(accounts.reserve(tenantId, id, { purpose, offers: [cents] })), Option.isSome)

  const call = Effect.fnUntraced(function* (id: CallId, life: Life) {
    const { direction, rate } = life
    if (direction === "inbound") rows.set(id, { counts: false, reservedCents: 0, told: 0, ended: false })
    if (!(yield* reserve(id, direction === "inbound" ? "answer" : "outbound", rate))) return
    if (direction === "outbound" && holding.size >= limit) beyondLimit.push(id)
    holding.set(id, rate)
    yield* Effect.sleep(life.commitMs)
    if (!life.born) {
      holding.delete(id)
      return yield* accounts.abandoned(tenantId, id)
    }
    rows.set(id, { counts: true, reservedCents: rate, told: 0, ended: false })
    yield* Effect.sleep(life.beganMs)
    yield* accounts.began(tenantId, id)
    let stored = 1
    for (let minute = 2; minute <= (life.minutes ?? 3); minute++) {
      yield* Effect.sleep(life.minuteMs)
      if (!(yield* reserve(id, "renewal", minute * rate))) break
      if (life.forgets) continue
      yield* Effect.sleep(life.commitMs)
      rows.set(id, { counts: true, reservedCents: minute * rate, told: 0, ended: false })
      holding.set(id, minute * rate)
      stored = minute
      yield* accounts.began(tenantId, id)
    }
    if (life.minutes === null) return
    yield* Effect.sleep(life.minuteMs)
    const n = life.missed ? 2 : 1
    // The charge is never more than the reservation in its row.
    const chargedCents = Math.min(life.minutes, stored) * rate
    rows.set(id, { counts: true, reservedCents: 0, told: n, ended: true })
    holding.delete(id)
    debit(chargedCents)
    for (let time = 0; time < life.times; time++) {
      yield* Effect.sleep(life.tellMs)
      yield* accounts.told(tenantId, { from: id, n, body: { type: "ended", chargedCents } })
    }
  })

  const credit = Effect.suspend(() => {
    balanceCents += 100
    return accounts.reread(tenantId)
  })
  /** A debit that must be covered. Its transaction may fail. */
  const order = Effect.fnUntraced(function* (id: OrderId, cents: number) {
    const covered = yield* Effect.option(accounts.reserve(tenantId, id, { purpose: "order", offers: [cents] }))
    if (covered._tag === "None") return
    yield* delay()
    if (random.chance(0.8)) debit(cents)
    yield* accounts.released(tenantId, id)
  })
  /** Nothing can be read for a while. */
  const outage = Effect.gen(function* () {
    away = true
    yield* Effect.sleep(40)
    away = false
  })
  const fault = Effect.ignore(accounts.change(tenantId, { type: "quota_set", quota: {} }, null))
  return {
    accounts,
    call,
    credit,
    order,
    outage,
    fault,
    holding,
    beyondLimit,
    balance: () => balanceCents,
    lowest: () => lowest
  }
})

describe("Accounts in memory", () => {
  it.effect("what began and ended while the account was being read is charged once", () =>
    Effect.gen(function* () {
      const { accounts, balance, call, credit, holding } = yield* setUp({ below: () => 20, chance: () => false })
      const life = {
        direction: "outbound",
        born: true,
        rate: 7,
        minutes: 1,
        minuteMs: 1,
        forgets: false,
        tellMs: 30,
        times: 1,
        missed: false
      } as const
      yield* Effect.forkScoped(Effect.orDie(call(Ids.call("first"), { ...life, commitMs: 45, beganMs: 1 })))
      // The call is admitted at 40 ms, and committed, begun and ended while the account is read again, before its
      // snapshot at 90.
      yield* TestClock.adjust(70)
      yield* Effect.forkScoped(credit)
      yield* TestClock.adjust("1 second")
      const asked = yield* Effect.forkScoped(accounts.state(tenantId))
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(asked)).tally.balanceCents).toBe(balance())
      expect(holding.size).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(Entropy.layerFixed("live accounts")))
  )

  it.effect("an account that cannot be read again leaves memory, which is no fault; the next asker reads it", () =>
    Effect.gen(function* () {
      const faults: Array<unknown> = []
      const { accounts, balance, credit, outage } = yield* setUp({ below: () => 1, chance: () => false })
      const state = Effect.gen(function* () {
        const asked = yield* Effect.forkScoped(accounts.state(tenantId))
        yield* TestClock.adjust(10)
        return yield* Fiber.join(asked)
      })
      yield* Effect.gen(function* () {
        const before = (yield* state).tally.balanceCents
        yield* Effect.forkScoped(outage)
        yield* Effect.forkScoped(credit)
        yield* TestClock.adjust(20)
        expect((yield* Effect.flip(state)).code).toBe("service_unavailable")
        yield* TestClock.adjust(40)
        expect((yield* state).tally.balanceCents).toBe(before + 100)
        expect(balance()).toBe(before + 100)
      }).pipe(
        Effect.provide(
          Logger.layer([Logger.make(({ logLevel, message }) => void (logLevel === "Error" && faults.push(message)))])
        )
      )
      expect(faults).toStrictEqual([])
    }).pipe(Effect.scoped, Effect.provide(Entropy.layerFixed("live accounts")))
  )

  it.effect(
    "what was given for a renewal is held while its commit is under way, however often the account is read",
    () =>
      Effect.gen(function* () {
        const { accounts, call, credit } = yield* setUp({ below: () => 20, chance: () => false })
        const id = Ids.call("first")
        const life = { ...lifeOf({ below: () => 20, chance: () => false }), rate: 7, minutes: null, minuteMs: 1_000 }
        yield* Effect.forkScoped(
          Effect.orDie(call(id, { ...life, direction: "outbound", born: true, commitMs: 500, beganMs: 1 }))
        )
        // The call is admitted, committed after half a second, and renewed a second later, which is not committed yet.
        yield* TestClock.adjust(1_700)
        yield* Effect.forkScoped(credit)
        yield* TestClock.adjust(100)
        const asked = yield* Effect.forkScoped(accounts.state(tenantId))
        yield* TestClock.adjust(10)
        const { tally } = yield* Fiber.join(asked)
        expect(Lives.get(tally.live, id)?.reservedCents).toBe(14)
      }).pipe(Effect.scoped, Effect.provide(Entropy.layerFixed("live accounts")))
  )

  it.effect.prop(
    "hold what lives, to the id and the cent, whatever is late, repeated, lost, or dies; never admit beyond the limit; and no call or order takes the balance below zero",
    { seed: Schema.Int },
    ({ seed }) =>
      Effect.gen(function* () {
        const random = Random.make(seed)
        const { accounts, balance, beyondLimit, call, credit, fault, holding, lowest, order, outage } = yield* setUp(
          random,
          300
        )
        for (let move = 0; move < 60; move++) {
          if (random.chance(0.6)) yield* Effect.forkScoped(Effect.orDie(call(Ids.call(`call ${move}`), lifeOf(random))))
          // A message of the account dies, or so many in a row that it gives up and loses its waiting messages.
          else if (random.chance(0.4)) {
            const times = random.chance(0.5) ? 7 : 1
            for (let time = 0; time < times; time++) yield* Effect.forkScoped(fault)
          } else if (random.chance(0.1)) yield* Effect.forkScoped(outage)
          else if (random.chance(0.35)) yield* Effect.forkScoped(credit)
          else if (random.chance(0.7)) yield* Effect.forkScoped(order(Ids.order(`order ${move}`), random.below(200)))
          else yield* TestClock.adjust(3 * LiveAccounts.idleMs)
          yield* TestClock.adjust(random.below(12))
        }
        yield* TestClock.adjust("1 minute")
        yield* Effect.forkScoped(accounts.reread(tenantId))
        const asked = yield* Effect.forkScoped(accounts.state(tenantId))
        yield* TestClock.adjust("1 second")
        const { tally } = yield* Fiber.join(asked)
        expect(Lives.ids(tally.live).toSorted()).toStrictEqual([...holding.keys()].toSorted())
        for (const [id, { reservedCents }] of tally.live.byId)
          expect(reservedCents).toBeGreaterThanOrEqual(holding.get(id) ?? Infinity)
        expect(tally.balanceCents).toBe(balance())
        expect(lowest()).toBeGreaterThanOrEqual(0)
        expect(beyondLimit).toStrictEqual([])
      }).pipe(
        Effect.scoped,
        Effect.provide(Entropy.layerFixed("live accounts")),
        Effect.provideService(References.MinimumLogLevel, "None")
      ),
    { arbitrary: { runs: 25 }, timeout: 60_000 }
  )
})
