import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, References, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Account from "../../../src/money/account/AccountMachine.ts"
import * as LiveAccounts from "../../../src/money/account/LiveAccounts.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import * as EntityTime from "../../../src/runtime/actor/EntityTime.ts"
import type { CallInput } from "../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import * as CallMoney from "../../../src/telephony/call/shell/CallMoney.ts"
import { type CallState, isTerminal, primary, stateVersion } from "../../../src/telephony/call/machine/CallState.ts"
import * as Legs from "../../../src/telephony/call/shell/Legs.ts"
import * as Reservation from "../../../src/telephony/call/machine/Reservation.ts"
import * as CallVerbs from "../../../src/telephony/call/verb/CallVerbs.ts"
import * as Id from "../../../src/domain/Id.ts"
import type { CallId } from "../../../src/domain/Id.ts"
import * as Money from "../../../src/domain/Money.ts"
import type { Json } from "../../../src/runtime/store/journal/Journal.ts"
import * as Ids from "../../support/Ids.ts"
import * as Random from "../../support/Random.ts"
import * as CallActors from "./CallActors.ts"
import * as Sample from "./CallSample.ts"

/** Calls and their account as running actors, over rows in memory, on a clock of the test. */
const { tenantId } = Sample
const minuteMs = 60_000

interface Rows {
  readonly calls: Map<CallId, CallState>
  balanceCents: number
  spentCents: number
  /** The lowest balance so far, and the most that calls have spent. */
  lowest: number
  mostSpent: number
  charged: Map<CallId, number>
  mostLive: number
}

const quota: Account.Quota = {
  ...Account.defaultQuota,
  dailySpendCapCents: 9_000,
  monthlySpendCapCents: 20_000,
  concurrentCallLimit: 4
}

