import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, HashMap, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Machine from "../../src/account/AccountMachine.ts"
import * as LiveAccounts from "../../src/account/LiveAccounts.ts"
import { Entropy } from "../../src/actor/Entropy.ts"
import type { CallId } from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"
import * as Random from "../support/Random.ts"

const tenantId = Ids.tenant("tenant")
const limit = 3

/** The life of one call, as its rows and its account see it. */
interface Life {
  readonly direction: "outbound" | "inbound"
  /** Its first commit takes so long; or it is never written. */
  readonly commitMs: number
  readonly born: boolean
  /** From its first commit until its account is told that it has one. */
  readonly beganMs: number
  /** Null: it still lives at the end. */
  readonly lifeMs: number | null
  /** From the commit of its end until the account is told. */
  readonly tellMs: number
  /** How often it is told. */
  readonly times: number
  /** It told something before, and that was lost. */
  readonly missed: boolean
  readonly cents: number
}

const lifeOf = (random: Random.Random): Life => ({
  direction: random.chance(0.7) ? "outbound" : "inbound",
  commitMs: random.below(random.chance(0.5) ? 5 : 30),
  born: random.chance(0.8),
  beganMs: random.below(5),
  lifeMs: random.chance(0.1) ? null : random.below(random.chance(0.5) ? 5 : 60),
  tellMs: random.below(10),
  times: 1 + random.below(3),
  missed: random.chance(0.1),
  cents: random.below(10)
})

/** The state of a call, as far as an account wants to know it. */
const Stored = Schema.Struct({
  direction: Schema.Literals(["outbound", "inbound"]),
  told: Schema.Number,
  ended: Schema.Boolean
})
const readStored = Schema.decodeUnknownSync(Stored)

/** Rows that are what was committed, and read slowly: the snapshot is taken somewhere within a read. */
const setUp = Effect.fnUntraced(function* (random: Random.Random) {
  const rows = new Map<CallId, typeof Stored.Type>()
  let balanceCents = 1_000_000
  const delay = () => Effect.sleep(random.below(25))
  const accounts = yield* LiveAccounts.make({
    read: Effect.fnUntraced(function* (_, __, ids) {
      yield* delay()
      const asked = new Set(ids)
      const snapshot: LiveAccounts.Rows = {
        partition: 0,
        settings: { ...Machine.opened(tenantId), quota: { ...Machine.defaultQuota, concurrentCallLimit: limit } },
        money: { balanceCents, creditLimitCents: 0, daySpentCents: 0, monthSpentCents: 0 },
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
    write: () => Effect.die(new Error("planted")),
    partitions: [0],
    originMs: () => 0,
    outage: Effect.succeed(false)
  })
  yield* accounts.reserving("call", (row) => {
    const { direction, ended, told } = readStored(row.state)
    return ended ? null : { direction, reservedCents: 1, heard: told }
  })
  /** Admitted by the account, and neither ended nor abandoned. */
  const holding = new Set<string>()
  const beyondLimit: Array<string> = []

  const call = Effect.fnUntraced(function* (id: CallId, life: Life) {
    const { direction } = life
    const admitted = yield* Effect.option(accounts.admit(tenantId, id, { direction, reservedCents: 1, heard: 0 }))
    if (admitted._tag === "None") return
    if (direction === "outbound" && holding.size >= limit) beyondLimit.push(id)
    holding.add(id)
    yield* Effect.sleep(life.commitMs)
    if (!life.born) {
      holding.delete(id)
      return yield* accounts.abandoned(tenantId, id)
    }
    rows.set(id, { direction, told: 0, ended: false })
    yield* Effect.sleep(life.beganMs)
    yield* accounts.began(tenantId, id)
    if (life.lifeMs === null) return
    yield* Effect.sleep(life.lifeMs)
    const n = life.missed ? 2 : 1
    rows.set(id, { direction, told: n, ended: true })
    holding.delete(id)
    balanceCents -= life.cents
    for (let time = 0; time < life.times; time++) {
      yield* Effect.sleep(life.tellMs)
      yield* accounts.told(tenantId, { from: id, n, body: { type: "ended", chargedCents: life.cents } })
    }
  })

  const credit = Effect.suspend(() => {
    balanceCents += 100
    return accounts.reread(tenantId)
  })
  const fault = Effect.ignore(accounts.change(tenantId, { type: "quota_set", quota: {} }, null))
  return { accounts, call, credit, fault, holding, beyondLimit, balance: () => balanceCents }
})

describe("Accounts in memory", () => {
  it.effect("what began and ended while the account was being read is charged once", () =>
    Effect.gen(function* () {
      const { accounts, balance, call, credit, holding } = yield* setUp({ below: () => 20, chance: () => false })
      const life = {
        direction: "outbound",
        born: true,
        lifeMs: 1,
        tellMs: 30,
        times: 1,
        missed: false,
        cents: 7
      } as const
      yield* Effect.forkScoped(Effect.orDie(call(Ids.call("first"), { ...life, commitMs: 45, beganMs: 1 })))
      // Loaded, and admitted at 40 ms; committed, begun and ended while it is read again, before the snapshot at 90.
      yield* TestClock.adjust(70)
      yield* Effect.forkScoped(credit)
      yield* TestClock.adjust("1 second")
      const asked = yield* Effect.forkScoped(accounts.state(tenantId))
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(asked)).tally.balanceCents).toBe(balance())
      expect(holding.size).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(Entropy.layerFixed("live accounts")))
  )

  it.effect.prop(
    "hold what lives, to the id and the cent, whatever is late, repeated, lost, or dies; and never admit beyond the limit",
    { seed: Schema.Int },
    ({ seed }) =>
      Effect.gen(function* () {
        const random = Random.make(seed)
        const { accounts, balance, beyondLimit, call, credit, fault, holding } = yield* setUp(random)
        for (let move = 0; move < 60; move++) {
          if (random.chance(0.6)) yield* Effect.forkScoped(Effect.orDie(call(Ids.call(`call ${move}`), lifeOf(random))))
          // A message of the account dies; or so many in a row that it gives up, and loses what waits.
          else if (random.chance(0.5)) {
            const times = random.chance(0.5) ? 7 : 1
            for (let time = 0; time < times; time++) yield* Effect.forkScoped(fault)
          } else if (random.chance(0.7)) yield* Effect.forkScoped(credit)
          else yield* TestClock.adjust(3 * LiveAccounts.idleMs)
          yield* TestClock.adjust(random.below(12))
        }
        yield* TestClock.adjust("1 minute")
        const asked = yield* Effect.forkScoped(accounts.state(tenantId))
        yield* TestClock.adjust("1 second")
        const { tally } = yield* Fiber.join(asked)
        expect([...HashMap.keys(tally.live)].toSorted()).toStrictEqual([...holding].toSorted())
        expect(tally.balanceCents).toBe(balance())
        expect(beyondLimit).toStrictEqual([])
      }).pipe(
        Effect.scoped,
        Effect.provide(Entropy.layerFixed("live accounts")),
        Effect.provideService(References.MinimumLogLevel, "None")
      ),
    { arbitrary: { runs: 25 }, timeout: 60_000 }
  )
})
