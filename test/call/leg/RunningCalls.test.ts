import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, References, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Entropy } from "../../../src/actor/Entropy.ts"
import * as EntityTime from "../../../src/actor/EntityTime.ts"
import * as Registry from "../../../src/actor/Registry.ts"
import type { CallInput } from "../../../src/call/CallInput.ts"
import * as CallMachine from "../../../src/call/CallMachine.ts"
import { type CallState, primary } from "../../../src/call/CallState.ts"
import type { Effects } from "../../../src/call/Draft.ts"
import { type Leg, lives } from "../../../src/call/leg/Leg.ts"
import * as Legs from "../../../src/call/Legs.ts"
import * as Meter from "../../../src/call/Meter.ts"
import * as Verbs from "../../../src/call/verb/Verbs.ts"
import * as Bridges from "../../../src/carrier/Bridges.ts"
import type { CarrierCommand, CarrierEvent, LegReport, Snapshot } from "../../../src/carrier/Carrier.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import type { EmittedByCall } from "../../../src/domain/event/EventCatalogue.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Random from "../../support/Random.ts"
import * as SeenEvent from "../../support/SeenEvent.ts"
import * as Sample from "../CallSample.ts"
import * as Outcome from "./Outcome.ts"

/**
 * Calls that bridge, transfer, refer, play and hang up at random, as running actors over rows in memory, on a clock of
 * the test. Their carrier outlives the engines: its events are told until they are durable, late and more than once,
 * each leg's in order. Commits take their time and die before and after they are written, commands are lost with their
 * engine, and engines are killed and recover. Whatever happens, every request that was stored has one outcome, and the
 * calls come to what the carrier says.
 */
const minuteMs = 60_000
const names = ["one", "two", "three"] as const

interface Asked extends Outcome.Asked {
  readonly callId: Id.CallId
  /** Events of the call that were stored before. */
  readonly since: number
}

/** What is stored, whichever engine stored it. */
interface Rows {
  readonly calls: Map<Id.CallId, CallState>
  readonly events: Map<Id.CallId, ReadonlyArray<EmittedByCall>>
  readonly charged: Map<Id.CallId, number>
  readonly asked: Array<Asked>
}

interface Phone {
  readonly callId: Id.CallId
  phase: "alerting" | "talking" | "over"
  n: number
  /** Not durable yet; `at` in milliseconds of the test's clock. */
  told: ReadonlyArray<CarrierEvent>
  isTelling: boolean
  readonly taken: Set<string>
}

type Engine = Effect.Success<ReturnType<typeof startEngine>>

