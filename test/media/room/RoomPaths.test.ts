import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Resample from "../../../src/protocol/audio/Resample.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import type { MemberChange } from "../../../src/ports/media/MemberChange.ts"
import { random } from "../../protocol/rtp/RandomBytes.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../support/MediaSample.ts"
import * as RoomRig from "./RoomRig.ts"
import { frequencies, room } from "./RoomRig.ts"

const meeting = (names: ReadonlyArray<string>, options?: Parameters<typeof RoomRig.make>[0]) => {
  const rig = RoomRig.make(options)
  for (const name of names) {
    rig.open(name, RoomRig.tone(Number(name)))
    rig.enter(name, { isHost: name === "439" })
    rig.run(3)
  }
  rig.run(1000)
  return rig
}
const wanted = {
  tracks: ["inbound", "outbound"],
  chunkMs: 20,
  mostRate: 48_000,
  mostWaiting: 100_000,
  beeps: { atStart: false, everyMs: null }
} as const

/** Returns the sound that a capture got since the last call, by track. */
const capture = (rig: RoomRig.Rig, leg: LegId) => {
  rig.handle({ type: "capture", leg, id: Ids.work("rec"), wanted })
  return () => {
    const chunks = rig.events.splice(0).flatMap((event) => (event.type === "captured" ? [event.chunk] : []))
    const track = (index: number) => Resample.concat(chunks.map(({ tracks }) => tracks[index] ?? new Int16Array(0)))
    return { inbound: track(0), outbound: track(1) }
  }
}
const level = (sound: Int16Array, frequency: number) => Goertzel.level(sound.subarray(-4000), frequency, 8000)

describe("A recording of a room", () => {
  it("has the host on one track and the others with what is played on the other, neither noise nor whispers", () => {
    const rig = meeting(["439", "761", "1151"])
    const heard = capture(rig, room)
    rig.handle({ type: "media", leg: room, media: Media.play(Ids.work("p"), "https://a/") })
    const samples = Tone.sine(2503, -20, 5000, 8000)
    rig.handle({ type: "supply", leg: room, id: Ids.work("p"), sound: { rate: 8000, samples }, isLast: true })
    rig.run(1000)
    const first = heard()
    expect(level(first.inbound, 439)).toBeCloseTo(-20, 0)
    for (const other of [761, 1151, 2503]) {
      expect(level(first.inbound, other)).toBeLessThan(-60)
      expect(level(first.outbound, other)).toBeCloseTo(-20, 0)
    }
    expect(level(first.outbound, 439)).toBeLessThan(-60)

    rig.set("1151", { type: "supervise", role: "whisper", targets: [Ids.member("761")] })
    rig.set("439", { type: "hold", isHeld: true, audioUrl: null })
    rig.handle({ type: "media", leg: room, media: Media.stopPlayback })
    rig.run(1000)
    const second = heard()
    expect(rig.level("761", 1151)).toBeCloseTo(-20, 0)
    expect(second.inbound.subarray(-4000).every((sample) => sample === 0)).toBe(true)
    expect(level(second.outbound, 1151)).toBeLessThan(-60)
    rig.set("761", { type: "mute", isMuted: true })
    rig.run(1000)
    expect(
      heard()
        .outbound.subarray(-4000)
        .every((sample) => sample === 0)
    ).toBe(true)
    // A monitor hears the noise of a line.
    expect(Goertzel.totalLevel(rig.take("761").subarray(-4000))).toBeGreaterThan(-30)
  })

  it("ends with its room", () => {
    const rig = meeting(["439", "761"])
    capture(rig, room)
    rig.run(100)
    rig.handle({ type: "close", leg: room })
    const ends = rig.events.filter(({ type }) => type === "capture_ended" || type === "closed")
    expect(ends).toEqual([
      { type: "capture_ended", leg: room, id: "rec", reason: "leg_closed" },
      { type: "closed", leg: room }
    ])
  })
})

