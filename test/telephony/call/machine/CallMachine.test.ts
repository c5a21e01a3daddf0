import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CallInput } from "../../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, isTerminal } from "../../../../src/telephony/call/machine/CallState.ts"
import { maxRequests } from "../../../../src/media/mix/Dialer.ts"
import { maxPlaybacks } from "../../../../src/media/mix/Player.ts"
import type { Built } from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as Media from "../../../media/support/MediaSample.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000
const answeredCall = () =>
  Sample.carrier(Sample.start(Sample.place(), t0), { type: "answered", resume: { dialog: 1 } }, t0 + 1000)
const gatherBody = {
  minimum_digits: 2,
  maximum_digits: 4,
  initial_timeout_millis: 8000
}
const ended = (scene: Sample.Scene) => {
  const { endInitiator, endReason, status } = scene.state
  return `${status} ${endReason} ${endInitiator}`
}

describe("Placing, guide/calls.md#placing-a-call", () => {
  it("a placed call is initiated, announces call.started and dials", () => {
    const scene = Sample.start(Sample.place(), t0)
    expect(scene.state.status).toBe("initiated")
    expect(Sample.types(scene)).toStrictEqual(["call.started"])
    expect(Sample.commands(scene).map((command) => command.type)).toStrictEqual(["dial"])
    expect(scene.state.pending[0]?.type).toBe("dial")
  })

  it("what a dial says besides the numbers goes down with it, and again where it may not have arrived", () => {
    const options = { audioUrl: "https://a.test/b.wav", headers: [{ name: "X-Customer", value: "7" }] }
    const scene = Sample.start(Sample.place({ options }), t0)
    expect(Sample.commands(scene)).toMatchObject([{ type: "dial", ...options }])
    const again = Sample.send(scene, Sample.recovered(scene, "alive", t0), t0 + 100)
    expect(again.effects.at(-1)?.commands).toStrictEqual(Sample.commands(scene))
  })

  it("headers of a caller are told with call.started, and those of an answer go down with it", () => {
    const headers = [{ name: "X-Customer", value: "7" }]
    const scene = Sample.start({ ...Sample.offered(), headers } as CallInput, t0)
    expect(Sample.events(scene)[0]?.data).toMatchObject({ customHeaders: headers })
    const answering = Sample.act(scene, "answer", { custom_headers: headers }, t0 + 100)
    expect(Sample.commands(answering).at(-1)).toMatchObject({ type: "answer", headers })
    const again = Sample.send(answering, Sample.recovered(answering, "alive", t0), t0 + 200)
    expect(again.effects.at(-1)?.commands.at(-1)).toMatchObject({ type: "answer", headers })
  })

  it("what is known of a caller is kept, and told with call.started; a call that we place tells nothing of it", () => {
    const caller = {
      callerName: "Ada",
      diversion: [{ number: "+12025550160", reason: "user_busy" as const }],
      attestation: "A" as const
    }
    const scene = Sample.start({ ...Sample.offered(), caller } as CallInput, t0)
    expect(Sample.events(scene)[0]?.data).toMatchObject(caller)
    expect(scene.state.caller).toStrictEqual(caller)
    // An input of a version that did not know them is replayed to the event of that version.
    expect(Sample.events(Sample.start(Sample.offered(), t0))[0]?.data).not.toHaveProperty("callerName")
    expect(Sample.events(Sample.start(Sample.place(), t0))[0]?.data).not.toHaveProperty("callerName")
  })

  it("ringing and answer move it on, each with its event; a step backwards changes nothing", () => {
    let scene = Sample.carrier(Sample.start(Sample.place(), t0), { type: "ringing", resume: null }, t0 + 500)
    scene = Sample.carrier(scene, { type: "answered", resume: { d: 1 } }, t0 + 900)
    scene = Sample.carrier(scene, { type: "ringing", resume: null }, t0 + 950)
    expect(Sample.last(scene)).toBe("unchanged")
    expect(scene.state.status).toBe("answered")
    expect(scene.state.answeredAt).toBe(t0 + 900)
    expect(Sample.types(scene)).toStrictEqual(["call.started", "call.ringing", "call.answered"])
    expect(scene.state.pending).toStrictEqual([])
  })

  it("an answer without ringing is an answer", () => {
    expect(answeredCall().state.status).toBe("answered")
  })

  it("a carrier's clock that runs ahead does not date the answer into the future", () => {
    const scene = Sample.start(Sample.place(), t0)
    const event = Sample.event(scene, { type: "answered", resume: null }, t0 + 99_000)
    expect(Sample.send(scene, { type: "carrier", event }, t0 + 10).state.answeredAt).toBe(t0 + 10)
  })
})

