import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import * as Id from "../../../src/domain/Id.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import { AudioUnavailable } from "../../../src/media/sound/AudioSource.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import type * as MediaPlane from "../../../src/media/plane/MediaPlane.ts"
import type { Command, Event } from "../../../src/media/plane/Protocol.ts"
import * as Placement from "../../../src/media/plane/Placement.ts"
import * as SwitchedPlane from "../../../src/media/plane/SwitchedPlane.ts"
import * as Ids from "../../support/Ids.ts"
import * as MemoryNetwork from "../support/MemoryNetwork.ts"
import * as SwitchBench from "../SwitchBench.ts"
import { AudioDecoder } from "../../../src/media/sound/AudioDecoder.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"

const tenant = Ids.tenant("t")

/** A plane of this many threads, each a switch that runs when its `bench` does. `down` ends one. */
const setup = Effect.fnUntraced(
  function* (threads: number) {
    const network = MemoryNetwork.make()
    const parts = Array.from({ length: threads }, () => {
      const posted: Array<Command> = []
      let onEvent: (event: Event) => void = () => undefined
      let down: () => void = () => undefined
      const bench = SwitchBench.make({ ports: network.port, emit: (event) => onEvent(event) })
      const link: SwitchedPlane.SwitchLink = {
        post: (command) => {
          posted.push(command)
          bench.handle(command)
        },
        listen: (event, isDown) => {
          onEvent = event
          down = isDown
        }
      }
      return { bench, link, posted, down: () => down() }
    })
    const [first, ...others] = parts
    if (first === undefined) return yield* Effect.die("no threads")
    const open = () => Effect.fail(new AudioUnavailable({ reason: "fetch_failed" }))
    const plane = yield* SwitchedPlane.make(
      [first.link, ...others.map(({ link }) => link)],
      { open },
      IpAddress.only("192.0.2.7"),
      { legs: 100, ports: 100 }
    )
    return { plane, parts }
  },
  Effect.provide(Layer.merge(AudioDecoder.layerInline, NoEgress.layer))
)
const threadOf = (plane: MediaPlane.MediaPlane["Service"], leg: LegId, near?: LegId) =>
  Effect.map(plane.openRtp(leg, tenant, near), ({ placement }) => placement.thread)
const reasonOf = <A>(effect: Effect.Effect<A, MediaPlane.BridgeRefused>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)
const [a, b, c, d] = [Ids.leg("a"), Ids.leg("b"), Ids.leg("c"), Ids.leg("d")]

describe("A leg that was refused", () => {
  it.effect("is forgotten with whoever wanted to hear of it, and may be opened again", () =>
    Effect.gen(function* () {
      const { parts, plane } = yield* setup(1)
      const told: Array<string> = []
      const listen = (name: string) =>
        plane.subscribe(a, { told: ({ type }) => void told.push(`${name} ${type}`), lost: () => undefined })
      parts[0]?.bench.handle({ type: "open_phone", leg: a, script: { type: "silence" } })
      yield* listen("first")
      expect((yield* Effect.flip(plane.openRtp(a, tenant))).reason).toBe("leg_exists")
      const press = plane.command(a, tenant, {
        type: "send_dtmf",
        id: Ids.work("d"),
        digits: "x",
        durationMs: 100
      })
      yield* press
      expect(told).toEqual([])
      yield* listen("second")
      yield* press
      parts[0]?.bench.handle({ type: "close", leg: a })
      yield* plane.openRtp(a, tenant)
      expect(told).toEqual(["second ended"])
    })
  )
})

