import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../support/MediaSample.ts"
import * as Click from "../mix/Click.ts"
import * as RoomRig from "./RoomRig.ts"
import { frequencies, room } from "./RoomRig.ts"

type Act = (rig: RoomRig.Rig, name: string) => void

/** The possible events of a member that sends a tone, while another one hears it and sends its own. */
const acts: Readonly<Record<string, Act>> = {
  mute: (rig, name) => rig.set(name, { type: "mute", isMuted: true }),
  unmute: (rig, name) => rig.set(name, { type: "mute", isMuted: false }),
  hold: (rig, name) => rig.set(name, { type: "hold", isHeld: true, audioUrl: null }),
  unhold: (rig, name) => rig.set(name, { type: "hold", isHeld: false, audioUrl: null }),
  monitor: (rig, name) => rig.set(name, { type: "supervise", role: "monitor", targets: [] }),
  whisper: (rig, name) =>
    rig.set(name, {
      type: "supervise",
      role: "whisper",
      targets: ["439", "listener"].map(Ids.member)
    }),
  barge: (rig, name) => rig.set(name, { type: "supervise", role: "barge", targets: [] }),
  leave: (rig, name) => rig.leave(name),
  enter: (rig, name) => rig.enter(name),
  beep: (rig) => rig.handle({ type: "room_beep", leg: room, except: null }),
  wide: (rig) => rig.enter("wide"),
  narrow: (rig) => rig.leave("wide"),
  play: (rig) => {
    const id = Ids.work(`play ${rig.events.length}`)
    rig.handle({ type: "media", leg: room, media: Media.play(id, "https://a/") })
    rig.handle({
      type: "supply",
      leg: room,
      id,
      sound: { rate: 8000, samples: Tone.sine(300, -26, 90, 8000) },
      isLast: true
    })
  }
}
const names = Object.keys(acts)

/** Three members that send tones, one that only hears, and one more that would widen the room; each in another slot. */
const meeting = (count: number, isWide = false) => {
  const rig = RoomRig.make()
  for (let i = 0; i < count; i++) {
    const hz = frequencies[i] ?? 300
    rig.open(String(hz), RoomRig.tone(hz), isWide && i === 0 ? 16_000 : 8000)
    rig.enter(String(hz))
    rig.run(7)
  }
  rig.open("listener", null)
  rig.enter("listener")
  rig.open("wide", null, 16_000)
  rig.run(1000)
  return rig
}
/** The largest fourth difference of a steady mix. */
const steadily = (rig: RoomRig.Rig, name: string): number => Click.largest(rig.take(name))

/** The longest run of 5 ms below -50 dBFS. */
const longestGapMs = (sound: Int16Array, rate: number): number => {
  const window = rate / 200
  let [run, longest] = [0, 0]
  for (let at = 0; at + window <= sound.length; at += window) {
    run = Goertzel.totalLevel(sound.subarray(at, at + window)) < -50 ? run + 5 : 0
    longest = Math.max(longest, run)
  }
  return longest
}

describe("What the members of a room hear", () => {
  it.prop(
    "does not click, whatever happens to one of them, and has no gap",
    [Schema.Boolean, Schema.Array(Schema.Tuple([Schema.Literals(names), Schema.Literals([1, 3, 17, 25, 60, 141])]))],
    ([isWide, script]) => {
      const rig = meeting(3, isWide)
      const [one, other] = frequencies.map(String) as [string, string]
      const before = new Map([one, "listener"].map((name) => [name, steadily(rig, name)]))
      for (const [act, ms] of script.slice(0, 12)) {
        acts[act]?.(rig, other)
        rig.run(ms)
      }
      rig.run(300)
      for (const name of [one, "listener"]) {
        const sound = rig.take(name)
        const { rate } = rig.phone(name)
        expect(Click.largest(sound)).toBeLessThan(2 * (before.get(name) ?? 0))
        expect(longestGapMs(sound, rate)).toBeLessThanOrEqual(40)
      }
    },
    { arbitrary: { runs: 100 } }
  )
})