describe("Ends, guide/calls.md#why-a-call-ended", () => {
  const unanswered = [
    { end: { cause: "final_response", sipStatus: 486, by: "far" }, is: "failed user_busy callee" },
    { end: { cause: "final_response", sipStatus: 600, by: "far" }, is: "failed user_busy callee" },
    { end: { cause: "final_response", sipStatus: 603, by: "far" }, is: "failed rejected callee" },
    { end: { cause: "final_response", sipStatus: 404, by: "far" }, is: "failed not_found carrier" },
    { end: { cause: "final_response", sipStatus: 480, by: "far" }, is: "failed no_answer carrier" },
    { end: { cause: "final_response", sipStatus: 503, by: "far" }, is: "failed carrier_error carrier" },
    { end: { cause: "timer", sipStatus: null, by: "network" }, is: "failed carrier_error carrier" },
    { end: { cause: "no_route", sipStatus: null, by: "network" }, is: "failed no_route carrier" },
    { end: { cause: "lost", sipStatus: null, by: "network" }, is: "failed carrier_error system" }
  ] as const
  for (const { end, is } of unanswered)
    it(`an unanswered leg that ends by ${end.cause} ${end.sipStatus ?? ""} leaves the call ${is}`, () => {
      const scene = Sample.carrier(Sample.start(Sample.place(), t0), { type: "ended", ...end }, t0 + 100)
      expect(ended(scene)).toBe(is)
      expect(scene.state.costCents).toBe(0)
      expect(CallMachine.isSettled(scene.state)).toBe(true)
    })

  it("the far end of an answered call hangs up: normal clearing by the callee, rated by started minutes", () => {
    const scene = Sample.carrier(
      answeredCall(),
      { type: "ended", cause: "hangup", sipStatus: null, by: "far" },
      t0 + 62_000
    )
    expect(ended(scene)).toBe("ended normal_clearing callee")
    expect(scene.state.costCents).toBe(2)
    expect(scene.effects.at(-1)?.charges).toStrictEqual([{ type: "call_charge", cents: 2 }])
    const event = Sample.events(scene).at(-1)
    expect(event?.type === "call.ended" && event.data.durationSeconds === 61).toBe(true)
  })

  it("the end of a leg tells how it sounded and why the far end ended it", () => {
    const peerReason = { protocol: "Q.850", cause: 16, text: "Normal call clearing" }
    const inbound = { packets: 490, lost: 10, jitterMs: 3.1, mos: 3.99 }
    const quality = { codec: "G722", inbound, outbound: null, roundTripMs: null }
    const end = { type: "ended", cause: "hangup", sipStatus: null, by: "far", peerReason, quality } as const
    const scene = Sample.carrier(answeredCall(), end, t0 + 62_000)
    expect(Sample.events(scene).at(-1)?.data).toMatchObject({ sipReason: peerReason, quality })
  })

  const quality = {
    codec: "PCMU",
    inbound: { packets: 490, lost: 10, jitterMs: 3.1, mos: 3.99 },
    outbound: null,
    roundTripMs: null
  }
  const near = { cause: "hangup", sipStatus: null, by: "near" } as const
  /** Every way in which this service ends an answered call. */
  const ways: Readonly<Record<string, (scene: Sample.Scene) => Sample.Scene>> = {
    "a request": (scene) => Sample.act(scene, "hangup", {}, t0 + 5000),
    "the operator": (scene) =>
      Sample.send(scene, { type: "ended_by_system", reason: "hung_up", rejectCause: "user_busy" }, t0 + 5000),
    "a suspension": (scene) =>
      Sample.send(scene, { type: "ended_by_system", reason: "tenant_suspended", rejectCause: "user_busy" }, t0 + 5000),
    "the stop of the service": (scene) =>
      Sample.send(scene, { type: "ended_by_system", reason: "carrier_error", rejectCause: "error" }, t0 + 5000),
    "its time limit": Sample.wait,
    "the end of the leg that it was connected with": (scene) => {
      let connected = Sample.other(Sample.transfer(scene, {}, t0 + 2000), { type: "answered", resume: null }, t0 + 3000)
      const to = { peerLegId: Sample.transferLeg(connected).id, peerCallId: connected.state.id }
      connected = Sample.carrier(connected, { type: "bridged", ...to }, t0 + 3100)
      return Sample.other(connected, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, t0 + 5000)
    }
  }
  for (const [what, end] of Object.entries(ways)) {
    it(`call.ended has the sound quality when ${what} ends it, and neither its end nor its price moves`, () => {
      const over = end(answeredCall())
      const { costCents, endReason, endedAt, status } = over.state
      expect(isTerminal(over.state)).toBe(true)
      expect(Sample.types(over)).not.toContain("call.ended")
      expect(CallMachine.isSettled(over.state)).toBe(false)
      const told = Sample.carrier(over, { type: "ended", ...near, quality }, (endedAt ?? 0) + 90)
      expect(Sample.events(told).at(-1)).toMatchObject({
        type: "call.ended",
        data: { status, endedAt, endReason, quality }
      })
      expect(told.state).toMatchObject({ status, endedAt, costCents, endReason })
      expect(told.effects.filter((effects) => effects.charges.length > 0).length).toBe(1)
    })

    it(`call.ended comes when ${what} ends it while the far end does not answer the BYE`, () => {
      const over = end(answeredCall())
      const endedAt = over.state.endedAt ?? 0
      const told = Sample.carrier(over, { type: "leaving", ...near, quality }, endedAt + 200)
      expect(Sample.events(told).at(-1)).toMatchObject({ type: "call.ended", data: { endedAt, quality } })
      const gone = Sample.carrier(told, { type: "ended", ...near, quality }, endedAt + 8000)
      expect(Sample.types(gone).filter((type) => type === "call.ended").length).toBe(1)

      const silent = Sample.wait(over)
      expect(silent.log.at(-1)?.context.now).toBe(endedAt + 500)
      expect(Sample.events(silent).at(-1)).toMatchObject({ type: "call.ended", data: { endedAt, quality: null } })
      const late = Sample.carrier(silent, { type: "ended", ...near, quality }, endedAt + 8000)
      expect(Sample.types(late).filter((type) => type === "call.ended").length).toBe(1)
      expect(late.state.legs[0]?.quality).toStrictEqual(quality)
    })
  }

  it("call.ended waits for nothing where there is nothing to wait for", () => {
    const unanswered = Sample.act(Sample.start(Sample.place(), t0), "hangup", {}, t0 + 10)
    expect(Sample.types(unanswered).at(-1)).toBe("call.ended")
    const gone = Sample.send(answeredCall(), Sample.recovered(answeredCall(), "gone", t0 + 4000), t0 + 9000)
    expect(Sample.types(gone).at(-1)).toBe("call.ended")
    const faulted = Sample.send(answeredCall(), { type: "faulted", reason: "test" }, t0 + 9000)
    expect(Sample.types(faulted).at(-1)).toBe("call.ended")
  })

  it("a leg that leaves by itself ends its call at once, and is hung up until the carrier reports its end", () => {
    const left = { cause: "error", sipStatus: null, by: "network", why: "media_timeout" } as const
    const scene = Sample.carrier(answeredCall(), { type: "leaving", ...left, quality }, t0 + 61_000)
    expect(ended(scene)).toBe("ended media_timeout system")
    expect(Sample.events(scene).at(-1)).toMatchObject({
      type: "call.ended",
      data: { endReason: "media_timeout", why: { code: "media_timeout" }, endedAt: t0 + 61_000, quality }
    })
    expect(scene.state.costCents).toBe(1)
    expect(scene.state.pending.map(({ type }) => type)).toStrictEqual(["hangup"])
    const gone = Sample.carrier(scene, { type: "ended", ...left, quality }, t0 + 69_000)
    expect(CallMachine.isSettled(gone.state)).toBe(true)
    expect(gone.state).toMatchObject({ endedAt: t0 + 61_000, costCents: 1 })
  })

  it("hangup by the API is terminal at once, stays pending until the leg has ended, and is settled then", () => {
    let scene = Sample.act(answeredCall(), "hangup", {}, t0 + 5000)
    expect(ended(scene)).toBe("ended normal_clearing api")
    expect(CallMachine.isSettled(scene.state)).toBe(false)
    scene = Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "near" }, t0 + 5100)
    expect(CallMachine.isSettled(scene.state)).toBe(true)
    expect(Sample.types(scene).filter((type) => type === "call.ended").length).toStrictEqual(1)
  })

  it("a leg whose end is never reported is given up after forty seconds", () => {
    const announced = Sample.wait(Sample.act(answeredCall(), "hangup", {}, t0 + 5000))
    expect(CallMachine.isSettled(announced.state)).toBe(false)
    const scene = Sample.wait(announced)
    expect(scene.log.at(-1)?.context.now).toBe(t0 + 45_000)
    expect(CallMachine.isSettled(scene.state)).toBe(true)
  })

  it("hangup before the answer cancels", () => {
    const scene = Sample.act(Sample.start(Sample.place(), t0), "hangup", {}, t0 + 10)
    expect(ended(scene)).toBe("ended cancelled api")
    expect(scene.state.costCents).toBe(0)
  })

  it("our ring time ends it as timeout by the system", () => {
    const scene = Sample.wait(Sample.start(Sample.place({ timeoutSecs: 7 }), t0))
    expect(ended(scene)).toBe("failed timeout system")
    expect(scene.state.endedAt).toBe(t0 + 7000)
    expect(Sample.commands(scene).at(-1)?.type).toBe("hangup")
  })

  for (const reason of ["time_limit", "balance_exhausted"] as const)
    it(`an answered call that reaches its limit ends as ${reason}`, () => {
      const scene = Sample.start(
        {
          ...(Sample.place() as Extract<CallInput, { type: "place" }>),
          terms: Sample.terms({ limit: { afterSecs: 60, reason } })
        },
        t0
      )
      const over = Sample.wait(Sample.carrier(scene, { type: "answered", resume: null }, t0 + 1000))
      expect(ended(over)).toBe(`ended ${reason} system`)
      expect(over.state.costCents).toBe(1)
    })

  it("a timer that fires late neither prolongs nor charges more than the limit", () => {
    const placed = Sample.start(
      {
        ...(Sample.place() as Extract<CallInput, { type: "place" }>),
        terms: Sample.terms({ limit: { afterSecs: 60, reason: "balance_exhausted" } })
      },
      t0
    )
    const talking = Sample.carrier(placed, { type: "answered", resume: null }, t0 + 1000)
    const over = Sample.send(talking, { type: "deadline", deadline: "limit" }, t0 + 61_003)
    expect(over.state.endedAt).toBe(t0 + 61_000)
    expect(over.state.costCents).toBe(1)
  })
})

