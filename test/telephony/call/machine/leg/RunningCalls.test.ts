import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, References, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Entropy } from "../../../../../src/runtime/process/Entropy.ts"
import type { CallInput } from "../../../../../src/telephony/call/machine/CallInput.ts"
import { isTerminal, primary } from "../../../../../src/telephony/call/machine/CallState.ts"
import * as CallVerbs from "../../../../../src/telephony/call/verb/CallVerbs.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import * as Random from "../../../../support/Random.ts"
import * as RunningCarrier from "./RunningCarrier.ts"
import * as RunningChecks from "./RunningChecks.ts"
import * as RunningEngine from "./RunningEngine.ts"
import * as RunningRows from "./RunningRows.ts"

/**
 * Calls that bridge, transfer, refer, play, gather, record and hang up at random, as running actors over rows in
 * memory, on a clock of the test. Commits take time and fail before and after they are written, events are sent late
 * and twice, commands are lost with their engine, engines are killed and recover, and the carrier is away. Whatever
 * happens: no command or answer leaves before its commit, everything acknowledged is stored, every request and all work
 * has one outcome, deadlines take effect at their moment, and the calls end in the carrier's state.
 */
const slots = ["one", "two", "three"] as const

const act = (verb: Parameters<typeof CallVerbs.decodeAction>[0], body: object = {}): CallInput => ({
  type: "action",
  action: CallVerbs.decodeAction(verb, body)
})

