import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Quality } from "../../../../src/media/plane/MediaPlane.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const measured: Quality = {
  codec: "PCMU",
  packetsSent: 500,
  packetsReceived: 490,
  packetsLost: 10,
  packetsLate: 0,
  framesConcealed: 10,
  jitterMs: 3,
  jitterMeanMs: 3,
  jitterMaxMs: 5,
  bpl: 25.1,
  roundTripMs: null,
  reported: null,
  mos: 3.9
}
const leg = "svc_leg_1"

const answered = Effect.gen(function* () {
  const rig = yield* Rig.make("leaving")
  rig.quality = measured
  yield* rig.command(Rig.dial)
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  rig.sent()
  rig.told()
  return rig
})

describe("A leg that leaves", () => {
  it.effect("has no more sound from the BYE on, whatever the peer answers (RFC 3261 section 15.1.1)", () =>
    Effect.gen(function* () {
      const rig = yield* answered
      yield* rig.command(Rig.hangup)
      expect(Rig.names(rig.sent())).toEqual(["BYE"])
      expect(rig.media.at(-1)?.slice(0, 2)).toEqual(["close", leg])
      rig.hear(leg, { type: "dtmf", digit: "1", at: 0 })
      expect(rig.told()).toEqual([])
    })
  )

  it.effect("is one event with its figures when the peer answers at once", () =>
    Effect.gen(function* () {
      const rig = yield* answered
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(199)
      yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
      yield* Rig.pass(10_000)
      const told = rig.told()
      expect(Rig.words(told)).toEqual(["ended hangup - near"])
      expect(told[0]).toMatchObject({ quality: { inbound: { packets: 490, lost: 10 } } })
    })
  )

  it.effect("reports its figures after a fifth of a second when the peer does not", () =>
    Effect.gen(function* () {
      const rig = yield* answered
      yield* Rig.pass(1000)
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(199)
      expect(rig.told()).toEqual([])
      yield* Rig.pass(1)
      const [leaving] = rig.told()
      expect(leaving).toMatchObject({ type: "leaving", at: 1000, quality: { inbound: { packets: 490 } } })
      yield* Rig.pass(8_000)
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
    })
  )

  it.effect("waits for figures that come later than that, for a quarter of a second more", () =>
    Effect.gen(function* () {
      const rig = yield* answered
      rig.isMediaSilent = true
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(449)
      expect(rig.told()).toEqual([])
      rig.close(leg)
      expect(rig.told()).toMatchObject([{ type: "leaving", at: 0, quality: { inbound: { packets: 490 } } }])
      yield* Rig.pass(8_000)
      expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])

      const silent = yield* answered
      silent.isMediaSilent = true
      yield* silent.command(Rig.hangup)
      yield* Rig.pass(450)
      const told = silent.told()
      expect(Rig.words(told)).toEqual(["leaving hangup - near"])
      expect(told[0]).not.toHaveProperty("quality")
    })
  )

  for (const [reason, why] of [
    ["no_packets", "media_timeout"],
    ["plane_stopped", "media_stopped"]
  ] as const)
    it.effect(`by itself says so at once, and why: ${why}`, () =>
      Effect.gen(function* () {
        const rig = yield* answered
        yield* Rig.pass(61_000)
        rig.lose(leg, reason)
        const told = rig.told()
        expect(Rig.names(rig.sent())).toEqual(["BYE"])
        expect(told).toMatchObject([{ type: "leaving", at: 61_000, why, quality: { inbound: { packets: 490 } } }])
        // The command of the call that ends with it changes nothing.
        yield* rig.command(Rig.hangup)
        yield* Rig.pass(8_000)
        expect(rig.told()).toMatchObject([{ type: "ended", why }])
        expect(yield* rig.presence(Ids.leg(leg))).toBe("gone")
      })
    )

  it.effect("by itself waits a quarter of a second at most for its figures", () =>
    Effect.gen(function* () {
      const rig = yield* answered
      rig.isMediaSilent = true
      rig.lose(leg)
      yield* Rig.pass(249)
      expect(rig.told()).toEqual([])
      yield* Rig.pass(1)
      expect(Rig.words(rig.told())).toEqual(["leaving error - network"])
    })
  )

  it.effect("before its answer has nothing to report until its end", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("unanswered")
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      yield* rig.deliver(Rig.reply(invite, 180))
      rig.told()
      yield* rig.command(Rig.hangup)
      yield* Rig.pass(1_000)
      expect(rig.told()).toEqual([])
      yield* rig.deliver(Rig.reply(invite, 487))
      expect(Rig.words(rig.told())).toEqual(["ended cancelled 487 near"])
    })
  )
})

describe("Every end of a leg that the adapter brings about", () => {
  const dialled = Effect.gen(function* () {
    const rig = yield* Rig.make("why")
    yield* rig.command(Rig.dial)
    return rig
  })

  it.effect("names its cause: no response, not sent, no trunk, no media, an unusable answer, not stored", () =>
    Effect.gen(function* () {
      const silent = yield* dialled
      yield* Rig.pass(40_000)
      expect(silent.told().at(-1)).toMatchObject({ type: "ended", why: "no_response" })

      const unsent = yield* Rig.make("unsent")
      unsent.unreachable = true
      yield* unsent.command(Rig.dial)
      yield* Rig.pass(40_000)
      expect(unsent.told().at(-1)).toMatchObject({ type: "ended", why: "not_sent" })

      const full = yield* Rig.make("full")
      full.mediaFull = true
      yield* full.command(Rig.dial)
      expect(full.told().at(-1)).toMatchObject({ type: "ended", why: "no_media" })

      const unusable = yield* dialled
      const invite = Rig.requestOf(unusable.sent(), "INVITE")
      yield* unusable.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000, "a=sendrecv", "98") }))
      expect(unusable.told().at(-1)).toMatchObject({ type: "leaving", why: "unusable_description" })

      const many = yield* Rig.make("many", Rig.self, [], undefined, 0)
      yield* many.command(Rig.dial)
      expect(many.told().at(-1)).toMatchObject({ type: "ended", why: "no_capacity" })
    })
  )
})