describe("Inbound, guide/calls.md#inbound-calls", () => {
  it("an offered call rings and waits thirty seconds for a first command", () => {
    const scene = Sample.start(Sample.offered(), t0)
    expect(Sample.commands(scene)[0]?.type).toBe("ring")
    const over = Sample.wait(scene)
    expect(ended(over)).toBe("failed no_answer system")
    expect(over.state.endedAt).toBe(t0 + 30_000)
    const command = Sample.commands(over).at(-1)
    expect(command?.type === "reject" && command.cause === "no_answer").toBe(true)
  })

  it("answer is sent once and the call is answered when the far end has confirmed", () => {
    let scene = Sample.act(Sample.start(Sample.offered(), t0), "answer", {}, t0 + 100)
    expect(scene.state.status).toBe("initiated")
    scene = Sample.act(scene, "answer", {}, t0 + 120)
    expect(Sample.last(scene)).toBe("call_not_in_required_state")
    scene = Sample.carrier(scene, { type: "answered", resume: null }, t0 + 150)
    expect(scene.state.status).toBe("answered")
    expect(scene.state.pending).toStrictEqual([])
  })

  for (const cause of ["user_busy", "rejected"] as const)
    it(`reject with ${cause} fails the call with that reason by the API`, () => {
      const scene = Sample.act(Sample.start(Sample.offered(), t0), "reject", { cause }, t0 + 100)
      expect(ended(scene)).toBe(`failed ${cause} api`)
    })

  it("the caller who hangs up first has cancelled", () => {
    const scene = Sample.carrier(
      Sample.start(Sample.offered(), t0),
      { type: "ended", cause: "cancelled", sipStatus: 487, by: "far" },
      t0 + 100
    )
    expect(ended(scene)).toBe("ended cancelled caller")
  })
})

