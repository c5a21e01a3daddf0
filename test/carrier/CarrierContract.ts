import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import type { CarrierEvent, LegReport } from "../../src/carrier/Carrier.ts"
import type { LegId } from "../../src/domain/Id.ts"
import type { MediaCommand } from "../../src/ports/media/MediaMessage.ts"
import * as Media from "../media/support/MediaSample.ts"
import * as Ids from "../support/Ids.ts"
import * as CarrierBench from "./CarrierBench.ts"
import type { Plain, Subject } from "./CarrierBench.ts"
import * as RoomContract from "./RoomContract.ts"

type Report = LegReport
const hangup: Plain = { type: "hangup", origin: null, resume: null }
const types = (reports: ReadonlyArray<Report>) => reports.map(({ type }) => type)
const ofType = <Type extends CarrierEvent["type"]>(reports: ReadonlyArray<Report>, type: Type) =>
  reports.filter((report): report is Extract<CarrierEvent, { readonly type: Type }> => report.type === type)
const mediaOf = (reports: ReadonlyArray<Report>) => ofType(reports, "media").map(({ event }) => event)
const endedWork = (reports: ReadonlyArray<Report>) => mediaOf(reports).filter((event) => event.type === "ended")
const bridge = (peerLegId: LegId): Plain => ({
  type: "bridge",
  peerLegId,
  peerCallId: Ids.call(`call of ${peerLegId}`)
})
const unbridge: Plain = { type: "unbridge" }
const bridgedWith = (peerLegId: LegId) => ({
  type: "bridged",
  peerLegId,
  peerCallId: Ids.call(`call of ${peerLegId}`)
})
const partedFrom = (peerLegId: LegId, peerEnded = false) => ({ type: "unbridged", peerLegId, peerEnded })
/** The reports of bridges, and of commands that failed. */
const bridges = (reports: ReadonlyArray<Report>) =>
  reports.filter(({ type }) => type === "bridged" || type === "unbridged" || type === "command_failed")
const failures = (reports: ReadonlyArray<Report>) => ofType(reports, "command_failed").map(({ reason }) => reason)
const pressed = (reports: ReadonlyArray<Report>) => mediaOf(reports).filter(({ type }) => type === "dtmf").length
const media = (command: MediaCommand): Plain => ({ type: "media", tenantId: Ids.tenant("tenant"), media: command })
const endOf = (reports: ReadonlyArray<Report>) => {
  const [end, ...more] = ofType(reports, "ended")
  expect(more.length, "a leg ends once").toBe(0)
  expect.assert(end !== undefined, "the leg has ended")
  expect(reports.at(-1)?.type, "nothing follows the end").toBe("ended")
  return { cause: end.cause, sipStatus: end.sipStatus, by: end.by }
}