const makeCarrier = Effect.fnUntraced(function* (random: Random.Random) {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const phones = new Map<Id.LegId, Phone>()
  let engine: Engine | null = null

  /** Tells the events of a leg one after the other, each until it is durable. */
  const pump = (phone: Phone): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (let [event] = phone.told; event !== undefined; [event] = phone.told) {
        yield* Effect.sleep(random.chance(0.1) ? random.below(5_000) : random.below(30))
        const copies = random.chance(0.1) ? 2 : 1
        for (let copy = 0; copy < copies; copy++) {
          const told = engine === null ? "fault" : yield* engine.hear(phone.callId, event)
          if (told !== "fault" && phone.told[0] === event) phone.told = phone.told.slice(1)
        }
      }
      phone.isTelling = false
    })

  const tell = (legId: Id.LegId, report: LegReport): void => {
    const phone = phones.get(legId)
    if (phone === undefined || (phone.phase === "over" && report.type !== "ended")) return
    const at = clock.currentTimeMillisUnsafe()
    phone.told = [...phone.told, { legId, at, incarnation: "first life", n: ++phone.n, ...report }]
    if (phone.isTelling) return
    phone.isTelling = true
    Effect.runForkWith(context)(Effect.forkIn(pump(phone), scope))
  }
  const isTalking = (legId: Id.LegId) => phones.get(legId)?.phase === "talking"
  const bridges = Bridges.make({
    legOf: (legId) => {
      const phone = phones.get(legId)
      return phone === undefined || phone.phase === "over"
        ? null
        : { isTalking: () => isTalking(legId), tell: (report) => tell(legId, report) }
    },
    // The media answer later.
    join: (_, __, settled) =>
      void Effect.runForkWith(context)(
        Effect.forkIn(
          Effect.andThen(
            Effect.sleep(random.below(20)),
            Effect.sync(() => settled(random.chance(0.05) ? "other_thread" : null))
          ),
          scope
        )
      ),
    part: () => undefined
  })
  const end = (legId: Id.LegId, report: Omit<Extract<LegReport, { readonly type: "ended" }>, "type">): void => {
    const phone = phones.get(legId)
    if (phone === undefined || phone.phase === "over") return
    phone.phase = "over"
    bridges.ended(legId)
    tell(legId, { type: "ended", ...report })
  }

  const carry = (command: CarrierCommand): void => {
    const { commandId, legId, type } = command
    const phone = phones.get(legId)
    if (type === "dial") {
      const taken = new Set([commandId])
      if (phone === undefined)
        phones.set(legId, { callId: command.callId, phase: "alerting", n: 0, told: [], isTelling: false, taken })
      return
    }
    if (phone === undefined || phone.taken.has(commandId)) return
    phone.taken.add(commandId)
    switch (type) {
      case "hangup":
        return end(legId, { cause: "hangup", sipStatus: null, by: "near" })
      case "bridge":
        return bridges.bridge(command)
      case "unbridge":
        return bridges.unbridge(legId)
      case "refer":
        return tell(
          legId,
          phone.phase === "talking"
            ? { type: "referred", commandId, status: "accepted", sipStatus: 202 }
            : { type: "command_failed", commandId, reason: "not_answered" }
        )
      case "media": {
        const { media } = command
        // A sound ends when it is asked for: where there is a peer for it.
        if (media.type !== "play") return
        const isHeard = media.target === "self" || bridges.facts(legId).bridge !== undefined
        const end = isHeard
          ? ({ status: "completed", reason: null } as const)
          : ({ status: "failed", reason: "not_bridged" } as const)
        return tell(legId, { type: "media", event: { type: "ended", id: media.id, ...end } })
      }
      case "answer":
      case "ring":
      case "reject":
        return
    }
  }

  return {
    phones,
    facts: bridges.facts,
    tell,
    end,
    carry,
    connect: (to: Engine | null) => void (engine = to),
    caughtUp: (legId: Id.LegId) =>
      Effect.gen(function* () {
        while ((phones.get(legId)?.told.length ?? 0) > 0) yield* Effect.sleep(20)
      }),
    snapshot: (): Snapshot => ({
      incarnation: "first life",
      legs: Object.fromEntries(
        [...phones].map(([legId, { n, phase }]) => [
          legId,
          {
            state: phase === "talking" ? ("answered" as const) : phase,
            n,
            ageMs: 0,
            answeredMs: null,
            ...bridges.facts(legId)
          }
        ])
      )
    })
  }
})
type Carrier = Effect.Success<ReturnType<typeof makeCarrier>>

const startEngine = Effect.fnUntraced(function* (
  rows: Rows,
  carrier: Carrier,
  random: Random.Random,
  faultShare: number
) {
  const clock = yield* Clock.Clock
  let owns = true
  yield* Effect.addFinalizer(() => Effect.sync(() => (owns = false)))
  const dies = () => random.chance(faultShare)

  const remember = ({ input }: { readonly input: CallInput }, { id }: CallState, since: number): void => {
    if (input.type !== "action") return
    const { action } = input
    const of = { callId: id, since }
    if (action.verb === "transfer" && input.transfer !== undefined)
      rows.asked.push({ ...of, verb: "transfer", legId: input.transfer.legId })
    if (action.verb === "bridge") rows.asked.push({ ...of, verb: "bridge", legId: action.body.legId })
    if (action.verb === "refer") rows.asked.push({ ...of, verb: "refer", legId: Id.derive("none", "leg") })
  }
  const recovered = (state: CallState) => {
    const now = EntityTime.now(EntityTime.wall, clock)
    return Legs.recovered(state, carrier.snapshot(), Math.max(state.at, now - 5_000))
  }

  const registry = yield* Registry.make<Id.CallId, CallState, CallInput, Effects, null, null>(
    {
      behavior: {
        machine: CallMachine.machine,
        commit: Effect.fnUntraced(function* (step) {
          yield* Effect.sleep(random.chance(0.03) ? random.below(20_000) : random.below(20))
          if (!owns) return yield* Effect.never
          if (dies()) return yield* Effect.die(new Error("planted"))
          const { effects, state } = step
          SeenEvent.check(effects.events)
          const before = rows.events.get(state.id) ?? []
          remember(step, state, before.length)
          rows.calls.set(state.id, state)
          rows.events.set(state.id, [...before, ...effects.events])
          rows.charged.set(state.id, (rows.charged.get(state.id) ?? 0) + Sample.charged(effects))
          if (dies()) return yield* Effect.die(new Error("planted, when it was written"))
          yield* Effect.sleep(random.below(5))
          return null
        }),
        interpret: ({ effects }) => Effect.sync(() => effects.commands.forEach(carrier.carry)),
        answer: () => null,
        reload: (id) => Effect.sync(() => rows.calls.get(id) ?? null),
        recovered: (state) => Effect.sync(() => recovered(state)),
        ready: (state, due) =>
          Effect.forEach(state.legs, ({ id }) => carrier.caughtUp(id), { concurrency: "unbounded" }).pipe(
            Effect.timeoutOption("1 minute"),
            Effect.as(due)
          ),
        prepare: (state, input) =>
          input.type === "renewal"
            ? Effect.succeed({ first: [], input: { ...input, reservedMinutes: state.meters.map(() => 120) } })
            : null,
        lastWill: (reason) => ({ type: "faulted", reason })
      },
      since: (state) => state.at,
      offsetMs: (state) => state.timeOffsetMs,
      load: null,
      ended: ApiError.of("call_already_ended", "ended"),
      unknown: ApiError.of("not_found", "unknown"),
      maxLive: 100,
      passivation: null
    },
    Effect.succeed(false)
  )
  yield* registry.hold(0, 0)

  const ask = (callId: Id.CallId, input: CallInput) =>
    Effect.suspend(() => registry.live.get(callId)?.ask(input, null) ?? Effect.void)
  return {
    place: Effect.fnUntraced(function* (callId: Id.CallId) {
      if (registry.live.has(callId)) return
      const actor = yield* registry.spawn(0, callId, Effect.void)
      const { offsetMs: timeOffsetMs } = actor.time
      yield* actor.ask(Sample.place({ terms: Sample.terms({ callId, timeOffsetMs, reservedMinutes: 120 }) }), null)
    }),
    ask,
    hear: (callId: Id.CallId, event: CarrierEvent) =>
      Effect.suspend(() => {
        const actor = registry.live.get(callId)
        const stored = rows.calls.get(callId)
        if (actor === undefined)
          return Effect.succeed(stored !== undefined && CallMachine.isSettled(stored) ? ("unknown" as const) : "fault")
        const at = EntityTime.now(actor.time, clock) - (clock.currentTimeMillisUnsafe() - event.at)
        return Effect.map(actor.tell({ type: "carrier", event: { ...event, at } }), (handled) =>
          handled === "fault" ? handled : "committed"
        )
      }).pipe(
        Effect.timeoutOption("30 seconds"),
        Effect.map((told) => (told._tag === "Some" ? told.value : "fault"))
      ),
    recover: registry.recover(
      0,
      [...rows.calls.values()]
        .filter((state) => !CallMachine.isSettled(state))
        .map((state) => ({ id: state.id, state })),
      (state) => Effect.sync(() => recovered(state))
    )
  }
})

