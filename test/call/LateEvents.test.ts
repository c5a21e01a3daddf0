import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CarrierEvent, LegReport } from "../../src/carrier/Carrier.ts"
import * as CallMachine from "../../src/call/CallMachine.ts"
import { primary } from "../../src/call/CallState.ts"
import * as Ids from "../support/Ids.ts"
import * as Sample from "./CallSample.ts"

/**
 * A carrier and a network between it and the call, as a model: events happen at their times, and each is told until it
 * is acknowledged, in the order of its leg; copies and acknowledgements are lost, doubled and late. The call's timers
 * wait while the carrier has something to tell. Whatever the network does, the call becomes what it would have become.
 */
const t0 = 1_000_000

const Happening = Schema.Struct({
  kind: Schema.Literals(["digit", "digit", "digit", "played", "ringing", "answered", "hangup", "moved"]),
  digit: Schema.Literals(["1", "2", "9", "#", "A"]),
  afterMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 })),
  /** How long the network holds the event back, and whether the first acknowledgements are lost. */
  lateMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 })),
  lostAcks: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  /** Of which event before it an old copy comes with it. */
  copyOf: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
})
type Happening = typeof Happening.Type

const gather = {
  minimum_digits: 2,
  maximum_digits: 4,
  terminating_digit: "#",
  valid_digits: "0123456789",
  timeout_millis: 20_000,
  inter_digit_timeout_millis: 3_000,
  initial_timeout_millis: 5_000
}

/** Answered or still ringing, with a short limit, a sound that plays, and a gather. */
const begun = (answered: boolean): Sample.Scene => {
  const placed = Sample.start(
    Sample.place({
      timeoutSecs: 20,
      terms: Sample.terms({ limit: { afterSecs: 40, reason: "balance_exhausted" } })
    }),
    t0
  )
  if (!answered) return placed
  const talking = Sample.carrier(placed, { type: "answered", resume: { dialog: 1 } }, t0 + 1_000)
  const playing = Sample.act(talking, "play", { url: "https://example.com/a.wav" }, t0 + 1_500)
  return Sample.act(playing, "gather", gather, t0 + 2_000)
}

const reportOf = (scene: Sample.Scene, { digit, kind }: Happening, at: number): LegReport => {
  switch (kind) {
    case "digit":
      return { type: "media", event: { type: "dtmf", digit, at } }
    case "played": {
      const playing = Sample.commands(scene).find(
        (command) => command.type === "media" && command.media.type === "play"
      )
      const id = playing?.type === "media" && playing.media.type === "play" ? playing.media.id : Ids.work("none")
      return { type: "media", event: { type: "ended", id, status: "completed", reason: null } }
    }
    case "ringing":
      return { type: "ringing", resume: null }
    case "answered":
      return { type: "answered", resume: { dialog: 2 } }
    case "moved":
      return { type: "answered", resume: { dialog: at } }
    case "hangup":
      return { type: "ended", cause: "hangup", sipStatus: null, by: "far" }
  }
}

/** What happens to the leg, numbered; nothing after its end. */
const told = (scene: Sample.Scene, happenings: ReadonlyArray<Happening>): ReadonlyArray<CarrierEvent> => {
  const { heard, id, incarnation } = primary(scene.state)
  const events: Array<CarrierEvent> = []
  let at = scene.state.at
  for (const happening of happenings) {
    at += happening.afterMs
    events.push({
      legId: id,
      at,
      incarnation: incarnation ?? "",
      n: heard + events.length + 1,
      ...reportOf(scene, happening, at)
    })
    if (happening.kind === "hangup") break
  }
  return events
}

/** Timers fire at their time, those that were held at `now`. */
const timers = (scene: Sample.Scene, until: number, now: number): Sample.Scene => {
  const next = CallMachine.nextDeadline(scene.state)
  return next === null || next.at >= until
    ? scene
    : timers(Sample.send(scene, next.input, Math.max(next.at, now)), until, now)
}

const hear = (scene: Sample.Scene, event: CarrierEvent, now: number) =>
  Sample.send(scene, { type: "carrier", event }, now)

const over = (scene: Sample.Scene): Sample.Scene => timers(scene, Infinity, 0)

