import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { InboundSimulator } from "../../../src/carrier/InboundSimulator.ts"
import * as SimulatedLine from "../../../src/carrier/simulator/SimulatedLine.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import { Outside, type Plain } from "../CarrierBench.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"
import { RecordingSink } from "../RecordingSink.ts"
import * as Media from "../../media/support/MediaSample.ts"
import * as SimulatedWorld from "./SimulatedWorld.ts"

const owned = "+12025550160"

const world = (maxLegs?: number) => Layer.provideMerge(SimulatedWorld.layer(maxLegs), RecordingSink.layer)

const bench = Effect.gen(function* () {
  const carrier = yield* Carrier
  const sink = yield* RecordingSink
  let commands = 0
  const send = (legId: LegId, command: Plain) =>
    carrier.interpret(
      "simulator",
      Sample.order({ ...command, commandId: Ids.command(`c${++commands}`), callId: Ids.call("call"), legId })
    )
  return {
    sink,
    send,
    elapse: (yield* Outside).elapse,
    simulateInbound: (yield* InboundSimulator).simulateInbound,
    presence: (legId: LegId) => Sample.presence(carrier, "simulator", legId),
    dial: (to: string, legId = Ids.leg("leg"), more: { readonly callerIdName?: string } = {}) =>
      carrier.interpret(
        "simulator",
        Sample.order({
          type: "dial",
          commandId: Ids.command(`dial ${legId}`),
          callId: Ids.call("call"),
          legId,
          tenantId: Ids.tenant("t"),
          routeId: Ids.route("r"),
          from: "+12025550190",
          to,
          ...more
        })
      ),
    hangup: (legId: LegId) => send(legId, { type: "hangup", origin: null, resume: null }),
    /** Formats `type@ms since the start`, with the digit of a dtmf and the cause of an end. */
    story: (legId: LegId) =>
      sink.told.flatMap(({ event }) => {
        if (event.legId !== legId) return []
        const what =
          event.type === "media"
            ? event.event.type === "dtmf"
              ? `dtmf ${event.event.digit}`
              : `${event.event.id} ${event.event.type === "ended" ? event.event.status : event.event.type}`
            : event.type === "ended"
              ? `ended ${event.cause} ${event.sipStatus} ${event.by}`
              : event.type
        return [`${what} @${event.at}`]
      })
  }
})

const untimed = (story: ReadonlyArray<string>) => story.map((line) => line.replace(/ @.*/, ""))