const act = (verb: Parameters<typeof Verbs.decodeAction>[0], body: object = {}): CallInput => ({
  type: "action",
  action: Verbs.decodeAction(verb, body)
})

const legOf = ({ calls }: Rows, legId: Id.LegId): Leg | undefined =>
  [...calls.values()].flatMap(({ legs }) => legs).find(({ id }) => id === legId)

/** Once nothing is on its way, the calls have what the carrier has. */
const agrees = (rows: Rows, carrier: Carrier): void => {
  for (const [legId, phone] of carrier.phones) {
    const leg = legOf(rows, legId)
    expect.assert(leg !== undefined)
    expect([legId, leg.gone]).toEqual([legId, phone.phase === "over"])
    if (phone.phase === "over") expect(leg.endedAt).not.toBeNull()
    else expect(leg.bridge?.legId ?? null).toBe(carrier.facts(legId).bridge?.peerLegId ?? null)
  }
  for (const state of rows.calls.values()) expect(primary(state).status).toBe(state.status)
}

const ends = (rows: Rows, carrier: Carrier): void => {
  agrees(rows, carrier)
  expect([...carrier.phones.values()].filter(({ phase }) => phase !== "over")).toEqual([])
  for (const [callId, state] of rows.calls) {
    expect(CallMachine.isSettled(state)).toBe(true)
    const events = rows.events.get(callId) ?? []
    expect(events.filter(({ type }) => type === "call.ended").length).toBe(1)
    expect(events.at(-1)?.type).toBe("call.ended")
    expect(state.sequence).toBe(events.length)
    expect(rows.charged.get(callId)).toBe(Meter.costCents(state.meters))
    expect(state.legs.filter(lives)).toEqual([])
  }
  for (const each of rows.asked) {
    const outcomes = (rows.events.get(each.callId) ?? []).slice(each.since).filter((event) => Outcome.isOf(each, event))
    expect([each.verb, outcomes.length > 0]).toEqual([each.verb, true])
    const failures = outcomes.filter(({ type }) => type === "call.transfer_failed").length
    if (each.verb === "transfer") expect(failures).toBe(outcomes.some(({ type }) => type === "call.bridged") ? 0 : 1)
  }
}