const inTime = (scene: Sample.Scene, events: ReadonlyArray<CarrierEvent>) =>
  over(events.reduce((call, event) => hear(timers(call, event.at, 0), event, event.at), scene))

const late = (scene: Sample.Scene, events: ReadonlyArray<CarrierEvent>, happenings: ReadonlyArray<Happening>) => {
  let call = scene
  let now = scene.state.at
  for (const [index, event] of events.entries()) {
    const { copyOf, lateMs, lostAcks } = happenings[index] ?? { copyOf: 0, lateMs: 0, lostAcks: 0 }
    // All before it is acknowledged: until it happens nothing holds the timers.
    if (event.at > now) call = timers(call, event.at, now)
    now = Math.max(now, event.at + lateMs)
    const copy = events[copyOf]
    if (copy !== undefined && copyOf < index) call = hear(call, copy, now)
    for (let again = 0; again <= lostAcks; again++) call = hear(call, event, now + again)
    now += lostAcks
  }
  return over(timers(call, now, now))
}

/** What tenant and ledger see, but when it was written down. */
const outcome = ({ effects, state }: Sample.Scene) => ({
  call: [state.status, state.endReason, state.endInitiator, state.answeredAt, state.endedAt, state.costCents],
  charged: effects.map(Sample.charged).filter((cents) => cents !== 0),
  resume: primary(state).resume,
  settled: CallMachine.isSettled(state),
  events: effects.flatMap(({ events }) => events)
})

describe("Events that come late, twice, or behind others", () => {
  const inputs = {
    answered: Schema.Boolean,
    happenings: Schema.Array(Happening).check(Schema.isMaxLength(12))
  }
  it.prop(
    "change nothing of what becomes of the call",
    inputs,
    ({ answered, happenings }) => {
      const scene = begun(answered)
      const events = told(scene, happenings)
      expect(outcome(late(scene, events, happenings))).toStrictEqual(outcome(inTime(scene, events)))
    },
    { arbitrary: { runs: 1_000 } }
  )

  it("find the call as it was when they happened: what was due before goes first, in one commit", () => {
    const scene = begun(true)
    const [, digit, end] = told(scene, [
      { kind: "digit", digit: "1", afterMs: 1_000, lateMs: 0, lostAcks: 0, copyOf: 0 },
      { kind: "digit", digit: "2", afterMs: 10_000, lateMs: 0, lostAcks: 0, copyOf: 0 },
      { kind: "hangup", digit: "1", afterMs: 60_000, lateMs: 0, lostAcks: 0, copyOf: 0 }
    ])
    expect.assert(digit !== undefined && end !== undefined)
    const heard = hear(scene, digit, t0 + 200_000)
    expect(Sample.types(heard).slice(-2)).toStrictEqual(["call.gather_complete", "call.dtmf"])
    expect(heard.state.seq).toBe(scene.state.seq + 1)
    const ended = hear(heard, end, t0 + 200_000)
    expect([ended.state.endReason, ended.state.endedAt, ended.state.costCents]).toStrictEqual([
      "balance_exhausted",
      t0 + 41_000,
      1
    ])
    expect(ended.state.seq).toBe(heard.state.seq + 1)
    expect(CallMachine.isSettled(ended.state)).toBe(true)
  })

  it("are late by their number: no commit, whatever they say", () => {
    const scene = begun(true)
    const [digit] = told(scene, [{ kind: "digit", digit: "1", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 }])
    expect.assert(digit !== undefined)
    const heard = hear(scene, digit, t0 + 3_000)
    expect(Sample.last(hear(heard, digit, t0 + 3_001))).toBe("unchanged")
    const end = { ...digit, type: "ended", cause: "hangup", sipStatus: null, by: "far" } as const
    expect(Sample.last(hear(heard, end, t0 + 3_002))).toBe("unchanged")
    expect(Sample.last(hear(heard, { ...end, incarnation: "another life" }, t0 + 3_003))).toBe("accepted")
  })

  it("count although one before them was given up", () => {
    const scene = begun(true)
    const [, second] = told(scene, [
      { kind: "digit", digit: "1", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 },
      { kind: "digit", digit: "2", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 }
    ])
    expect.assert(second !== undefined)
    expect(Sample.types(hear(scene, second, t0 + 4_000)).at(-1)).toBe("call.dtmf")
  })
})