/** The common behaviour of all adapters of the carrier port, whatever their implementation. */
export const describeCarrier = (name: string, subject: Subject): void => {
  const contract = CarrierBench.contractOf(subject)

  describe(`${name}, as a carrier`, () => {
    contract(
      "a dialled leg rings, is answered, and ends once when we hang up",
      ({ dial, elapse, presence, send, sink }) =>
        Effect.gen(function* () {
          const leg = yield* dial(subject.phones.answers)
          expect(yield* presence(leg)).toBe("alive")
          yield* elapse(3000)
          expect(types(sink.of(leg))).toStrictEqual(["ringing", "answered"])
          yield* send(leg, hangup)
          yield* send(leg, hangup)
          yield* elapse(1000)
          expect(endOf(sink.of(leg))).toStrictEqual({ cause: "hangup", sipStatus: null, by: "near" })
          expect(yield* presence(leg)).toBe("gone")
          const times = sink.told.map(({ event }) => event.at)
          expect(times).toStrictEqual(times.toSorted((a, b) => a - b))
          expect(sink.told.every(({ callId }) => callId === `call of ${leg}`)).toBe(true)
        })
    )

    contract("a busy phone ends the leg with 486", ({ dial, elapse, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.busy)
        yield* elapse(3000)
        expect(endOf(sink.of(leg))).toStrictEqual({ cause: "final_response", sipStatus: 486, by: "far" })
        expect(types(sink.of(leg))).not.toContain("answered")
      })
    )

    contract("a phone that rejects ends the leg with its refusal", ({ dial, elapse, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.rejects)
        yield* elapse(3000)
        const { by, cause, sipStatus } = endOf(sink.of(leg))
        expect({ cause, by }).toStrictEqual({ cause: "final_response", by: "far" })
        expect([403, 603]).toContain(sipStatus)
      })
    )

    contract("a leg that is hung up while it rings is cancelled", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.silent)
        yield* elapse(20_000)
        expect(types(sink.of(leg))).toStrictEqual(["ringing"])
        yield* send(leg, hangup)
        yield* elapse(1000)
        expect(types(sink.of(leg))).toStrictEqual(["ringing", "ended"])
        const { by, cause } = endOf(sink.of(leg))
        expect({ cause, by }).toStrictEqual({ cause: "cancelled", by: "near" })
      })
    )

    contract("a leg that is hung up as it is dialled ends all the same", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* send(leg, hangup)
        yield* elapse(5000)
        expect(endOf(sink.of(leg)).by).toBe("near")
        expect(types(sink.of(leg))).not.toContain("answered")
      })
    )

    contract("a phone that hangs up ends the leg", ({ dial, elapse, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.hangsUp.number)
        yield* elapse(subject.hangsUp.withinMs)
        expect(types(sink.of(leg))).toStrictEqual(["ringing", "answered", "ended"])
        expect(endOf(sink.of(leg))).toStrictEqual({ cause: "hangup", sipStatus: null, by: "far" })
      })
    )

    contract("an inbound leg is offered, answered and hung up", ({ callIn, elapse, presence, send, sink }) =>
      Effect.gen(function* () {
        const { adapter, from, legId, to } = yield* callIn
        expect({ adapter, from, to }).toStrictEqual({
          adapter: subject.adapter,
          from: "+12025550191",
          to: "+12025550160"
        })
        yield* send(legId, { type: "ring" })
        yield* elapse(500)
        expect(sink.of(legId)).toStrictEqual([])
        expect(yield* presence(legId)).toBe("alive")
        yield* send(legId, { type: "answer", tenantId: Ids.tenant("tenant") })
        yield* send(legId, { type: "answer", tenantId: Ids.tenant("tenant") })
        yield* elapse(1000)
        expect(types(sink.of(legId))).toStrictEqual(["answered"])
        yield* send(legId, hangup)
        yield* elapse(1000)
        expect(endOf(sink.of(legId))).toStrictEqual({ cause: "hangup", sipStatus: null, by: "near" })
      })
    )

    for (const [cause, sipStatus] of [
      ["user_busy", 486],
      ["rejected", 603],
      ["no_answer", 480]
    ] as const)
      contract(`an inbound leg is refused as ${cause} with ${sipStatus}`, ({ callIn, elapse, send, sink }) =>
        Effect.gen(function* () {
          const { legId, resume } = yield* callIn
          yield* send(legId, { type: "reject", cause, resume })
          yield* elapse(1000)
          expect(endOf(sink.of(legId))).toStrictEqual({ cause: "final_response", sipStatus, by: "near" })
        })
      )

    contract("an inbound leg that is hung up before its answer is refused", ({ callIn, elapse, send, sink }) =>
      Effect.gen(function* () {
        const { legId } = yield* callIn
        yield* send(legId, hangup)
        yield* elapse(1000)
        expect(endOf(sink.of(legId))).toStrictEqual({ cause: "final_response", sipStatus: 480, by: "near" })
      })
    )

    contract("nothing is told of an inbound leg that was not admitted", ({ callIn, elapse, presence, sink }) =>
      Effect.gen(function* () {
        sink.admit(() => Effect.succeed({ admitted: false, cause: "not_found" }))
        const { legId } = yield* callIn
        yield* elapse(1000)
        expect(sink.told).toStrictEqual([])
        expect(yield* presence(legId)).toBe("gone")
      })
    )

    contract("a sound is played to its end, and the next one after it", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* elapse(3000)
        yield* send(leg, media(Media.play(Ids.work("one"), subject.sounds.good, 2)))
        yield* send(leg, media(Media.play(Ids.work("two"), subject.sounds.missing)))
        yield* send(leg, media(Media.play(Ids.work("three"), subject.sounds.good)))
        yield* elapse(6000)
        const ended = endedWork(sink.of(leg))
        const outcome = (id: string) =>
          ended.filter((each) => each.id === id).map(({ reason, status }) => [status, reason])
        expect(outcome("one")).toStrictEqual([["completed", null]])
        expect(outcome("two")).toStrictEqual([["failed", "http_404"]])
        expect(outcome("three")).toStrictEqual([["completed", null]])
        expect(ended.findIndex(({ id }) => id === "one")).toBeLessThan(ended.findIndex(({ id }) => id === "three"))
      })
    )

    contract("speech is heard in the queue of playbacks, to its end", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* elapse(3000)
        yield* send(leg, media(Media.speak(Ids.work("said"), "Hello and welcome.")))
        yield* send(leg, media(Media.speak(Ids.work("broken"), "fail at once")))
        yield* send(leg, media(Media.play(Ids.work("played"), subject.sounds.good)))
        yield* elapse(4000)
        expect(endedWork(sink.of(leg)).map(({ id, reason, status }) => [id, status, reason])).toStrictEqual([
          ["broken", "failed", "speech_failed"],
          ["said", "completed", null],
          ["played", "completed", null]
        ])
      })
    )

    contract("a prompt cuts what plays and waits, and is cut alone", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* elapse(3000)
        yield* send(leg, media(Media.play(Ids.work("one"), subject.sounds.good, 100)))
        yield* send(leg, media(Media.speak(Ids.work("two"), "Hello and welcome.")))
        yield* elapse(500)
        yield* send(leg, media(Media.prompt(Ids.work("prompt"), "Please press a digit.")))
        yield* send(leg, media(Media.speak(Ids.work("three"), "Bye.")))
        yield* elapse(200)
        yield* send(leg, media({ type: "stop_prompt", promptId: Ids.work("prompt") }))
        yield* send(leg, media({ type: "stop_prompt", promptId: Ids.work("prompt") }))
        yield* elapse(1000)
        expect(endedWork(sink.of(leg)).map(({ id, status }) => [id, status])).toStrictEqual([
          ["one", "stopped"],
          ["two", "stopped"],
          ["prompt", "stopped"],
          ["three", "completed"]
        ])
      })
    )

    contract("playback stops when it is told to", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* elapse(3000)
        yield* send(leg, media(Media.play(Ids.work("one"), subject.sounds.good, 100)))
        yield* send(leg, media(Media.play(Ids.work("two"), subject.sounds.good, 100)))
        yield* elapse(1000)
        yield* send(leg, media(Media.stopPlayback))
        yield* send(leg, media(Media.stopPlayback))
        yield* elapse(1000)
        expect(endedWork(sink.of(leg)).map(({ id, status }) => [id, status])).toStrictEqual([
          ["one", "stopped"],
          ["two", "stopped"]
        ])
      })
    )

    contract("digits are sent, and come in one by one", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.answers)
        yield* elapse(3000)
        yield* send(leg, media(Media.dtmf(Ids.work("digits"), "12#")))
        yield* elapse(2000)
        expect(mediaOf(sink.of(leg)).flatMap((event) => (event.type === "dtmf" ? [event.digit] : []))).toStrictEqual([
          "1",
          "2",
          "#"
        ])
        expect(endedWork(sink.of(leg))).toStrictEqual([Media.completed(Ids.work("digits"))])
        yield* send(leg, media(Media.dtmf(Ids.work("wrong"), "not digits")))
        yield* elapse(1000)
        expect(endedWork(sink.of(leg)).at(-1)).toStrictEqual(Media.failed(Ids.work("wrong"), "invalid_digits"))
      })
    )

    contract("sound and digits for a leg that nobody answered fail", ({ dial, elapse, send, sink }) =>
      Effect.gen(function* () {
        const leg = yield* dial(subject.phones.silent)
        yield* elapse(1000)
        yield* send(leg, media(Media.play(Ids.work("one"), subject.sounds.good)))
        yield* send(leg, media(Media.dtmf(Ids.work("one digit"), "1")))
        yield* send(leg, media(Media.stopPlayback))
        yield* elapse(1000)
        expect(types(sink.of(leg)).toSorted()).toStrictEqual([
          "command_failed",
          "command_failed",
          "command_failed",
          "ringing"
        ])
        yield* send(leg, hangup)
        yield* elapse(1000)
      })
    )

    contract("events of a leg are numbered from one, without a gap, and name its life of the carrier", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.elapse(3000)
        yield* use.send(leg, media(Media.dtmf(Ids.work("d"), "12")))
        yield* use.elapse(2000)
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        const told = use.sink.told.filter(({ event }) => event.legId === leg).map(({ event }) => event)
        expect(told.length).toBeGreaterThan(4)
        expect(told.map(({ n }) => n)).toStrictEqual(told.map((_, index) => index + 1))
        expect(new Set(told.map(({ incarnation }) => incarnation))).toStrictEqual(new Set([use.incarnation()]))
      })
    )

    contract("what is not committed is told again under its number, and nothing overtakes it", (use) =>
      Effect.gen(function* () {
        let faults = 3
        use.sink.commit(() => Effect.sync(() => (faults-- > 0 ? "fault" : "committed")))
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.elapse(8000)
        const numbers = use.sink.told.filter(({ event }) => event.legId === leg).map(({ event }) => event.n)
        expect(numbers).toStrictEqual([1, 1, 1, 1, 2])
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a command that is sent again is not applied again", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.again
        yield* use.elapse(3000)
        yield* use.send(leg, media(Media.dtmf(Ids.work("d"), "1")))
        yield* use.again
        yield* use.again
        yield* use.elapse(2000)
        expect(ofType(use.sink.of(leg), "answered").length).toBe(1)
        const heard = mediaOf(use.sink.of(leg))
        expect(heard.map(({ type }) => type).toSorted()).toStrictEqual(["dtmf", "ended"])
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        yield* use.again
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        expect(endOf(use.sink.of(leg)).by).toBe("near")
      })
    )

    contract("an owner that was replaced is not obeyed any more", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.elapse(3000)
        yield* use.takeOver
        yield* use.send(leg, hangup)
        yield* use.elapse(2000)
        expect(types(use.sink.of(leg))).toStrictEqual(["ringing", "answered"])
        yield* use.asNewOwner(leg, hangup)
        yield* use.elapse(1000)
        expect(endOf(use.sink.of(leg)).by).toBe("near")
      })
    )

    contract("a snapshot says of each leg where it stands, how far its events are, and since when", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.answers, Ids.leg("one"))
        const other = yield* use.dial(subject.phones.silent, Ids.leg("two"))
        yield* use.elapse(4000)
        const all = yield* use.snapshot(null)
        expect(all?.incarnation).toBe(use.incarnation())
        expect(Object.keys(all?.legs ?? {}).toSorted()).toStrictEqual([leg, other])
        const [talking, ringing] = [all?.legs[leg], all?.legs[other]]
        expect([talking?.state, talking?.n]).toStrictEqual(["answered", 2])
        expect([ringing?.state, ringing?.n, ringing?.answeredMs]).toStrictEqual(["alerting", 1, null])
        expect(talking?.ageMs ?? 0).toBeGreaterThanOrEqual(3000)
        expect(talking?.answeredMs ?? 0).toBeGreaterThanOrEqual(1000)
        expect(talking?.answeredMs ?? 0).toBeLessThan(talking?.ageMs ?? 0)
        expect(Object.keys((yield* use.snapshot([other, Ids.leg("nobody")]))?.legs ?? {})).toStrictEqual([other])
        for (const each of [leg, other]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
        expect((yield* use.snapshot(null))?.legs).toStrictEqual({})
      })
    )

    contract("a leg whose end is not committed yet is still there, as over", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.elapse(3000)
        use.sink.commit(() => Effect.succeed("fault"))
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        const through = yield* Effect.forkChild(use.caughtUp(leg))
        const facts = (yield* use.snapshot([leg]))?.legs[leg]
        expect([facts?.state, facts?.n]).toStrictEqual(["over", 3])
        expect(through.pollUnsafe()).toBeUndefined()
        use.sink.commit(() => Effect.succeed("committed"))
        yield* use.elapse(4000)
        expect(through.pollUnsafe()).toBeDefined()
        expect(yield* use.presence(leg)).toBe("gone")
        expect((yield* use.snapshot([leg]))?.legs).toStrictEqual({})
      })
    )

    contract("what is asked of a leg behind its end fails, when that end is durable", (use) =>
      Effect.gen(function* () {
        const play = () => media(Media.play(Ids.work(`playback ${use.sink.told.length}`), subject.sounds.good))
        const leg = yield* use.dial(subject.phones.answers)
        yield* use.elapse(3000)
        use.sink.commit(() => Effect.succeed("fault"))
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        yield* use.send(leg, play())
        yield* use.elapse(100)
        expect(failures(use.sink.of(leg))).toStrictEqual([])
        use.sink.commit(() => Effect.succeed("committed"))
        yield* use.elapse(4000)
        expect(failures(use.sink.of(leg))).toStrictEqual(["unknown_leg"])
        yield* use.send(leg, play())
        yield* use.send(leg, hangup)
        yield* use.elapse(100)
        expect(failures(use.sink.of(leg))).toStrictEqual(["unknown_leg", "unknown_leg"])
        expect(use.sink.told.slice(-3).map(({ event }) => [event.type, event.n])).toStrictEqual([
          ["ended", 3],
          ["command_failed", 4],
          ["command_failed", 5]
        ])
      })
    )

    contract("two legs that are bridged hear each other, until they are parted", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        const { sink } = use
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        expect(bridges(sink.of(one))).toStrictEqual([bridgedWith(two)])
        expect(bridges(sink.of(two))).toStrictEqual([bridgedWith(one)])
        expect(sink.told.every(({ callId, event }) => callId === `call of ${event.legId}`)).toBe(true)
        const { peerCallId, peerLegId } = bridgedWith(two)
        expect((yield* use.snapshot([one]))?.legs[one]?.bridge).toStrictEqual({ peerLegId, peerCallId })
        expect((yield* use.snapshot([two]))?.legs[two]?.bridge?.peerLegId).toBe(one)
        // Both phones send back the digits that they receive, so the digit travels to and fro.
        yield* use.send(one, media(Media.dtmf(Ids.work("digit"), "5")))
        yield* use.elapse(2000)
        expect(pressed(sink.of(two))).toBeGreaterThan(0)
        expect(pressed(sink.of(one))).toBeGreaterThan(1)
        yield* use.send(two, unbridge)
        yield* use.send(one, unbridge)
        yield* use.elapse(1000)
        expect(bridges(sink.of(one))).toStrictEqual([bridgedWith(two), partedFrom(two)])
        expect(bridges(sink.of(two))).toStrictEqual([bridgedWith(one), partedFrom(one)])
        expect((yield* use.snapshot([one]))?.legs[one]).not.toHaveProperty("bridge")
        const before = pressed(sink.of(one)) + pressed(sink.of(two))
        yield* use.elapse(2000)
        expect(pressed(sink.of(one)) + pressed(sink.of(two))).toBe(before)
        for (const each of [one, two]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
        expect([endOf(sink.of(one)).by, endOf(sink.of(two)).by]).toStrictEqual(["near", "near"])
      })
    )

    contract("what a leg plays to the one that it is bridged with is told to its own call", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        const play = (name: string, target: "opposite" | "both") =>
          use.send(one, media(Media.play(Ids.work(name), subject.sounds.good, 1, target)))
        yield* play("early", "opposite")
        yield* use.elapse(500)
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        yield* play("there", "opposite")
        yield* play("both", "both")
        yield* use.elapse(5000)
        yield* play("cut", "opposite")
        yield* use.send(two, unbridge)
        yield* use.elapse(1000)
        expect(endedWork(use.sink.of(one))).toStrictEqual([
          Media.failed(Ids.work("early"), "not_bridged"),
          Media.completed(Ids.work("there")),
          Media.completed(Ids.work("both")),
          { ...Media.stopped(Ids.work("cut")), reason: "unbridged" }
        ])
        expect(endedWork(use.sink.of(two))).toStrictEqual([])
        for (const each of [one, two]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("when a bridged leg ends, the other one is told, and goes on", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        yield* use.send(two, hangup)
        yield* use.elapse(1000)
        expect(types(use.sink.of(two))).toStrictEqual(["ringing", "answered", "bridged", "ended"])
        expect(bridges(use.sink.of(one))).toStrictEqual([bridgedWith(two), partedFrom(two, true)])
        expect((yield* use.snapshot([one]))?.legs[one]).not.toHaveProperty("bridge")
        yield* use.send(one, media(Media.play(Ids.work("one"), subject.sounds.good)))
        yield* use.elapse(2000)
        expect(endedWork(use.sink.of(one))).toStrictEqual([Media.completed(Ids.work("one"))])
        yield* use.send(one, unbridge)
        yield* use.send(one, hangup)
        yield* use.elapse(1000)
        expect(bridges(use.sink.of(one)).length).toBe(2)
      })
    )

    contract("a bridge that both calls ask for, and ask for again, is told each time and stays", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        yield* use.send(one, bridge(two))
        yield* use.send(two, bridge(one))
        yield* use.again
        yield* use.elapse(500)
        expect(new Set(types(bridges(use.sink.of(one))))).toStrictEqual(new Set(["bridged"]))
        const before = use.sink.of(one).length
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        expect(bridges(use.sink.of(one)).at(-1)).toStrictEqual(bridgedWith(two))
        expect(use.sink.of(one).length).toBe(before + 1)
        expect(bridges(use.sink.of(two)).every(({ type }) => type === "bridged")).toBe(true)
        for (const each of [one, two]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a leg leaves its bridge for another one", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg(""), three = Ids.leg("")] = yield* use.talking("one", "two", "three")
        const { sink } = use
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        yield* use.send(one, bridge(three))
        yield* use.elapse(500)
        expect(bridges(sink.of(one))).toStrictEqual([bridgedWith(two), partedFrom(two), bridgedWith(three)])
        expect(bridges(sink.of(two))).toStrictEqual([bridgedWith(one), partedFrom(one)])
        expect(bridges(sink.of(three))).toStrictEqual([bridgedWith(one)])
        yield* use.send(one, media(Media.dtmf(Ids.work("digit"), "5")))
        yield* use.elapse(1000)
        expect([pressed(sink.of(two)), pressed(sink.of(three)) > 0]).toStrictEqual([0, true])
        for (const each of [one, two, three]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("of bridges that cross, the last one stands, and each of the others has its outcome", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg(""), three = Ids.leg("")] = yield* use.talking("one", "two", "three")
        const { sink } = use
        yield* use.send(one, bridge(two))
        yield* use.send(two, bridge(three))
        yield* use.elapse(0)
        yield* use.send(three, bridge(one))
        yield* use.elapse(500)
        const open = [one, two, three].map((leg) => {
          let stands: LegId | null = null
          for (const report of bridges(sink.of(leg)))
            if (report.type === "bridged") stands = report.peerLegId
            else if (report.type === "unbridged") stands = report.peerLegId === stands ? null : stands
          return stands
        })
        // Commands to three legs may arrive in any order.
        const pairs = open.filter((peer) => peer !== null)
        expect(pairs.length).toBe(2)
        const snapshot = yield* use.snapshot([one, two, three])
        expect([one, two, three].map((leg) => snapshot?.legs[leg]?.bridge?.peerLegId ?? null)).toStrictEqual(open)
        const outcomes = [one, two, three].flatMap((leg) => bridges(sink.of(leg)))
        expect(ofType(outcomes, "bridged").length / 2 + ofType(outcomes, "command_failed").length).toBe(3)
        for (const each of [one, two, three]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a bridge with a leg that is not answered, not there or itself fails, and changes nothing", (use) =>
      Effect.gen(function* () {
        const [one = Ids.leg(""), two = Ids.leg("")] = yield* use.talking("one", "two")
        const ringing = yield* use.dial(subject.phones.silent, Ids.leg("ringing"))
        yield* use.elapse(1000)
        yield* use.send(one, bridge(two))
        yield* use.elapse(500)
        yield* use.send(one, bridge(ringing))
        yield* use.send(one, bridge(Ids.leg("nobody")))
        yield* use.send(one, bridge(one))
        yield* use.send(ringing, bridge(one))
        yield* use.send(ringing, unbridge)
        yield* use.send(Ids.leg("nobody"), bridge(one))
        yield* use.send(Ids.leg("nobody"), unbridge)
        yield* use.elapse(500)
        expect(failures(use.sink.of(one))).toStrictEqual(["not_answered", "unknown_leg", "same_leg"])
        expect(failures(use.sink.of(ringing))).toStrictEqual(["not_answered"])
        expect(failures(use.sink.of(Ids.leg("nobody")))).toStrictEqual(["unknown_leg"])
        expect((yield* use.snapshot([one]))?.legs[one]?.bridge?.peerLegId).toBe(two)
        for (const each of [one, two, ringing]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    const refer = (to: string): Plain => ({ type: "refer", to: `sip:${to}@192.0.2.2` })
    const referrals = (reports: ReadonlyArray<Report>) =>
      ofType(reports, "referred").map(({ sipStatus, status }) => [status, sipStatus])

    contract("a peer that is referred says that it takes it, and what became of it", (use) =>
      Effect.gen(function* () {
        const [leg = Ids.leg("")] = yield* use.talking("one")
        yield* use.send(leg, refer(subject.phones.answers))
        yield* use.elapse(500)
        expect(referrals(use.sink.of(leg))).toStrictEqual([["accepted", 202]])
        yield* use.elapse(2000)
        expect(referrals(use.sink.of(leg)).slice(1)).toStrictEqual([["completed", 200]])
        yield* use.send(leg, refer(subject.phones.busy))
        yield* use.again
        yield* use.elapse(3000)
        expect(referrals(use.sink.of(leg)).slice(2)).toStrictEqual([
          ["accepted", 202],
          ["failed", 486]
        ])
        expect(new Set(ofType(use.sink.of(leg), "referred").map(({ commandId }) => commandId)).size).toBe(2)
        expect(yield* use.presence(leg)).toBe("alive")
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a peer that refuses to be referred has failed with its status", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.refusesReferral)
        yield* use.elapse(3000)
        yield* use.send(leg, refer(subject.phones.answers))
        yield* use.elapse(2000)
        expect(referrals(use.sink.of(leg))).toStrictEqual([["failed", 603]])
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a referral of a leg that is not answered, not here, or to no SIP address fails", (use) =>
      Effect.gen(function* () {
        const [leg = Ids.leg("")] = yield* use.talking("one")
        const ringing = yield* use.dial(subject.phones.silent, Ids.leg("ringing"))
        yield* use.elapse(1000)
        yield* use.send(ringing, refer(subject.phones.answers))
        yield* use.send(Ids.leg("nobody"), refer(subject.phones.answers))
        yield* use.send(leg, { type: "refer", to: "tel:+12025550100" })
        yield* use.elapse(500)
        expect(failures(use.sink.of(ringing))).toStrictEqual(["not_answered"])
        expect(failures(use.sink.of(Ids.leg("nobody")))).toStrictEqual(["unknown_leg"])
        expect(failures(use.sink.of(leg))).toStrictEqual(["invalid_address"])
        for (const each of [leg, ringing]) yield* use.send(each, hangup)
        yield* use.elapse(1000)
      })
    )

    contract("a peer that ends while it is referred tells its end, and nothing behind it", (use) =>
      Effect.gen(function* () {
        const [leg = Ids.leg("")] = yield* use.talking("one")
        yield* use.send(leg, refer(subject.phones.answers))
        yield* use.elapse(200)
        yield* use.send(leg, hangup)
        yield* use.elapse(5000)
        expect(types(use.sink.of(leg)).slice(2)).toStrictEqual(["referred", "ended"])
        endOf(use.sink.of(leg))
      })
    )

    contract("early media come before the answer; of a sound for the callee nothing is told", (use) =>
      Effect.gen(function* () {
        const leg = yield* use.dial(subject.phones.early, Ids.leg("leg"), { audioUrl: subject.sounds.good })
        yield* use.elapse(2000)
        expect(types(use.sink.of(leg))).toStrictEqual(["early_media"])
        yield* use.elapse(3000)
        expect(types(use.sink.of(leg))).toStrictEqual(["early_media", "answered"])
        yield* use.send(leg, media(Media.play(Ids.work("one"), subject.sounds.good)))
        yield* use.elapse(2000)
        expect(endedWork(use.sink.of(leg))).toStrictEqual([Media.completed(Ids.work("one"))])
        yield* use.send(leg, hangup)
        yield* use.elapse(1000)
        expect(endOf(use.sink.of(leg)).by).toBe("near")
      })
    )

    contract("a leg that this process never knew is lost as soon as it is to go", ({ elapse, presence, send, sink }) =>
      Effect.gen(function* () {
        expect(yield* presence(Ids.leg("nobody"))).toBe("gone")
        yield* send(Ids.leg("nobody"), hangup)
        yield* send(Ids.leg("nobody's caller"), { type: "reject", cause: "error", resume: null })
        yield* elapse(1000)
        for (const leg of ["nobody", "nobody's caller"].map(Ids.leg))
          expect(endOf(sink.of(leg))).toStrictEqual({ cause: "lost", sipStatus: null, by: "network" })
        yield* send(Ids.leg("elsewhere"), media(Media.play(Ids.work("one"), subject.sounds.good)))
        yield* send(Ids.leg("elsewhere"), media(Media.dtmf(Ids.work("one digit"), "1")))
        yield* elapse(1000)
        expect(types(sink.of(Ids.leg("elsewhere"))).toSorted()).toStrictEqual(["command_failed", "command_failed"])
      })
    )
  })

  RoomContract.describeRooms(name, subject)
}