describe("Actions, guide/calls.md#actions", () => {
  const needTalking: ReadonlyArray<readonly [Built, object]> = [
    ["play", { url: "https://example.com/a.wav" }],
    ["stop_playback", {}],
    ["send_dtmf", { digits: "1" }],
    ["gather", gatherBody],
    ["stop_gather", {}],
    ["answer", {}],
    ["reject", { cause: "user_busy" }]
  ]
  for (const [verb, body] of needTalking) {
    it(`${verb} before the answer of an outbound call is call_not_in_required_state`, () =>
      expect(Sample.last(Sample.act(Sample.start(Sample.place(), t0), verb, body, t0 + 1))).toBe(
        "call_not_in_required_state"
      ))
    it(`${verb} on a terminal call is call_already_ended`, () =>
      expect(Sample.last(Sample.act(Sample.act(answeredCall(), "hangup", {}, t0 + 2000), verb, body, t0 + 2001))).toBe(
        "call_already_ended"
      ))
  }

  it("a playback is pending until its outcome, which is told once", () => {
    let scene = Sample.act(answeredCall(), "play", { url: "https://example.com/a.wav", loop: 2 }, t0 + 2000)
    const id = Sample.lastWork(scene)
    expect(Sample.lastMedia(scene)).toStrictEqual(Media.play(id, "https://example.com/a.wav", 2))
    scene = Sample.media(scene, Media.completed(id), t0 + 3000)
    scene = Sample.media(scene, Media.completed(id), t0 + 3001)
    expect(Sample.last(scene)).toBe("unchanged")
    expect(Sample.types(scene).filter((type) => type === "call.playback_ended").length).toBe(1)
  })

  const inLine: ReadonlyArray<readonly [Built, object, number]> = [
    ["play", { url: "https://example.com/a.wav" }, maxPlaybacks],
    ["send_dtmf", { digits: "1" }, maxRequests]
  ]
  for (const [verb, body, limit] of inLine)
    it(`${verb} beyond what the media plane keeps in line is a conflict until one is done`, () => {
      let scene = answeredCall()
      for (let count = 0; count < limit; count++) scene = Sample.act(scene, verb, body, t0 + 2000)
      expect(Sample.last(scene)).toBe("accepted")
      expect(Sample.last(Sample.act(scene, verb, body, t0 + 2000))).toBe("conflict")
      scene = Sample.media(scene, Media.completed(Sample.lastWork(scene)), t0 + 3000)
      expect(Sample.last(Sample.act(scene, verb, body, t0 + 3001))).toBe("accepted")
    })

  it("play finds room at once after a stop of all that waits, and stays bounded without any report", () => {
    const play = (scene: Sample.Scene) => Sample.act(scene, "play", { url: "https://example.com/a.wav" }, t0 + 2000)
    const full = (scene: Sample.Scene): Sample.Scene =>
      Array.from({ length: maxPlaybacks }).reduce((open: Sample.Scene) => play(open), scene)
    let scene = Sample.act(full(answeredCall()), "stop_playback", {}, t0 + 2001)
    expect(Sample.last(scene)).toBe("accepted")
    scene = full(scene)
    expect(Sample.last(scene)).toBe("accepted")
    expect(Sample.last(play(scene))).toBe("conflict")
    // A stop of the present one makes place for one.
    scene = Sample.act(scene, "stop_playback", { stop: "current" }, t0 + 2002)
    expect(Sample.last(play(scene))).toBe("accepted")
    for (let round = 0; round < 20; round++) scene = Sample.act(play(scene), "stop_playback", {}, t0 + 2003)
    for (let round = 0; round < 20; round++) scene = full(Sample.act(scene, "stop_playback", {}, t0 + 2003))
    expect(scene.state.work.length).toBeLessThanOrEqual(3 * maxPlaybacks)
  })

  it("the end of the call stops what plays and gathers, before call.ended", () => {
    let scene = Sample.act(answeredCall(), "play", { url: "https://example.com/a.wav" }, t0 + 2000)
    scene = Sample.act(scene, "gather", gatherBody, t0 + 2000)
    scene = Sample.wait(Sample.act(scene, "hangup", {}, t0 + 3000))
    expect(Sample.types(scene).slice(-3)).toStrictEqual(["call.gather_complete", "call.playback_ended", "call.ended"])
  })
})