describe("Simulated phones", () => {
  const stories: ReadonlyArray<readonly [number: string, ms: number, ...story: ReadonlyArray<string>]> = [
    ["+12025550100", 70_000, "ringing @200", "answered @1000"],
    ["+12025550101", 5000, "ended final_response 486 far @300"],
    ["+12025550102", 70_000, "ringing @200"],
    ["+12025550103", 5000, "ringing @200", "ended final_response 603 far @1000"],
    ["+12025550104", 10_000, "ringing @200", "answered @1000"],
    ["+12025550106", 9000, "ringing @200", "answered @1000", "ended hangup null far @6000"],
    ["+12025550107", 5000, "ended no_route null network @100"],
    ["+12025550108", 5000, "ended error null network @100"],
    ["+12025550109", 25_000, "ringing @200", "answered @20000"],
    ["+12025550112", 14_000, "ringing @200", "answered @1000"],
    ["+12025550117", 25_000, "ringing @200", "answered @1000", "ended hangup null far @21000"],
    ["+12025550118", 5000, "early_media @200", "answered @3000"]
  ]
  for (const [number, ms, ...story] of stories)
    it.effect(`${number}: ${story.join(", ")}`, () =>
      Effect.gen(function* () {
        const use = yield* bench
        yield* use.dial(number)
        yield* use.elapse(ms)
        expect(use.story(Ids.leg("leg"))).toStrictEqual(story)
      }).pipe(Effect.provide(world()))
    )

  it.effect("+12025550105 presses 1234# two seconds after its answer and every five seconds", () =>
    Effect.gen(function* () {
      const use = yield* bench
      yield* use.dial("+12025550105")
      yield* use.elapse(2900)
      expect(use.story(Ids.leg("leg"))).toStrictEqual(["ringing @200", "answered @1000"])
      yield* use.elapse(1200)
      const once = ["dtmf 1", "dtmf 2", "dtmf 3", "dtmf 4", "dtmf #"]
      expect(untimed(use.story(Ids.leg("leg"))).slice(2)).toStrictEqual(once)
      yield* use.elapse(5000)
      expect(untimed(use.story(Ids.leg("leg"))).slice(2)).toStrictEqual([...once, ...once])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a leg that the media plane has no room for ends with an error", () =>
    Effect.gen(function* () {
      const use = yield* bench
      yield* use.dial("+12025550100", Ids.leg("one"))
      yield* use.dial("+12025550100", Ids.leg("two"))
      yield* use.elapse(2000)
      expect(untimed(use.story(Ids.leg("two")))).toStrictEqual(["ringing", "ended error null network"])
      yield* use.hangup(Ids.leg("one"))
      yield* use.elapse(100)
      yield* use.dial("+12025550100", Ids.leg("three"))
      yield* use.elapse(2000)
      expect(untimed(use.story(Ids.leg("three")))).toStrictEqual(["ringing", "answered"])
    }).pipe(Effect.provide(world(1)))
  )

  it.effect("a leg whose call does not follow ends with an error, not in memory without end", () =>
    Effect.gen(function* () {
      const use = yield* bench
      const slow = yield* Deferred.make<void>()
      use.sink.commit(({ event }) =>
        event.type === "ringing" ? Effect.as(Deferred.await(slow), "committed") : Effect.succeed("committed")
      )
      yield* use.dial("+12025550102")
      yield* use.elapse(300)
      for (let i = 0; i <= SimulatedLine.mailboxRoom; i++) yield* use.send(Ids.leg("leg"), { type: "ring" })
      yield* Deferred.succeed(slow, undefined)
      yield* use.elapse(100)
      expect(untimed(use.story(Ids.leg("leg")))).toStrictEqual(["ringing", "ended error null network"])
    }).pipe(Effect.provide(world()))
  )
})

describe("A simulated phone that is referred", () => {
  const referred = Effect.fnUntraced(function* (number: string, to: string) {
    const use = yield* bench
    yield* use.dial(number)
    yield* use.elapse(2000)
    yield* use.send(Ids.leg("leg"), { type: "refer", to: `sip:${to}@anywhere` })
    yield* use.elapse(200)
    return {
      ...use,
      outcomes: () =>
        use.sink.of(Ids.leg("leg")).flatMap((report) => {
          return report.type === "referred" ? [`${report.status} ${report.sipStatus ?? "-"}`] : []
        })
    }
  })

  for (const [to, outcome] of [
    ["+12025550100", "completed 200"],
    ["+12025550101", "failed 486"],
    ["+12025550103", "failed 603"],
    ["+12025550107", "failed 404"],
    ["+12025550108", "failed 503"]
  ] as const)
    it.effect(`to ${to} reports what that number does: ${outcome}`, () =>
      Effect.gen(function* () {
        const { elapse, outcomes } = yield* referred("+12025550100", to)
        yield* elapse(2000)
        expect(outcomes()).toStrictEqual(["accepted 202", outcome])
      }).pipe(Effect.provide(world()))
    )

  for (const [number, to] of [
    ["+12025550120", "+12025550100"],
    ["+12025550100", "+12025550102"]
  ] as const)
    it.effect(`is not waited for for ever: ${number} to ${to}`, () =>
      Effect.gen(function* () {
        const { elapse, outcomes } = yield* referred(number, to)
        yield* elapse(179_000)
        expect(outcomes()).toStrictEqual(["accepted 202"])
        yield* elapse(1000)
        expect(outcomes()).toStrictEqual(["accepted 202", "failed -"])
      }).pipe(Effect.provide(world()))
    )

  it.effect("to a tenant calls there, and has what the tenant does with the call", () =>
    Effect.gen(function* () {
      const { elapse, outcomes, send, sink } = yield* referred("+12025550100", owned)
      const offer = sink.offers[0]
      expect.assert(offer !== undefined)
      expect([offer.from, offer.to]).toStrictEqual(["+12025550100", owned])
      expect(outcomes()).toStrictEqual(["accepted 202"])
      yield* send(offer.legId, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* elapse(100)
      expect(outcomes()).toStrictEqual(["accepted 202", "completed 200"])
      yield* send(Ids.leg("leg"), { type: "refer", to: `sip:${owned}@anywhere` })
      yield* elapse(100)
      const second = sink.offers[1]
      expect.assert(second !== undefined)
      yield* send(second.legId, { type: "reject", cause: "user_busy", resume: null })
      yield* elapse(100)
      expect(outcomes().slice(2)).toStrictEqual(["accepted 202", "failed 486"])
      sink.admit(() => Effect.succeed({ admitted: false, cause: "not_found" }))
      yield* send(Ids.leg("leg"), { type: "refer", to: `sip:${owned}@anywhere` })
      yield* elapse(100)
      expect(outcomes().slice(4)).toStrictEqual(["accepted 202", "failed 404"])
    }).pipe(Effect.provide(world()))
  )
})

describe("Calls between tenants", () => {
  const ring = Effect.gen(function* () {
    const use = yield* bench
    yield* use.dial(owned)
    yield* use.elapse(100)
    const offer = use.sink.offers[0]
    expect.assert(offer !== undefined)
    return { ...use, offer, callee: offer.legId }
  })

  it.effect("the name of the calling number comes with the call, as a trunk would bring it", () =>
    Effect.gen(function* () {
      const use = yield* bench
      yield* use.dial(owned, Ids.leg("leg"), { callerIdName: "Ada" })
      yield* use.elapse(100)
      expect(use.sink.offers[0]?.identity).toMatchObject({ from: { user: "+12025550190", name: "Ada" } })
    }).pipe(Effect.provide(world()))
  )

  it.effect("an owned number rings there, is answered there, and digits cross", () =>
    Effect.gen(function* () {
      const { callee, elapse, hangup, offer, send, sink, story } = yield* ring
      expect([offer.from, offer.to, offer.adapter]).toStrictEqual(["+12025550190", owned, "simulator"])
      expect(story(Ids.leg("leg"))).toStrictEqual([])
      yield* send(callee, { type: "ring" })
      yield* elapse(3000)
      expect(untimed(story(Ids.leg("leg")))).toStrictEqual(["ringing"])
      yield* send(callee, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* elapse(100)
      expect(untimed(story(Ids.leg("leg")))).toStrictEqual(["ringing", "answered"])
      expect(untimed(story(callee))).toStrictEqual(["answered"])
      yield* send(Ids.leg("leg"), {
        type: "media",
        tenantId: Ids.tenant("tenant"),
        media: Media.dtmf(Ids.work("digits"), "42")
      })
      yield* elapse(1000)
      expect(untimed(story(callee))).toStrictEqual(["answered", "dtmf 4", "dtmf 2"])
      yield* hangup(callee)
      yield* elapse(100)
      expect(untimed(story(callee)).at(-1)).toBe("ended hangup null near")
      expect(untimed(story(Ids.leg("leg"))).at(-1)).toBe("ended hangup null far")
      expect(
        sink.told.every(({ callId, event }) => callId === (event.legId === "leg" ? "call" : `call of ${callee}`))
      ).toBe(true)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a leg that is joined to a tenant's is bridged like any other", () =>
    Effect.gen(function* () {
      const { callee, dial, elapse, send, story } = yield* ring
      yield* send(callee, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* dial("+12025550100", Ids.leg("third"))
      yield* elapse(2000)
      yield* send(Ids.leg("leg"), { type: "bridge", peerLegId: Ids.leg("third"), peerCallId: Ids.call("call") })
      yield* elapse(100)
      // The callee sends it to the third party, which sends it back.
      yield* send(callee, {
        type: "media",
        tenantId: Ids.tenant("tenant"),
        media: Media.dtmf(Ids.work("digits"), "7")
      })
      yield* elapse(1000)
      expect(untimed(story(Ids.leg("third"))).slice(0, 4)).toStrictEqual(["ringing", "answered", "bridged", "dtmf 7"])
      expect(untimed(story(callee))).toContain("dtmf 7")
      yield* send(callee, { type: "hangup", origin: null, resume: null })
      yield* elapse(100)
      expect(untimed(story(Ids.leg("third"))).at(-1)).toBe("unbridged")
      expect(untimed(story(Ids.leg("leg"))).at(-1)).toBe("ended hangup null far")
    }).pipe(Effect.provide(world()))
  )

  it.effect("a caller that hangs up early leaves a cancelled call behind", () =>
    Effect.gen(function* () {
      const { callee, elapse, hangup, presence, story } = yield* ring
      yield* hangup(Ids.leg("leg"))
      yield* elapse(100)
      expect(untimed(story(Ids.leg("leg")))).toStrictEqual(["ended cancelled 487 near"])
      expect(untimed(story(callee))).toStrictEqual(["ended cancelled 487 far"])
      expect(yield* presence(callee)).toBe("gone")
    }).pipe(Effect.provide(world()))
  )

  it.effect("the refusal of the callee reaches the caller", () =>
    Effect.gen(function* () {
      const { callee, elapse, send, story } = yield* ring
      yield* send(callee, { type: "reject", cause: "user_busy", resume: null })
      yield* elapse(100)
      expect(untimed(story(Ids.leg("leg")))).toStrictEqual(["ended final_response 486 far"])
      expect(untimed(story(callee))).toStrictEqual(["ended final_response 486 near"])
    }).pipe(Effect.provide(world()))
  )

  for (const [cause, end] of [
    ["not_found", "ended no_route null network"],
    ["user_busy", "ended final_response 486 far"],
    ["unavailable", "ended final_response 503 far"]
  ] as const)
    it.effect(`a callee that is not admitted (${cause}) ends the caller: ${end}`, () =>
      Effect.gen(function* () {
        const use = yield* bench
        use.sink.admit(() => Effect.succeed({ admitted: false, cause }))
        yield* use.dial("+4930123456")
        yield* use.elapse(100)
        expect(untimed(use.story(Ids.leg("leg")))).toStrictEqual([end])
        expect(use.sink.told.length).toBe(1)
      }).pipe(Effect.provide(world()))
    )

  it.effect("commands that come before the admission's answer wait for it", () =>
    Effect.gen(function* () {
      const use = yield* bench
      const committed = yield* Deferred.make<void>()
      use.sink.admit(({ legId }) =>
        Effect.gen(function* () {
          yield* use.send(legId, { type: "ring" })
          yield* use.send(legId, { type: "answer", tenantId: Ids.tenant("tenant") })
          yield* Deferred.await(committed)
          return { admitted: true, callId: Ids.call("theirs"), routeId: null }
        })
      )
      yield* use.dial(owned)
      yield* use.elapse(1000)
      expect(use.sink.told).toStrictEqual([])
      yield* Deferred.succeed(committed, undefined)
      yield* use.elapse(100)
      expect(untimed(use.story(Ids.leg("leg")))).toStrictEqual(["ringing", "answered"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a leg that no call owns hangs up, also at its other end", () =>
    Effect.gen(function* () {
      const { callee, elapse, presence, send, sink, story } = yield* ring
      sink.commit(({ event }) => (event.legId === callee ? Effect.succeed("unknown") : Effect.succeed("committed")))
      yield* send(callee, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* elapse(100)
      expect(untimed(story(Ids.leg("leg")))).toStrictEqual(["answered", "ended hangup null far"])
      expect(yield* presence(callee)).toBe("gone")
    }).pipe(Effect.provide(world()))
  )
})

describe("Simulated callers", () => {
  it.effect("hang up a minute after the answer", () =>
    Effect.gen(function* () {
      const use = yield* bench
      const admission = yield* use.simulateInbound({ from: "+12025550191", to: owned })
      const leg = use.sink.offers[0]?.legId ?? Ids.leg("")
      expect(admission).toStrictEqual({ admitted: true, callId: Ids.call(`call of ${leg}`), routeId: null })
      yield* use.elapse(1000)
      yield* use.send(leg, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* use.elapse(100)
      yield* use.send(leg, {
        type: "media",
        tenantId: Ids.tenant("tenant"),
        media: Media.dtmf(Ids.work("digits"), "9")
      })
      yield* use.elapse(61_000)
      expect(untimed(use.story(leg))).toStrictEqual(["answered", "dtmf 9", "digits completed", "ended hangup null far"])
      expect(use.sink.told.at(-1)?.event.at).toBe(61_000)
    }).pipe(Effect.provide(world()))
  )

  it.effect("say, press and hang up as they are told, one after the other", () =>
    Effect.gen(function* () {
      const use = yield* bench
      // Two seconds of sound at another rate than that of the phone.
      const speech = { rate: 8_000, samples: new Int16Array(16_000).fill(1_000) }
      yield* use.simulateInbound({
        from: "+12025550191",
        to: owned,
        acts: { speech, digits: "1w2W#", hangUpAfterMs: 9_000 }
      })
      const leg = use.sink.offers[0]?.legId ?? Ids.leg("")
      yield* use.elapse(1000)
      yield* use.send(leg, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* use.elapse(10_000)
      const story = use.story(leg).map((each) => each.split(" @"))
      expect(story.map(([what]) => what)).toStrictEqual([
        "answered",
        "dtmf 1",
        "dtmf 2",
        "dtmf #",
        "ended hangup null far"
      ])
      const [answered = 0, ...times] = story.map(([, at]) => Number(at))
      const expected = [4_000, 4_700, 5_900, 9_000]
      for (const [index, at] of times.entries())
        expect(Math.abs(at - answered - (expected[index] ?? 0))).toBeLessThan(60)
    }).pipe(Effect.provide(world()))
  )

  it.effect("echo as long as they are told, when that is all", () =>
    Effect.gen(function* () {
      const use = yield* bench
      const acts = { speech: null, digits: "", hangUpAfterMs: 2_000 }
      yield* use.simulateInbound({ from: "+12025550191", to: owned, acts })
      const leg = use.sink.offers[0]?.legId ?? Ids.leg("")
      yield* use.send(leg, { type: "answer", tenantId: Ids.tenant("tenant") })
      yield* use.elapse(100)
      yield* use.send(leg, { type: "media", tenantId: Ids.tenant("tenant"), media: Media.dtmf(Ids.work("d"), "9") })
      yield* use.elapse(2_500)
      expect(untimed(use.story(leg))).toStrictEqual(["answered", "dtmf 9", "d completed", "ended hangup null far"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("give up after a minute of ringing", () =>
    Effect.gen(function* () {
      const use = yield* bench
      yield* use.simulateInbound({ from: "+12025550191", to: owned })
      const leg = use.sink.offers[0]?.legId ?? Ids.leg("")
      yield* use.elapse(60_100)
      expect(use.story(leg)).toStrictEqual(["ended cancelled 487 far @60000"])
    }).pipe(Effect.provide(world()))
  )

  it.effect("are told why they are not admitted, and that admission died", () =>
    Effect.gen(function* () {
      const use = yield* bench
      use.sink.admit(() => Effect.succeed({ admitted: false, cause: "not_found" }))
      const call = { from: "+12025550191", to: "+12025550170" }
      expect(yield* use.simulateInbound(call)).toStrictEqual({ admitted: false, cause: "not_found" })
      use.sink.admit(() => Effect.die("the database is gone"))
      const fiber = yield* Effect.forkChild(use.simulateInbound(call))
      expect(yield* Fiber.join(fiber)).toStrictEqual({ admitted: false, cause: "unavailable" })
    }).pipe(Effect.provide(world()))
  )
})