const play = Effect.fnUntraced(function* (seed: number) {
  const random = Random.make(seed)
  const rows: Rows = { calls: new Map(), events: new Map(), charged: new Map(), asked: [] }
  const carrier = yield* makeCarrier(random)
  const faultShare = random.chance(0.5) ? 0.02 : 0
  let scope = yield* Scope.make()
  let engine = yield* Scope.provide(startEngine(rows, carrier, random, faultShare), scope)
  carrier.connect(engine)
  const background = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkIn(Effect.exit(effect), scope)
  const restart = Effect.fnUntraced(function* (share: number) {
    carrier.connect(null)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* TestClock.adjust(1_000)
    yield* Fiber.join(closing)
    yield* TestClock.adjust(random.below(20_000))
    scope = yield* Scope.make()
    engine = yield* Scope.provide(startEngine(rows, carrier, random, share), scope)
    yield* background(engine.recover)
    carrier.connect(engine)
  })

  const move = (step: number): Effect.Effect<unknown, never, Entropy> => {
    const callId = Id.derive(names[random.below(3)] ?? "one", "call")
    const state = rows.calls.get(callId)
    const phones = [...carrier.phones]
    const [legId, phone] = phones[random.below(Math.max(1, phones.length))] ?? []
    const kind = random.below(26)
    if (state === undefined) return background(engine.place(callId))
    if (legId === undefined || phone === undefined) return Effect.void
    const ask = (input: CallInput) => background(engine.ask(callId, input))
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        if (phone.phase === "alerting") {
          phone.phase = "talking"
          carrier.tell(legId, { type: "answered", resume: null })
        }
        return Effect.void
      case 6:
        if (random.chance(0.5))
          carrier.end(
            legId,
            phone.phase === "talking"
              ? { cause: "hangup", sipStatus: null, by: "far" }
              : { cause: "final_response", sipStatus: 486, by: "far" }
          )
        return Effect.void
      case 7:
      case 8:
      case 9:
      case 10:
        return ask({
          type: "action",
          action: Verbs.decodeAction("transfer", { to: "+12025550101", timeout_secs: 20 }),
          reservedMinutes: [...state.meters.map(({ reservedMinutes }) => reservedMinutes), 120],
          transfer: {
            legId: Id.derive(`transfer ${step}`, "leg"),
            from: "+12025550150",
            incarnation: "first life",
            microUsdPerMinute: 20_000,
            limit: { afterSecs: 3600, reason: "time_limit" }
          }
        })
      case 11:
      case 12:
      case 13:
      case 14:
      case 15:
        return legId === primary(state).id
          ? Effect.void
          : ask({ ...act("bridge", { leg_id: legId }), peerCallId: phone.callId } as CallInput)
      case 16:
        return ask(act("refer", { sip_address: "sip:a@example.com" }))
      case 17: {
        const refer = state.pending.find(({ type }) => type === "refer")
        if (refer !== undefined && carrier.phones.get(refer.legId)?.phase === "talking") {
          const how = random.chance(0.5)
            ? ({ status: "completed", sipStatus: 200 } as const)
            : ({ status: "failed", sipStatus: 486 } as const)
          carrier.tell(refer.legId, { type: "referred", commandId: refer.commandId, ...how })
        }
        return Effect.void
      }
      case 18:
        return random.chance(0.3) ? ask(act("hangup")) : Effect.void
      case 19:
        return random.chance(0.3) ? restart(faultShare) : Effect.void
      case 20:
        return ask(act("play", { url: "https://example.com/a.wav", target_legs: "both" }))
      default:
        return TestClock.adjust(random.chance(0.2) ? random.below(30_000) : random.below(200))
    }
  }
  for (const name of names) yield* background(engine.place(Id.derive(name, "call")))
  yield* TestClock.adjust("1 second")
  for (let step = 0; step < 120; step++) {
    yield* move(step)
    if (random.chance(0.6)) yield* TestClock.adjust(random.below(40))
  }
  // An engine without faults, for all that is left: news first, then the end.
  yield* restart(0)
  yield* TestClock.adjust("50 seconds")
  agrees(rows, carrier)
  for (const callId of rows.calls.keys()) yield* background(engine.ask(callId, act("hangup")))
  yield* TestClock.adjust("5 minutes")
  for (let round = 0; round < 3; round++) yield* TestClock.adjust(60 * minuteMs)
  ends(rows, carrier)
  carrier.connect(null)
  const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
  yield* TestClock.adjust(1_000)
  yield* Fiber.join(closing)
})

const run = (seed: number) =>
  play(seed).pipe(
    Effect.scoped,
    Effect.provide(Entropy.layerFixed("running calls")),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

describe("Running calls that are connected with each other", () => {
  it.effect.prop(
    "come to what their carrier says, and tell every outcome once, whatever is late, lost, or dies",
    { seed: Schema.Int },
    ({ seed }) => run(seed),
    { arbitrary: { runs: 40 }, timeout: 120_000 }
  )
})
