import { describe, expect, it } from "@effect/vitest"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../support/MediaSample.ts"
import * as RoomRig from "./RoomRig.ts"
import { frequencies, room } from "./RoomRig.ts"

/** Members that each send a tone, by which they are named. */
const meeting = (count: number) => {
  const rig = RoomRig.make()
  const names = frequencies.slice(0, count).map(String)
  for (const name of names) {
    rig.open(name, RoomRig.tone(Number(name)))
    rig.enter(name)
  }
  rig.run(1000)
  return { ...rig, names }
}
const heard = -20
const gone = -60
const hears = ({ level }: Pick<RoomRig.Rig, "level">, who: string, whom: string) =>
  expect(level(who, Number(whom))).toBeCloseTo(heard, 0)
const isDeafTo = ({ level }: Pick<RoomRig.Rig, "level">, who: string, whom: string) =>
  expect(level(who, Number(whom))).toBeLessThan(gone)

describe("A room", () => {
  it("lets each member hear all others and not itself", () => {
    const rig = meeting(5)
    for (const one of rig.names) for (const other of rig.names) (one === other ? isDeafTo : hears)(rig, one, other)
  })

  it("does not mix who is muted, or on hold, who does not hear either", () => {
    const rig = meeting(3)
    rig.set("439", { type: "mute", isMuted: true })
    rig.set("761", { type: "hold", isHeld: true, audioUrl: null })
    rig.run(1000)
    isDeafTo(rig, "1151", "439")
    isDeafTo(rig, "1151", "761")
    isDeafTo(rig, "761", "1151")
    hears(rig, "439", "1151")
    rig.set("439", { type: "mute", isMuted: false })
    rig.set("761", { type: "hold", isHeld: false, audioUrl: null })
    rig.run(1000)
    hears(rig, "761", "439")
    hears(rig, "439", "761")
  })

  it("lets a monitor be heard by nobody, a whisper by its targets, a barge by all; mute wins over a role", () => {
    const rig = meeting(3)
    const role = (role: "none" | "monitor" | "whisper" | "barge", targets: ReadonlyArray<string> = []) => {
      rig.set("439", { type: "supervise", role, targets: targets.map(Ids.member) })
      rig.run(1000)
      hears(rig, "439", "761")
    }
    role("monitor")
    isDeafTo(rig, "761", "439")
    role("whisper", ["761"])
    hears(rig, "761", "439")
    isDeafTo(rig, "1151", "439")
    role("barge")
    hears(rig, "1151", "439")
    rig.set("439", { type: "mute", isMuted: true })
    role("whisper", ["761"])
    isDeafTo(rig, "761", "439")
    rig.set("439", { type: "mute", isMuted: false })
    role("none")
    hears(rig, "1151", "439")
  })

  it("lets a member in with its role and its music on hold from the first frame", () => {
    const rig = meeting(2)
    rig.open("1151", RoomRig.tone(1151))
    rig.enter("1151", { role: "whisper", targets: [Ids.member("761")] })
    rig.run(1000)
    hears(rig, "761", "1151")
    isDeafTo(rig, "439", "1151")
    rig.open("1637", RoomRig.tone(1637))
    rig.enter("1637", { isHeld: true, audioUrl: "https://music/" })
    const wanted = rig.events.flatMap((event) => (event.type === "wanted" ? [event.sound] : []))
    expect(wanted).toEqual([{ type: "url", url: "https://music/" }])
  })

  it("plays to all, or to certain members, and music to who is on hold; each sound ends once", () => {
    const rig = meeting(3)
    const supply = (leg: string, id: string, hz: number, ms: number) =>
      rig.handle({
        type: "supply",
        leg: Ids.leg(leg),
        id: Ids.work(id),
        sound: { rate: 8000, samples: Tone.sine(hz, -20, ms, 8000) },
        isLast: true
      })
    rig.set("1151", { type: "hold", isHeld: true, audioUrl: "https://music/" })
    const wanted = rig.events.flatMap((event) => (event.type === "wanted" ? [event] : []))
    expect(wanted.map(({ leg, sound }) => [leg, sound])).toEqual([[room, { type: "url", url: "https://music/" }]])
    supply("room", wanted[0]?.id ?? "", 2005, 400)
    rig.handle({ type: "media", leg: room, media: Media.play(Ids.work("all"), "https://a/") })
    supply("room", "all", 3001, 900)
    rig.run(800)
    expect(rig.level("761", 3001)).toBeCloseTo(heard, 0)
    expect(rig.level("1151", 3001)).toBeLessThan(gone)
    expect(rig.level("1151", 2005)).toBeCloseTo(heard, 0)
    rig.handle({
      type: "room_media",
      leg: room,
      media: Media.play(Ids.work("one"), "https://b/"),
      to: [Ids.member("761")]
    })
    supply("761", "one", 2503, 900)
    rig.run(800)
    expect(rig.level("761", 2503)).toBeCloseTo(heard, 0)
    expect(rig.level("439", 2503)).toBeLessThan(gone)
    // A playback to a leg replaces its music.
    rig.handle({ type: "media", leg: Ids.leg("1151"), media: Media.play(Ids.work("own"), "https://c/") })
    supply("1151", "own", 1301, 900)
    rig.run(800)
    expect(rig.level("1151", 1301)).toBeCloseTo(heard, 0)
    expect(rig.level("1151", 2005)).toBeLessThan(gone)
    rig.run(800)
    expect(rig.level("1151", 2005)).toBeCloseTo(heard, 0)
    rig.handle({
      type: "room_media",
      leg: room,
      media: Media.play(Ids.work("late"), "https://b/"),
      to: [Ids.member("761")]
    })
    supply("761", "late", 2503, 900)
    rig.run(100)
    rig.leave("761")
    rig.run(100)
    expect(rig.mediaOf(room)).toEqual([
      Media.completed(Ids.work("all")),
      Media.completed(Ids.work("one")),
      { type: "ended", id: "late", status: "stopped", reason: "member_left" }
    ])
    rig.set("1151", { type: "hold", isHeld: false, audioUrl: null })
    rig.run(1000)
    hears(rig, "1151", "439")
    expect(rig.level("1151", 2005)).toBeLessThan(gone)
    expect(rig.events).toContainEqual({ type: "unwanted", leg: room, id: wanted[0]?.id })
  })

  it("plays on to those who stay where a member leaves; what ends for the last of them ends so for all", () => {
    const rig = meeting(4)
    const play = (id: string, ...to: ReadonlyArray<string>) => {
      rig.handle({
        type: "room_media",
        leg: room,
        media: Media.play(Ids.work(id), "https://a/"),
        to: to.map(Ids.member)
      })
      const samples = Tone.sine(2503, -20, 400, 8000)
      for (const name of to)
        rig.handle({
          type: "supply",
          leg: Ids.leg(name),
          id: Ids.work(id),
          sound: { rate: 8000, samples },
          isLast: true
        })
    }
    play("whole", "439", "761", "1151")
    rig.run(100)
    rig.leave("761")
    rig.run(200)
    rig.close("439")
    expect(rig.mediaOf(room)).toEqual([])
    rig.run(300)
    play("stopped", "1151", "1637")
    rig.run(100)
    rig.handle({ type: "media", leg: Ids.leg("1151"), media: { type: "cut_playback" } })
    rig.leave("1637")
    play("left", "1151")
    rig.leave("1151")
    play("late", "1151", "1637")
    const ended = (id: string, status: string, reason: string | null) => ({ type: "ended", id, status, reason })
    expect(rig.mediaOf(room)).toEqual([
      ended("whole", "completed", null),
      ended("stopped", "stopped", null),
      ended("left", "stopped", "member_left"),
      ended("late", "stopped", "member_left")
    ])
  })

  it("refuses a leg that is in another junction, and lets all go when it is closed", () => {
    const rig = meeting(2)
    rig.enter("439", { memberId: Ids.member("again") })
    rig.handle({ type: "bridge", leg: Ids.leg("439"), peer: Ids.leg("761") })
    expect(rig.events.slice(-2)).toEqual([
      { type: "bridge_refused", leg: "439", reason: "already_joined" },
      { type: "bridge_refused", leg: "439", reason: "already_joined" }
    ])
    rig.handle({ type: "close", leg: room })
    expect(rig.events.at(-1)).toEqual({ type: "closed", leg: room })
    rig.enter("439")
    expect(rig.events.at(-1)).toEqual({ type: "bridge_refused", leg: "439", reason: "unknown_leg" })
    rig.handle({ type: "bridge", leg: Ids.leg("439"), peer: Ids.leg("761") })
    expect(rig.events.at(-1)).toEqual({ type: "bridged", leg: "439" })
    rig.run(1000)
    hears(rig, "439", "761")
  })
})