describe("Gather, guide/calls.md#gather", () => {
  const gathering = (digits: string, options: object = gatherBody) =>
    Array.from(digits).reduce(
      (scene, digit, index) => Sample.dtmf(scene, digit, t0 + 2100 + index * 100),
      Sample.act(answeredCall(), "gather", options, t0 + 2000)
    )
  const result = (scene: Sample.Scene) => {
    const event = Sample.events(scene).find((each) => each.type === "call.gather_complete")
    return event?.type === "call.gather_complete" ? `${event.data.digits} ${event.data.status}` : "running"
  }
  it("ends at the terminating digit, which is not collected", () => expect(result(gathering("123#"))).toBe("123 valid"))
  it("is invalid when it is terminated too early", () => expect(result(gathering("1#"))).toBe("1 invalid"))
  it("ends when enough digits are there", () => expect(result(gathering("12345"))).toBe("1234 valid"))
  it("ignores digits that are not asked for", () =>
    expect(result(gathering("1A9B2", { ...gatherBody, valid_digits: "12", maximum_digits: 2 }))).toBe("12 valid"))
  it("times out without a first digit", () => {
    const scene = Sample.wait(gathering(""))
    expect(result(scene)).toBe(" timeout")
    expect(scene.state.at).toBe(t0 + 10_000)
  })
  it("takes what it has when the next digit does not come", () =>
    expect(result(Sample.wait(gathering("12")))).toBe("12 valid"))
  it("times out with too few", () => expect(result(Sample.wait(gathering("1")))).toBe("1 timeout"))
  it("is cancelled by stop_gather", () =>
    expect(result(Sample.act(gathering("12"), "stop_gather", {}, t0 + 3000))).toBe("12 cancelled"))
  it("a second one is a conflict", () =>
    expect(Sample.last(Sample.act(gathering("1"), "gather", gatherBody, t0 + 3000))).toBe("conflict"))
  it("cuts off what plays, so that its timers run in silence", () => {
    const scene = Sample.act(
      Sample.act(answeredCall(), "play", { url: "https://example.com/a.wav" }, t0 + 1900),
      "gather",
      gatherBody,
      t0 + 2000
    )
    expect(scene.effects.at(-1)?.commands).toMatchObject([{ type: "media", media: { type: "cut_playback" } }])
    expect(Sample.types(Sample.dtmf(scene, "1", t0 + 2100)).at(-1)).toBe("call.dtmf")
  })
  it("every digit is an event of its own all the same", () =>
    expect(Sample.types(gathering("12#")).filter((type) => type === "call.dtmf").length).toBe(3))
})