describe("In a room", () => {
  it.prop(
    "a mute, a hold or a whisper cuts within two frames, at whatever moment",
    [
      Schema.Literals([0, 1, 3, 7, 11, 13, 17, 19]),
      Schema.Literals<ReadonlyArray<"mute" | "hold" | "supervise">>(["mute", "hold", "supervise"])
    ],
    ([ms, type]) => {
      const rig = meeting(["439", "761", "1151"])
      rig.run(ms)
      const change: MemberChange =
        type === "mute"
          ? { type, isMuted: true }
          : type === "hold"
            ? { type, isHeld: true, audioUrl: null }
            : { type, role: "whisper", targets: [] }
      rig.set("439", change)
      rig.run(40)
      rig.take("761")
      rig.take("439")
      rig.run(200)
      expect(Goertzel.level(rig.take("761"), 439, 8000)).toBeLessThan(-60)
      if (type === "hold") expect(rig.take("439").every((sample) => sample === 0)).toBe(true)
    }
  )

  it("a short tone is for all but one, and those on hold; another is not begun while it sounds", () => {
    const rig = meeting(["439", "761", "1151"])
    rig.set("1151", { type: "hold", isHeld: true, audioUrl: null })
    rig.run(100)
    for (const name of ["439", "761", "1151"]) rig.take(name)
    rig.handle({ type: "room_beep", leg: room, except: Ids.member("439") })
    rig.run(100)
    rig.handle({ type: "room_beep", leg: room, except: Ids.member("761") })
    rig.run(80)
    const beep = (_: string, sound: Int16Array) => Goertzel.level(sound.subarray(480, 1280), 1000, 8000)
    const [first, second, third] = ["439", "761", "1151"].map((name) => [name, rig.take(name)] as const)
    if (first === undefined || second === undefined || third === undefined) return expect.fail("three")
    expect(beep(...first)).toBeLessThan(-50)
    expect(beep(...second)).toBeCloseTo(-20, 0)
    expect(third[1].every((sample) => sample === 0)).toBe(true)
    rig.run(60)
    rig.take("761")
    rig.run(200)
    expect(Goertzel.level(rig.take("761").subarray(0, 800), 1000, 8000)).toBeLessThan(-50)
  })

  it("a call keeps its digits, which are told to it alone, its prompt, and its recording; it hears all of them to their end", () => {
    const rig = RoomRig.make()
    rig.open("439", RoomRig.tone(439))
    rig.open("761", RoomRig.tone(761))
    const heard = capture(rig, Ids.leg("439"))
    rig.handle({ type: "media", leg: Ids.leg("439"), media: Media.prompt(Ids.work("g"), "words", "5") })
    const samples = Tone.sine(2503, -20, 5000, 8000)
    rig.handle({ type: "supply", leg: Ids.leg("439"), id: Ids.work("g"), sound: { rate: 8000, samples }, isLast: true })
    rig.run(500)
    for (const name of ["439", "761"]) rig.enter(name)
    rig.run(1000)
    const { inbound, outbound } = heard()
    expect(inbound.length).toBeGreaterThan(8 * 1400)
    expect(level(inbound, 439)).toBeCloseTo(-20, 0)
    for (const other of [761, 2503]) expect(level(outbound, other)).toBeCloseTo(-20, 0)
    expect(rig.level("761", 2503)).toBeLessThan(-60)
    rig.phone("439").press("5")
    rig.run(700)
    expect(rig.mediaOf(Ids.leg("439")).map(({ type }) => type)).toEqual(["dtmf", "ended"])
    expect(rig.digitsOf(Ids.leg("761"))).toBe("")
    expect(rig.level("439", 2503)).toBeLessThan(-60)
    expect(rig.level("439", 761)).toBeCloseTo(-20, 0)
  })

  it("whoever speaks is told, and that it is over as soon as it is muted or leaves", () => {
    const rig = RoomRig.make()
    const voice = Tone.tone(
      [120, 240, 720, 1080, 2400].map((frequency, i) => ({ frequency, dbfs: [-26, -22, -20, -24, -32][i] ?? -30 })),
      4000,
      8000
    ).map((sample, i) => sample * Math.max(0, Math.sin(((i % 2000) / 2000) * (4 / 3) * Math.PI)))
    let at = 0
    rig.open("speaker", (out) => {
      out.set(voice.subarray(at, at + out.length))
      at = (at + out.length) % voice.length
    })
    rig.open("other", null)
    for (const name of ["speaker", "other"]) rig.enter(name)
    const told = () =>
      rig.events
        .splice(0)
        .flatMap((event) => (event.type === "spoke" ? [[event.leg, event.memberId, event.isSpeaking]] : []))
    rig.run(500)
    expect(told()).toEqual([[room, "speaker", true]])
    rig.set("speaker", { type: "mute", isMuted: true })
    expect(told()).toEqual([[room, "speaker", false]])
    rig.run(1000)
    expect(told()).toEqual([])
    rig.set("speaker", { type: "mute", isMuted: false })
    rig.run(500)
    rig.close("speaker")
    expect(told()).toEqual([
      [room, "speaker", true],
      [room, "speaker", false]
    ])
  })

  it("a member whose codec changes all the time does not make the room waver for the others", () => {
    const rig = meeting(["439", "761"])
    rig.open("restless", null)
    rig.enter("restless")
    const change = (frames: number) => {
      for (let frame = 0; frame < frames; frame++) {
        rig.phone("restless").rate = frame % 4 < 2 ? 16_000 : 8000
        rig.run(20)
      }
    }
    change(10)
    rig.take("439")
    change(100)
    const windows = Array.from({ length: 380 }, (_, at) => at * 40)
    const sound = rig.take("439")
    expect(Math.min(...windows.map((at) => Goertzel.totalLevel(sound.subarray(at, at + 40))))).toBeGreaterThan(-23)
    // Once all members stay narrow-band, the room is narrow-band too.
    rig.phone("restless").rate = 8000
    const converters = Resample.filtersHeld()
    rig.run(15_000)
    expect(Resample.filtersHeld()).toBeLessThan(converters)
  })

  it("nothing is due while nobody is there", () => {
    const rig = RoomRig.make()
    expect(rig.plane.nextDue()).toBe(null)
    rig.open("439", RoomRig.tone(439))
    rig.enter("439")
    rig.run(100)
    rig.close("439")
    rig.run(50)
    expect(rig.plane.nextDue()).toBe(null)
  })

  it("peers of all codecs hear each other", () => {
    const rig = RoomRig.make()
    const codecs = Codecs.names
    const heard: Array<ReadonlyArray<number>> = []
    // A phone, bridged with a leg whose peer is the member.
    codecs.forEach((codec, i) => {
      const phone = `phone ${codec}`
      rig.open(phone, RoomRig.tone(frequencies[i] ?? 300), Codecs.table[codec].sampleRate)
      const [far, near] = [Ids.leg(`far ${codec}`), Ids.leg(`near ${codec}`)]
      for (const leg of [far, near]) rig.handle({ type: "open_rtp", leg })
      const type = Codecs.table[codec].payloadType ?? 97
      const change = { codec, audio: { send: type, receive: type } }
      rig.handle({ type: "connect_rtp", leg: far, remote: rig.remote(rig.portOf(near), change) })
      rig.handle({ type: "connect_rtp", leg: near, remote: rig.remote(rig.portOf(far), change) })
      rig.handle({ type: "bridge", leg: far, peer: Ids.leg(phone) })
      rig.enter(`near ${codec}`)
    })
    rig.run(2500)
    codecs.forEach((codec) => {
      heard.push(frequencies.map((frequency) => rig.level(`phone ${codec}`, frequency)))
    })
    heard.forEach((levels, who) =>
      levels.forEach((each, other) => {
        if (who === other) expect(each).toBeLessThan(-55)
        else expect(Math.abs(each + 20)).toBeLessThan(codecs[who] === "OPUS" || codecs[other] === "OPUS" ? 4 : 1)
      })
    )
  })

  it.each([1, 2, 3, 4, 5, 6])(
    "what goes wrong with one member touches nobody else, whatever else happens (seed %i)",
    (seed) => {
      const noise = random(seed)
      const below = (limit: number) => Math.floor(noise() * limit)
      const held = Resample.filtersHeld()
      const defects: Array<unknown> = []
      const rig = meeting(["439", "761"], { onDefect: (error) => void defects.push(error) })
      rig.handle({ type: "open_room", leg: Ids.leg("other") })
      // The tone comes in words, like speech: a continuous one is noise, and gives way in a large room.
      const tone = RoomRig.tone(439)
      let frames = 0
      rig.phone("439").say = (out, rate) => {
        tone(out, rate)
        if (frames++ % 25 >= 20) out.fill(0)
      }
      const lost: Array<string> = []
      let opened = 0
      let names: Array<string> = []
      for (let step = 0; step < 400; step++) {
        const name = names[below(names.length)] ?? "none"
        const isHere = rig.plane.couldForward(Ids.leg(name)) || names.includes(name)
        switch (below(10)) {
          case 0:
          case 1: {
            const fresh = `m${opened++}`
            names.push(fresh)
            rig.open(fresh, RoomRig.tone(1151, -45), ([8000, 16_000, 48_000] as const)[below(3)])
            break
          }
          case 2:
          case 3:
            if (isHere) rig.enter(name, { memberId: Ids.member(name) }, below(4) === 0 ? Ids.leg("other") : room)
            break
          case 4:
            rig.leave(name)
            break
          case 5:
            rig.set(name, { type: "hold", isHeld: below(2) === 0, audioUrl: below(2) === 0 ? "https://m/" : null })
            break
          case 6:
            rig.set(name, {
              type: "supervise",
              role: (["none", "monitor", "whisper", "barge"] as const)[below(4)] ?? "none",
              targets: [Ids.member(names[below(names.length)] ?? "none")]
            })
            break
          case 7:
            rig.set(name, { type: "mute", isMuted: below(2) === 0 })
            rig.handle({ type: "room_beep", leg: room, except: null })
            break
          case 8:
            if (names.length > 8) {
              names = names.filter((each) => each !== name)
              rig.close(name)
            }
            break
          case 9:
            if (isHere && below(3) === 0) {
              names = names.filter((each) => each !== name)
              lost.push(name)
              rig.phone(name).say = () => {
                throw new Error("a fault")
              }
            }
        }
        rig.run(below(25))
      }
      rig.run(100)
      expect(defects.length).toBe(lost.length)
      expect(rig.events.flatMap((event) => (event.type === "lost" ? [event.leg] : [])).sort()).toEqual([...lost].sort())
      rig.take("761")
      rig.run(1000)
      expect(rig.level("761", 439)).toBeGreaterThan(-23)
      rig.plane.close(1_000_000)
      expect(Resample.filtersHeld()).toBe(held)
      expect(rig.plane.size()).toBe(0)
    }
  )
})