/** An engine: the account and the calls of one process. It ends with its scope, at any point of its work. */
const engine = Effect.fnUntraced(function* (rows: Rows, random: Random.Random, faults: boolean) {
  const clock = yield* Clock.Clock
  // Unfinished commits of a dead owner are not written, because its epoch is over.
  let owns = true
  yield* Effect.addFinalizer(() => Effect.sync(() => (owns = false)))
  const delay = Effect.suspend(() => Effect.sleep(random.below(20)))
  const accounts = yield* LiveAccounts.make({
    read: Effect.fnUntraced(function* (_, __, ids) {
      yield* delay
      const asked = new Set<string>(ids)
      const snapshot: LiveAccounts.Rows = {
        partition: 0,
        settings: { ...Account.opened(tenantId), quota },
        money: {
          balanceCents: rows.balanceCents,
          creditLimitCents: 0,
          rechargeFailed: false,
          planCallLimit: null,
          testMoneyCents: 0,
          daySpentCents: rows.spentCents,
          monthSpentCents: rows.spentCents
        },
        unsettled: [...rows.calls.values()]
          .filter((state) => !CallMachine.isSettled(state))
          .map((state) => ({ id: state.id, kind: "call", stateVersion, state: state as unknown as Json })),
        born: new Set([...rows.calls.keys()].filter((id) => asked.has(id)))
      }
      yield* delay
      return snapshot
    }),
    onBalance: () => {},
    write: () => Effect.die(new Error("planted")),
    partitions: [0],
    originMs: () => 0,
    outage: Effect.succeed(false)
  })
  const money = CallMoney.make(accounts)
  yield* accounts.reserving("call", money.reader)

  const write = (state: CallState, cents: number): void => {
    rows.calls.set(state.id, state)
    rows.balanceCents -= cents
    rows.spentCents += cents
    rows.lowest = Math.min(rows.lowest, rows.balanceCents)
    rows.mostSpent = Math.max(rows.mostSpent, rows.spentCents)
    if (cents > 0) rows.charged.set(state.id, (rows.charged.get(state.id) ?? 0) + 1)
    const places = [...rows.calls.values()].reduce(
      (sum, each) => sum + (isTerminal(each) ? 0 : Reservation.places(each)),
      0
    )
    rows.mostLive = Math.max(rows.mostLive, places)
  }

  const registry = yield* CallActors.make({
    commit: Effect.fnUntraced(function* (step) {
      // Sometimes nothing can be stored for minutes.
      yield* random.chance(0.03) ? Effect.sleep(random.below(4 * minuteMs)) : delay
      if (!owns) return yield* Effect.never
      if (faults && random.chance(0.03)) return yield* Effect.die(new Error("planted"))
      write(step.state, Sample.charged(step.effects))
      if (faults && random.chance(0.03)) return yield* Effect.die(new Error("planted, when it was written"))
      yield* delay
      if (!owns) return yield* Effect.never
      yield* money.stored(step)
      for (const told of step.effects.tells) yield* accounts.told(tenantId, told)
      return null
    }),
    interpret: () => Effect.void,
    answer: () => null,
    reload: (id) => Effect.sync(() => rows.calls.get(id) ?? null),
    recovered: (state) => Effect.as(money.held(state), alive(state, state.at)),
    ready: (_, due) => Effect.succeed(due),
    prepare: money.prepare
  })
  const alive = (state: CallState, lostAt: number) =>
    Legs.recovered(
      state,
      {
        incarnation: primary(state).incarnation ?? "",
        legs: Object.fromEntries(
          state.legs
            .filter(() => random.chance(0.8))
            .map(({ heard, id }) => [id, { state: "alerting", n: heard, ageMs: 0, answeredMs: null }])
        )
      },
      lostAt
    )

  const place = Effect.fnUntraced(function* (callId: CallId) {
    const microUsdPerMinute = random.chance(0.1) ? 0 : random.below(20_000_000)
    yield* accounts.reserve(tenantId, callId, {
      purpose: "outbound",
      offers: [Money.centsFromMicro(microUsdPerMinute)]
    })
    const actor = yield* registry.spawn(0, callId, accounts.abandoned(tenantId, callId))
    const { offsetMs: timeOffsetMs } = actor.time
    const input = Sample.place({ terms: Sample.terms({ callId, microUsdPerMinute, reservedMinutes: 1, timeOffsetMs }) })
    yield* actor.ask(input, null)
  })

  /** The carrier reports an event of a leg now: of the call's own, or of the last that was dialled for it. */
  const happens = (id: CallId, report: Parameters<typeof Sample.event>[1], isOwn = true) =>
    Effect.suspend(() => {
      const actor = registry.live.get(id)
      const state = actor?.state() ?? null
      if (actor === undefined || state === null || (!isOwn && state.legs.length === 1)) return Effect.void
      const leg = isOwn ? primary(state) : Sample.transferLeg({ state })
      const event = Sample.event({ state }, report, EntityTime.now(actor.time, clock), leg)
      return Effect.asVoid(actor.tell({ type: "carrier", event }))
    })

  const transfer = (id: CallId, name: string) =>
    Effect.suspend(() => {
      const asked: CallInput = {
        type: "action",
        action: CallVerbs.decodeAction("transfer", { to: "+12025550101" }),
        transfer: {
          legId: Id.derive(name, "leg"),
          from: "+12025550150",
          incarnation: "first life",
          microUsdPerMinute: random.chance(0.1) ? 0 : random.below(20_000_000),
          limit: { afterSecs: 3600, reason: "time_limit" }
        }
      }
      return registry.live.get(id)?.ask(asked, null) ?? Effect.void
    })

  /** The carrier has joined the legs of a call that was transferred. */
  const joined = (id: CallId) =>
    Effect.suspend(() => {
      const state = registry.live.get(id)?.state() ?? null
      return state === null || state.legs.length === 1
        ? Effect.void
        : happens(id, { type: "bridged", peerLegId: Sample.transferLeg({ state }).id, peerCallId: id })
    })

  const recover = registry.recover(
    0,
    [...rows.calls.values()].filter((state) => !CallMachine.isSettled(state)).map((state) => ({ id: state.id, state })),
    (state) => Effect.sync(() => alive(state, Math.max(state.at, EntityTime.now(EntityTime.wall, clock) - 5_000)))
  )

  const order = Effect.fnUntraced(function* (name: string, cents: number) {
    const id = Ids.order(name)
    yield* accounts.reserve(tenantId, id, { purpose: "order", offers: [cents] })
    yield* delay
    rows.balanceCents -= cents
    rows.lowest = Math.min(rows.lowest, rows.balanceCents)
    yield* accounts.released(tenantId, id)
  })
  const topUp = Effect.suspend(() => {
    rows.balanceCents += random.below(4_000)
    return accounts.reread(tenantId)
  })
  const fault = Effect.ignore(accounts.change(tenantId, { type: "quota_set", quota: {} }, null))
  return { accounts, registry, place, happens, transfer, joined, recover, order, topUp, fault } as const
})