/** Moves of a random walk: actions, carrier events, deadlines, recoveries, in any order and any number. */
const Move = Schema.Struct({
  kind: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 19 })),
  digit: Schema.Literals(["0", "1", "9", "#", "*", "A"]),
  wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40_000 }))
})

const move = (scene: Sample.Scene, { digit, kind, wait }: typeof Move.Type): Sample.Scene => {
  const now = scene.state.at + wait
  const playing = scene.state.work.find(({ type }) => type === "playback")
  switch (kind) {
    case 0:
      return Sample.carrier(scene, { type: "ringing", resume: { r: wait } }, now)
    case 1:
      return Sample.carrier(scene, { type: "early_media", resume: null }, now)
    case 2:
    case 3:
      return Sample.carrier(scene, { type: "answered", resume: { d: wait } }, now)
    case 4:
      return Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, now)
    case 5:
      return Sample.carrier(scene, { type: "ended", cause: "final_response", sipStatus: 486, by: "far" }, now)
    case 6:
    case 7:
      return Sample.dtmf(scene, digit, now)
    case 8:
      return Sample.act(scene, "hangup", {}, now)
    case 9:
    case 10:
      return Sample.act(scene, "play", { url: "https://example.com/x" }, now)
    case 11:
      return Sample.act(scene, "gather", gatherBody, now)
    case 12:
      return Sample.act(scene, "stop_gather", {}, now)
    case 13:
      return Sample.act(scene, "send_dtmf", { digits: "12" }, now)
    case 14:
      return Sample.act(scene, "answer", {}, now)
    case 15:
      return Sample.act(scene, "reject", { cause: "rejected" }, now)
    case 16:
      return playing === undefined ? scene : Sample.media(scene, Media.completed(playing.id), now)
    case 17:
      return Sample.wait(scene)
    case 18:
      return Sample.send(
        scene,
        Sample.recovered(scene, (["alive", "gone", "elsewhere", "unknown"] as const)[wait % 4] ?? "gone", now),
        now
      )
    default:
      return Sample.send(scene, { type: "faulted", reason: "test" }, now)
  }
}