describe("Places of legs", () => {
  it("can meet on one thread of one gateway only", () => {
    const here = { gateway: "local", thread: 0 }
    expect(Placement.apart(here, { ...here })).toBe(null)
    expect(Placement.apart(here, { ...here, thread: 1 })).toBe("other_thread")
    expect(Placement.apart(here, { gateway: "far", thread: 0 })).toBe("other_gateway")
  })

  it.effect("are spread over the threads, and beside the leg that they name", () =>
    Effect.gen(function* () {
      const { plane } = yield* setup(2)
      expect(yield* threadOf(plane, a)).toBe(0)
      expect(yield* threadOf(plane, b)).toBe(1)
      expect(yield* threadOf(plane, c, b)).toBe(1)
      expect(yield* threadOf(plane, d, Ids.leg("nowhere"))).toBe(0)
    })
  )

  it.effect("stay: what is asked of a leg goes to its thread", () =>
    Effect.gen(function* () {
      const { parts, plane } = yield* setup(2)
      yield* plane.openRtp(a, tenant)
      yield* plane.openRtp(b, tenant)
      yield* plane.command(b, tenant, { type: "stop_playback", which: "all" })
      yield* plane.close(b)
      expect(parts.map(({ posted }) => posted.map(({ type }) => type))).toEqual([
        ["open_rtp"],
        ["open_rtp", "media", "close"]
      ])
    })
  )

  it.effect("on two threads refuse a bridge and say why; near each other the legs meet", () =>
    Effect.gen(function* () {
      const { plane } = yield* setup(2)
      for (const leg of [a, b]) yield* plane.openRtp(leg, tenant)
      yield* plane.openPhone(c, tenant, { type: "echo" }, b)
      expect(yield* reasonOf(plane.bridge(a, b))).toBe("other_thread")
      yield* plane.bridge(b, c)
      expect(yield* reasonOf(plane.bridge(b, c))).toBe("already_joined")
      yield* plane.unbridge(b)
      yield* plane.bridge(c, b)
    })
  )

  it.effect("on two threads let no leg into a room of the other; near the room it comes in", () =>
    Effect.gen(function* () {
      const { plane } = yield* setup(2)
      yield* plane.openRtp(a, tenant)
      yield* plane.openRtp(b, tenant)
      const entry = (name: string) => ({
        memberId: Id.derive(name, "member"),
        isHost: false,
        isMuted: false,
        isHeld: false
      })
      yield* plane.openRoom(d, tenant, b)
      expect(yield* reasonOf(plane.enterRoom(a, d, entry("a")))).toBe("other_thread")
      yield* plane.enterRoom(b, d, entry("b"))
      yield* plane.openPhone(c, tenant, { type: "echo" }, d)
      yield* plane.enterRoom(c, d, entry("c"))
      // A leg that was refused is free for another room.
      yield* plane.openRoom(Ids.leg("e"), tenant, a)
      yield* plane.enterRoom(a, Ids.leg("e"), entry("a"))
    })
  )

  it.effect("of legs that are not open, or one and the same, refuse a bridge", () =>
    Effect.gen(function* () {
      const { plane } = yield* setup(1)
      yield* plane.openRtp(a, tenant)
      expect(yield* reasonOf(plane.bridge(a, b))).toBe("unknown_leg")
      expect(yield* reasonOf(plane.bridge(b, a))).toBe("unknown_leg")
      expect(yield* reasonOf(plane.bridge(a, a))).toBe("same_leg")
    })
  )

  it.effect("are lost with their thread, and with no other", () =>
    Effect.gen(function* () {
      const { parts, plane } = yield* setup(2)
      const lost: Array<string> = []
      for (const leg of [a, b]) {
        yield* plane.subscribe(leg, { told: () => undefined, lost: (reason) => void lost.push(`${leg} ${reason}`) })
        yield* plane.openRtp(leg, tenant)
      }
      parts[1]?.down()
      expect(lost).toEqual([`${b} plane_stopped`])
      expect(yield* reasonOf(plane.bridge(a, b))).toBe("unknown_leg")
    })
  )

  it.effect("whoever waits for a bridge hears that the thread is gone", () =>
    Effect.gen(function* () {
      let down: () => void = () => undefined
      const silent: SwitchedPlane.SwitchLink = {
        post: ({ leg, type }) => {
          if (type === "open_rtp") onEvent({ type: "opened", leg, port: 4000 })
        },
        listen: (event, isDown) => {
          onEvent = event
          down = isDown
        }
      }
      let onEvent: (event: Event) => void = () => undefined
      const open = () => Effect.fail(new AudioUnavailable({ reason: "fetch_failed" }))
      const plane = yield* SwitchedPlane.make([silent], { open }, IpAddress.only("192.0.2.7"), {
        legs: 100,
        ports: 100
      })
      for (const leg of [a, b]) yield* plane.openRtp(leg, tenant)
      const waiting = yield* Effect.forkChild(reasonOf(plane.bridge(a, b)), { startImmediately: true })
      down()
      expect(yield* Fiber.join(waiting)).toBe("plane_stopped")
    }).pipe(Effect.provide(Layer.merge(AudioDecoder.layerInline, NoEgress.layer)))
  )
})