describe("Calls that reserve, and their account", () => {
  it.effect.prop(
    "never take the balance below its limit or the day above its cap, charge once, and give everything back, whatever is late, lost, or dies",
    { seed: Schema.Int },
    ({ seed }) =>
      Effect.gen(function* () {
        const random = Random.make(seed)
        const rows: Rows = {
          calls: new Map(),
          balanceCents: 4_000,
          spentCents: 0,
          lowest: 4_000,
          mostSpent: 0,
          charged: new Map(),
          mostLive: 0
        }
        const faults = random.chance(0.5)
        let scope = yield* Scope.make()
        let process = yield* Scope.provide(engine(rows, random, faults), scope)
        const background = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkIn(Effect.exit(effect), scope)
        // A read of the account is not interrupted, so the kill waits for it.
        const kill = Effect.gen(function* () {
          const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
          yield* TestClock.adjust(1_000)
          yield* Fiber.join(closing)
        })
        const restart = Effect.gen(function* () {
          yield* kill
          yield* TestClock.adjust(random.below(30_000))
          scope = yield* Scope.make()
          process = yield* Scope.provide(engine(rows, random, faults), scope)
          yield* background(process.recover)
        })
        const some = () => [...rows.calls.keys()][random.below(Math.max(1, rows.calls.size))]
        for (let move = 0; move < 90; move++) {
          const kind = random.below(30)
          const id = some()
          if (kind < 7) yield* background(process.place(Ids.call(`call ${move}`)))
          else if (kind < 12 && id !== undefined)
            yield* background(process.happens(id, { type: "answered", resume: null }))
          else if (kind < 14 && id !== undefined)
            yield* background(process.happens(id, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }))
          else if (kind === 14) yield* background(process.order(`order ${move}`, random.below(1_500)))
          else if (kind === 15) yield* background(process.topUp)
          else if (kind === 16) yield* background(process.fault)
          else if (kind === 17) yield* restart
          else if (kind > 19 && kind < 24 && id !== undefined) {
            yield* background(process.transfer(id, `leg ${move}`))
            yield* TestClock.adjust(random.below(500))
            if (random.chance(0.7)) yield* background(process.happens(id, { type: "answered", resume: null }, false))
          } else if (kind > 23 && kind < 26 && id !== undefined)
            yield* background(process.happens(id, { type: "answered", resume: null }, false))
          else if (kind > 25 && kind < 28 && id !== undefined) yield* background(process.joined(id))
          else if (kind === 28 && id !== undefined)
            yield* background(
              process.happens(id, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, false)
            )
          yield* TestClock.adjust(random.below(random.chance(0.3) ? 40_000 : 500))
        }
        // An engine without faults, in which everything that is left ends.
        yield* kill
        scope = yield* Scope.make()
        process = yield* Scope.provide(engine(rows, Random.make(seed), false), scope)
        yield* background(process.recover)
        yield* TestClock.adjust(10 * minuteMs)
        const living = [...rows.calls.values()].filter((state) => Reservation.live(state) !== null)
        yield* background(process.accounts.reread(tenantId))
        yield* TestClock.adjust("1 second")
        const asked = yield* background(
          Effect.map(process.accounts.state(tenantId), ({ tally }) => {
            expect(Lives.ids(tally.live).toSorted()).toStrictEqual(living.map(({ id }) => id).toSorted())
            for (const state of living) {
              const held = Lives.get(tally.live, state.id)?.reservedCents ?? NaN
              expect(held).toBeGreaterThanOrEqual(Reservation.live(state)?.reservedCents ?? Infinity)
            }
            expect(tally.balanceCents).toBe(rows.balanceCents)
          })
        )
        yield* TestClock.adjust("1 second")
        const outcome = asked.pollUnsafe()
        expect(outcome !== undefined && Exit.isSuccess(outcome)).toBe(true)
        if (outcome !== undefined && Exit.isSuccess(outcome)) expect(outcome.value).toStrictEqual(Exit.void)
        yield* kill
        expect(rows.lowest).toBeGreaterThanOrEqual(0)
        expect(rows.mostSpent).toBeLessThanOrEqual(9_000)
        expect(rows.mostLive).toBeLessThanOrEqual(quota.concurrentCallLimit)
        expect([...rows.charged.values()].every((times) => times === 1)).toBe(true)
      }).pipe(
        Effect.scoped,
        Effect.provide(Entropy.layerFixed("reserved calls")),
        Effect.provideService(References.MinimumLogLevel, "None")
      ),
    { arbitrary: { runs: 30 }, timeout: 60_000 }
  )
})