const walks = { inbound: Schema.Boolean, moves: Schema.Array(Move).check(Schema.isMaxLength(40)) }
const walk = (inbound: boolean, moves: ReadonlyArray<typeof Move.Type>) =>
  moves.reduce(move, Sample.start(inbound ? Sample.offered() : Sample.place(), t0))

describe("Properties over random inputs (src/README.md#what-holds-and-is-tested)", () => {
  const runs = { arbitrary: { runs: 500 } }

  it.prop(
    "terminal states absorb: no event and no charge after call.ended",
    walks,
    ({ inbound, moves }) => {
      const scene = walk(inbound, moves)
      const types = Sample.types(scene)
      const index = types.indexOf("call.ended")
      const isOwed = isTerminal(scene.state) && scene.state.announceBy === undefined
      expect(index === -1 ? isOwed : index < types.length - 1).toBe(false)
      expect(types.filter((type) => type === "call.ended").length).toBeLessThanOrEqual(1)
      expect(scene.effects.filter((effects) => Sample.charged(effects) > 0).length).toBeLessThanOrEqual(1)
    },
    runs
  )

  it.prop(
    "replaying the inputs again gives the same state",
    walks,
    ({ inbound, moves }) => {
      const scene = walk(inbound, moves)
      let replayed: CallState | null = null
      for (const { context, input } of scene.log) {
        const outcome = CallMachine.step(replayed, input, context)
        expect(outcome.type).toBe("accepted")
        if (outcome.type === "accepted") replayed = outcome.state
      }
      expect(replayed).toStrictEqual(scene.state)
    },
    runs
  )

  it.prop(
    "events are those of the table, in its order",
    walks,
    ({ inbound, moves }) => {
      const scene = walk(inbound, moves)
      const types = Sample.types(scene)
      expect(types[0]).toBe("call.started")
      expect(scene.state.sequence).toBe(types.length)
      for (const once of ["call.started", "call.ringing", "call.answered", "call.ended"] as const)
        expect(types.filter((type) => type === once).length).toBeLessThanOrEqual(1)
      const answered = types.indexOf("call.answered")
      for (const [index, type] of types.entries())
        if (type === "call.dtmf" || type === "call.gather_complete" || type === "call.playback_ended")
          expect(answered !== -1 && index > answered).toBe(true)
    },
    runs
  )

  it.prop(
    "a call whose deadlines fire and whose carrier stays silent always settles",
    walks,
    ({ inbound, moves }) => {
      let scene = walk(inbound, moves)
      for (let count = 0; count < 10 && !CallMachine.isSettled(scene.state); count++) scene = Sample.wait(scene)
      expect(CallMachine.isSettled(scene.state)).toBe(true)
    },
    runs
  )

  it.prop(
    "the account is told of the end once, under the next number, with what was charged in that commit",
    walks,
    ({ inbound, moves }) => {
      const scene = walk(inbound, moves)
      const told = scene.effects.flatMap((effects) =>
        effects.tells.map((tell) => ({ cents: Sample.charged(effects), tell }))
      )
      expect(told.map(({ tell: { n } }) => n)).toStrictEqual(isTerminal(scene.state) ? [1] : [])
      expect(scene.state.told).toBe(told.length)
      for (const { cents, tell } of told)
        expect(tell).toStrictEqual({ from: scene.state.id, n: 1, body: { type: "ended", chargedCents: cents } })
    },
    runs
  )

  it.prop(
    "time never runs backward and a terminal call is rated",
    walks,
    ({ inbound, moves }) => {
      const { state } = walk(inbound, moves)
      if (state.answeredAt !== null) expect(state.answeredAt).toBeGreaterThanOrEqual(state.initiatedAt)
      if (!isTerminal(state)) return
      expect(state.endedAt ?? -1).toBeGreaterThanOrEqual(state.answeredAt ?? state.initiatedAt)
      expect(state.ratingStatus).toBe("rated")
      expect(state.costCents).not.toBeNull()
    },
    runs
  )
})
