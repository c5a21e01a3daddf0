import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { LegQuality } from "../../../../src/carrier/CarrierEvent.ts"
import * as LegReport from "../../../../src/domain/LegReport.ts"
import * as Wire from "../../../../src/domain/schema/Wire.ts"
import type { Quality } from "../../../../src/media/plane/MediaPlane.ts"
import * as Rig from "../Rig.ts"

const measured: Quality = {
  codec: "G722",
  packetsSent: 500,
  packetsReceived: 490,
  packetsLost: 10,
  packetsLate: 2,
  framesConcealed: 12,
  jitterMs: 3.14333,
  jitterMeanMs: 4.26,
  jitterMaxMs: 17.98,
  roundTripMs: 40.06,
  reported: { packetsLost: 5, jitterMs: 2.22, jitterMeanMs: 2.44, jitterMaxMs: 3.06, mos: 4.123, bpl: 25.1 },
  mos: 3.987,
  bpl: 25.1
}

const answered = Effect.fnUntraced(function* (quality: Quality | null) {
  const rig = yield* Rig.make("quality")
  yield* rig.command(Rig.dial)
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  rig.sent()
  rig.told()
  rig.quality = quality
  return rig
})

/** Hangs up and returns the report of the end. */
const ended = Effect.fnUntraced(function* (rig: Rig.Rig) {
  yield* rig.command(Rig.hangup)
  yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "BYE"), 200))
  return rig.told()
})

describe("The end of a leg", () => {
  it.effect("says how both directions sounded", () =>
    Effect.gen(function* () {
      const [end] = yield* ended(yield* answered(measured))
      expect(end).toMatchObject({
        type: "ended",
        quality: {
          codec: "G722",
          inbound: { packets: 490, lost: 10, jitterMs: 3.1, jitterMeanMs: 4.3, jitterMaxMs: 18, mos: 3.99, bpl: 25.1 },
          outbound: { packets: 500, lost: 5, jitterMs: 2.2, jitterMeanMs: 2.4, jitterMaxMs: 3.1, mos: 4.12, bpl: 25.1 },
          roundTripMs: 40.1
        }
      })
    })
  )

  it.effect("says nothing of a direction that the peer did not report, nor of a leg without a packet", () =>
    Effect.gen(function* () {
      const [end] = yield* ended(yield* answered({ ...measured, reported: null, roundTripMs: null }))
      expect(end).toMatchObject({ quality: { outbound: null, roundTripMs: null } })
      const [silent] = yield* ended(yield* answered({ ...measured, packetsReceived: 0, packetsSent: 0 }))
      expect(silent).not.toHaveProperty("quality")
      const [none] = yield* ended(yield* answered(null))
      expect(none).not.toHaveProperty("quality")
    })
  )

  it("is read and shown as an earlier version stored it, without the figures that it did not have", () => {
    const inbound = { packets: 490, lost: 10, jitterMs: 3.1, mos: 3.99 }
    const stored = { codec: "G722", inbound, outbound: null, roundTripMs: 40.1 }
    const quality = Schema.decodeUnknownSync(LegQuality)(stored)
    const shown = Wire.encoder(Wire.struct(LegReport.fields))({ sipStatus: null, sipReason: null, quality })
    expect(shown.quality).toEqual({
      codec: "G722",
      inbound: { packets: 490, lost: 10, jitter_ms: 3.1, mos: 3.99 },
      outbound: null,
      round_trip_ms: 40.1
    })
  })

  it.effect("of a leg that was never connected comes at once", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("never")
      rig.isMediaSilent = true
      rig.trunk = null
      yield* rig.command(Rig.dial)
      expect(Rig.words(rig.told())).toStrictEqual(["ended no_route - network"])
    })
  )

  it.effect("waits a quarter of a second at most for that, has its own time, and is not overtaken", () =>
    Effect.gen(function* () {
      const rig = yield* answered(measured)
      rig.isMediaSilent = true
      yield* Rig.pass(1000)
      expect(yield* ended(rig)).toStrictEqual([])
      const through = yield* Effect.forkChild(rig.caughtUp(Rig.of.legId))
      yield* Rig.pass(249)
      expect(rig.told()).toStrictEqual([])
      expect(through.pollUnsafe()).toBeUndefined()
      yield* Rig.pass(1)
      const [end] = rig.told()
      expect(end).toMatchObject({ type: "ended", at: 1000 })
      expect(end).not.toHaveProperty("quality")
      yield* Fiber.join(through)
      expect(yield* rig.presence(Rig.of.legId)).toBe("gone")
    })
  )
})
