import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CarrierEvent, LegReport } from "../../../src/carrier/Carrier.ts"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import { primary } from "../../../src/telephony/call/machine/CallState.ts"
import type { Leg } from "../../../src/telephony/call/machine/leg/Leg.ts"
import * as Ids from "../../support/Ids.ts"
import * as Sample from "./CallSample.ts"

/**
 * A carrier and a network between it and the call, as a model: events happen at their times, and each is sent until it
 * is acknowledged, in the order of its leg; copies and acknowledgements are lost, doubled and late. The call's timers
 * wait while the carrier has unsent events. Whatever the network does, the call has the same outcome.
 */
const t0 = 1_000_000

const Happening = Schema.Struct({
  kind: Schema.Literals(["digit", "digit", "digit", "played", "ringing", "answered", "hangup", "moved"]),
  digit: Schema.Literals(["1", "2", "9", "#", "A"]),
  afterMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 })),
  /** How long the network holds the event back, and whether the first acknowledgements are lost. */
  lateMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200_000 })),
  lostAcks: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  /** The index of an earlier event of which an old copy comes with this one. */
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

/** A call that is answered or still rings, with a short limit, a playing sound and a gather. */
const started = (answered: boolean, limitSecs = 40): Sample.Scene => {
  const placed = Sample.start(
    Sample.place({
      timeoutSecs: 20,
      terms: Sample.terms({ limit: { afterSecs: limitSecs, reason: "balance_exhausted" } })
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

/** The numbered events of a leg (by default the call's own), none after its end. */
const told = (
  scene: Sample.Scene,
  happenings: ReadonlyArray<Happening>,
  { heard, id, incarnation }: Leg = primary(scene.state)
): ReadonlyArray<CarrierEvent> => {
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

/** Fires timers at their time, or at `now` if they were delayed. */
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
    // All earlier events are acknowledged, so nothing delays the timers until this one happens.
    if (event.at > now) call = timers(call, event.at, now)
    now = Math.max(now, event.at + lateMs)
    const copy = events[copyOf]
    if (copy !== undefined && copyOf < index) call = hear(call, copy, now)
    for (let again = 0; again <= lostAcks; again++) call = hear(call, event, now + again)
    now += lostAcks
  }
  return over(timers(call, now, now))
}

/** Everything that the tenant and the ledger see, except when it was written. */
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
      const scene = started(answered)
      const events = told(scene, happenings)
      expect(outcome(late(scene, events, happenings))).toStrictEqual(outcome(inTime(scene, events)))
    },
    { arbitrary: { runs: 1_000 } }
  )

  it("find the call as it was when they happened: what was due before goes first, in one commit", () => {
    const scene = started(true)
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
    const scene = started(true)
    const [digit] = told(scene, [{ kind: "digit", digit: "1", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 }])
    expect.assert(digit !== undefined)
    const heard = hear(scene, digit, t0 + 3_000)
    expect(Sample.last(hear(heard, digit, t0 + 3_001))).toBe("unchanged")
    const end = { ...digit, type: "ended", cause: "hangup", sipStatus: null, by: "far" } as const
    expect(Sample.last(hear(heard, end, t0 + 3_002))).toBe("unchanged")
    expect(Sample.last(hear(heard, { ...end, incarnation: "another life" }, t0 + 3_003))).toBe("accepted")
  })

  it("count although one before them was given up", () => {
    const scene = started(true)
    const [, second] = told(scene, [
      { kind: "digit", digit: "1", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 },
      { kind: "digit", digit: "2", afterMs: 500, lateMs: 0, lostAcks: 0, copyOf: 0 }
    ])
    expect.assert(second !== undefined)
    expect(Sample.types(hear(scene, second, t0 + 4_000)).at(-1)).toBe("call.dtmf")
  })
})

/** A gather on the call's own leg, while another leg rings that may be connected to it. */
const transferring = (limitSecs = 40) => Sample.transfer(started(true, limitSecs), { timeout_secs: 15 }, t0 + 2_100)

/** The outcome of each leg by itself. */
const ofLegs = (scene: Sample.Scene) => ({
  digits: scene.state.legs.map(({ id }) =>
    Sample.events(scene).filter(({ data, type }) => type === "call.dtmf" && data.legId === id)
  ),
  gathers: Sample.events(scene).filter(({ type }) => type === "call.gather_complete"),
  legs: scene.state.legs.map(({ answeredAt, endReason }) => [answeredAt, endReason === "timeout"]),
  call: [scene.state.endReason, scene.state.endedAt]
})

describe("Events of two legs, one of which is told later", () => {
  const kind = Schema.Literals(["digit", "digit", "ringing", "answered", "moved"])
  const happenings = Schema.Array(Schema.Struct({ ...Happening.fields, kind })).check(Schema.isMaxLength(8))

  it.prop(
    "come to what each leg would have come to alone",
    { own: happenings, others: happenings, lateMs: Happening.fields.lateMs, isOwn: Schema.Boolean },
    ({ isOwn, lateMs, others, own }) => {
      // No event comes after the limit of the call, which would end it for the other leg.
      const scene = transferring(3_600)
      const events = [
        ...told(scene, own).map((event) => ({ event, tellsAt: event.at + (isOwn ? lateMs : 0) })),
        ...told(scene, others, Sample.transferLeg(scene)).map((event) => ({
          event,
          tellsAt: event.at + (isOwn ? 0 : lateMs)
        }))
      ]
      const prompt = inTime(
        scene,
        events.map(({ event }) => event).toSorted((a, b) => a.at - b.at)
      )
      // Timers wait while an event that has happened is not sent yet.
      const last = events.toSorted((a, b) => a.tellsAt - b.tellsAt)
      const behind = last.reduce((call, { event, tellsAt }) => {
        const untold = last.filter((each) => each.tellsAt >= tellsAt).map((each) => each.event.at)
        return hear(timers(call, Math.min(tellsAt, ...untold), 0), event, tellsAt)
      }, scene)
      expect(ofLegs(over(behind))).toStrictEqual(ofLegs(prompt))
    },
    { arbitrary: { runs: 1_000 } }
  )

  it("let an end of the call come behind all that was due before it, on whichever leg", () => {
    const scene = transferring()
    const end = Sample.event(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, t0 + 30_000)
    const ended = hear(scene, end, t0 + 30_000)
    expect(ofLegs(ended).legs).toStrictEqual([
      [t0 + 1_000, false],
      [null, true]
    ])
    expect(Sample.types(ended).slice(-3)).toStrictEqual(["call.transfer_failed", "call.playback_ended", "call.ended"])
    expect(ended.state.seq).toBe(scene.state.seq + 1)
  })

  it("let a limit of the call end it for both", () => {
    const scene = transferring()
    const { legs } = Sample.send(
      scene,
      {
        type: "carrier",
        event: Sample.event(scene, { type: "answered", resume: null }, t0 + 90_000, Sample.transferLeg(scene))
      },
      t0 + 90_000
    ).state
    expect(legs.map(({ endReason }) => endReason)).toStrictEqual(["balance_exhausted", "timeout"])
  })
})