const play = Effect.fnUntraced(function* (seed: number, rows: RunningRows.Rows, hasFaults: boolean) {
  const random = Random.make(seed)
  const carrier = yield* RunningCarrier.make(random, rows)
  const faultShare = hasFaults ? 0.02 : 0
  const outer = yield* Effect.scope
  let scope = yield* Scope.make()
  let engine = yield* Scope.provide(RunningEngine.start(rows, carrier, random, faultShare), scope)
  carrier.connect(engine)
  const background = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkIn(Effect.exit(effect), scope)

  const kill = Effect.fnUntraced(function* () {
    carrier.connect(null)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* TestClock.adjust(1_000)
    yield* Fiber.join(closing)
  })
  const restart = Effect.fnUntraced(function* (share: number, isThere: boolean) {
    yield* kill()
    yield* TestClock.adjust(random.below(20_000))
    scope = yield* Scope.make()
    engine = yield* Scope.provide(RunningEngine.start(rows, carrier, random, share), scope)
    yield* background(engine.recover(isThere))
    if (isThere) return carrier.connect(engine)
    const { back } = engine
    const connected = Effect.sync(() => carrier.connect(engine))
    yield* background(Effect.andThen(Effect.sleep(random.below(30_000)), Effect.andThen(connected, back)))
  })

  const conferenceId = Id.derive("room", "conf")
  /** Memberships of a conference that were offered to calls. */
  const memberships: Array<{ readonly callId: Id.CallId; readonly memberId: Id.MemberId }> = []
  const membership = (callId: Id.CallId): Id.MemberId => {
    const memberId = Id.derive(`seat ${memberships.length}`, "member")
    memberships.push({ callId, memberId })
    return memberId
  }
  const enter = (callId: Id.CallId, memberId: Id.MemberId) =>
    background(
      engine.tellRoom(callId, {
        type: "enter",
        conferenceId,
        memberId,
        adapter: "test",
        isHost: false,
        isMuted: false,
        isHeld: false
      })
    )

  let generation = 0
  /** Begins a placed call, or an inbound leg, which is offered until a call has it. */
  const start = (slot: string) =>
    Effect.suspend((): Effect.Effect<unknown, never, Entropy> => {
      const name = `${slot} ${generation++}`
      const callId = Id.derive(name, "call")
      current.set(slot, callId)
      if (random.chance(0.7))
        return background(
          engine.place(
            callId,
            random.chance(0.2)
              ? { conferenceId, memberId: membership(callId), legId: Id.derive(`${name} dialled`, "leg") }
              : null
          )
        )
      const legId = Id.derive(name, "leg")
      carrier.offer(legId, callId)
      const offering = Effect.whileLoop({
        while: () => !rows.calls.has(callId),
        // A killed engine never answers.
        body: () => Effect.andThen(Effect.exit(Effect.timeout(engine.offer(callId, legId), 25_000)), Effect.sleep(500)),
        step: () => undefined
      })
      return Effect.forkIn(offering, outer)
    })
  const current = new Map<string, Id.CallId>()

  const move = (step: number): Effect.Effect<unknown, never, Entropy> => {
    const slot = slots[random.below(3)] ?? "one"
    const callId = current.get(slot)
    const state = callId === undefined ? null : RunningRows.state(rows, callId)
    if (callId === undefined) return start(slot)
    if (state === null) return random.chance(0.1) ? start(slot) : Effect.void
    if (isTerminal(state) && random.chance(0.2) && generation < 9) return start(slot)
    const phones = [...carrier.phones].filter(([, { phase }]) => phase !== "over" || random.chance(0.1))
    const [legId, phone] = phones[random.below(Math.max(1, phones.length))] ?? []
    if (legId === undefined || phone === undefined) return Effect.void
    const ask = (input: CallInput) => background(engine.ask(callId, input))
    switch (random.below(42)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return phone.direction === "outbound"
          ? Effect.sync(() => carrier.answer(legId))
          : background(engine.ask(phone.callId, act("answer")))
      case 5:
        if (random.chance(0.4))
          carrier.end(
            legId,
            phone.phase === "talking"
              ? { cause: "hangup", sipStatus: null, by: "far" }
              : phone.direction === "inbound"
                ? { cause: "cancelled", sipStatus: null, by: "far" }
                : { cause: "final_response", sipStatus: 486, by: "far" }
          )
        return Effect.void
      case 6:
      case 7:
      case 8:
        return ask({
          type: "action",
          action: CallVerbs.decodeAction("transfer", { to: "+12025550101", timeout_secs: 5 + random.below(20) }),
          reservedMinutes: [...state.meters.map(({ reservedMinutes }) => reservedMinutes), 120],
          transfer: {
            legId: Id.derive(`transfer ${step}`, "leg"),
            from: "+12025550150",
            incarnation: RunningCarrier.incarnation,
            microUsdPerMinute: 20_000,
            limit: { afterSecs: 3600, reason: "time_limit" }
          }
        })
      case 9:
      case 10:
      case 11:
      case 12:
      case 13:
        return legId === primary(state).id
          ? Effect.void
          : ask({ ...act("bridge", { leg_id: legId }), peerCallId: phone.callId } as CallInput)
      case 14:
        return ask(act("refer", { sip_address: "sip:a@example.com" }))
      case 15: {
        const refer = state.pending.find(({ type }) => type === "refer")
        if (refer !== undefined && carrier.phones.get(refer.legId)?.phase === "talking") {
          const how = random.chance(0.5)
            ? ({ status: "completed", sipStatus: 200 } as const)
            : ({ status: "failed", sipStatus: 486 } as const)
          carrier.tell(refer.legId, { type: "referred", commandId: refer.commandId, ...how })
        }
        return Effect.void
      }
      case 16:
        return random.chance(0.3)
          ? ask(random.chance(0.7) ? act("hangup") : act("reject", { cause: "rejected" }))
          : Effect.void
      case 17:
        return random.chance(0.3) ? restart(faultShare, random.chance(0.6)) : Effect.void
      case 18:
      case 19:
        return ask(act("play", { url: "https://example.com/a.wav", target_legs: random.chance(0.5) ? "both" : "self" }))
      case 20:
        return ask(act("stop_playback", { stop: random.chance(0.5) ? "all" : "current" }))
      case 21:
      case 22:
        return ask(
          act("gather", {
            maximum_digits: 4,
            initial_timeout_millis: 1_000 + random.below(8_000),
            inter_digit_timeout_millis: 1_000 + random.below(4_000),
            timeout_millis: 5_000 + random.below(10_000)
          })
        )
      case 23:
        return random.chance(0.3) ? ask(act("stop_gather")) : Effect.void
      case 24:
        return ask(act("start_recording"))
      case 25:
        return ask(act("stop_recording"))
      case 26:
      case 27:
      case 28:
        return Effect.sync(() => carrier.press(legId, "0123456789*#"[random.below(12)] ?? "0"))
      case 29:
      case 30:
      case 31:
      case 32:
        return enter(callId, membership(callId))
      case 33: {
        const said = memberships[random.below(Math.max(1, memberships.length))]
        return said === undefined ? Effect.void : enter(said.callId, said.memberId)
      }
      case 34: {
        const said = memberships[random.below(Math.max(1, memberships.length))]
        return said === undefined || random.chance(0.7)
          ? Effect.void
          : background(
              engine.tellRoom(said.callId, { type: "over", conferenceId, memberId: said.memberId, by: "system" })
            )
      }
      case 35:
        return Effect.sync(() => carrier.remove(legId))
      default:
        return TestClock.adjust(random.chance(0.2) ? random.below(30_000) : random.below(200))
    }
  }
  for (const slot of slots) yield* start(slot)
  yield* TestClock.adjust("1 second")
  for (let step = 0; step < 150; step++) {
    yield* move(step)
    if (random.chance(0.6)) yield* TestClock.adjust(random.below(40))
  }
  // An engine without faults for the rest: first all events arrive, then the calls end.
  yield* restart(0, true)
  yield* TestClock.adjust("2 minutes")
  RunningChecks.agree(rows, carrier)
  // Half of the rest ends by itself, at its limit.
  for (const callId of rows.calls.keys()) if (random.chance(0.5)) yield* background(engine.ask(callId, act("hangup")))
  yield* TestClock.adjust("5 minutes")
  for (let round = 0; round < 3; round++) yield* TestClock.adjust("60 minutes")
  RunningChecks.ended(rows, carrier)
  expect(engine.waiting()).toBe(0)
  yield* kill()
})

/** Fails on any unplanned defect, and on any fault that the rows and the carrier found. */
const run = Effect.fnUntraced(function* (seed: number) {
  const rows = RunningRows.make()
  const hasFaults = seed % 2 === 0
  const logger = Logger.make<unknown, void>(({ cause, message }) => {
    const text = Cause.pretty(cause)
    if (!hasFaults || (cause.reasons.length > 0 && !text.includes(RunningEngine.planted)))
      rows.faults.push(`${String(message)}: ${text}`)
  })
  yield* play(seed, rows, hasFaults).pipe(
    Effect.scoped,
    Effect.provide([Entropy.layerFixed("running calls"), Logger.layer([logger])]),
    Effect.provideService(References.MinimumLogLevel, "Error")
  )
  expect([...new Set(rows.faults)].slice(0, 3)).toEqual([])
})

describe("Running calls that are connected with each other", () => {
  it.effect.prop(
    "come to what their carrier says, and tell every outcome once, whatever is late, lost, or dies",
    { seed: Schema.Int },
    ({ seed }) => run(seed),
    { arbitrary: { runs: 40 }, timeout: 120_000 }
  )
})
