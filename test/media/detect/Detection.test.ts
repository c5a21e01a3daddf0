import { describe, expect, it } from "@effect/vitest"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import * as SimulatedPhone from "../../../src/media/SimulatedPhone.ts"
import * as Sounds from "../../protocol/audio/detect/Sounds.ts"
import * as Ids from "../../support/Ids.ts"
import * as Taps from "../../../src/media/mix/Tap.ts"
import * as FakeLeg from "../support/FakeLeg.ts"

/** A leg whose far end sends a sound, then silence. */
const saying = (sound: Int16Array, options: FakeLeg.Options = {}) => {
  let at = 0
  return FakeLeg.make({
    ...options,
    say: ({ samples }) => {
      samples.fill(0)
      samples.set(sound.subarray(at, at + samples.length))
      at += samples.length
    }
  })
}
const run = (ms: number, ...fakes: ReadonlyArray<FakeLeg.FakeLeg>) => {
  for (let now = 0; now < ms; now += 20) for (const { leg } of fakes) leg.tick(now)
}
const digitsOf = ({ events }: FakeLeg.FakeLeg) =>
  events.flatMap((event) => (event.type === "dtmf" ? [event.digit] : [])).join("")

const tones = Sounds.join(Sounds.silence(100), Sounds.digits("15#"), Sounds.silence(500))

describe("Digits in the sound of a leg", () => {
  it("are told, and stop a prompt, where the far end presses them as tones", () => {
    const fake = saying(tones, { pressesTones: true })
    const prompt = Ids.work("prompt")
    fake.leg.command({
      type: "prompt",
      id: prompt,
      sound: { type: "url", url: "https://a/" },
      stoppedBy: "15#"
    })
    run(1000, fake)
    expect(digitsOf(fake)).toBe("15#")
    expect(fake.events[1]).toMatchObject({ type: "ended", id: prompt, status: "stopped" })
  })

  it("are sound where it has agreed to telephone events", () => {
    const fake = saying(tones)
    run(1000, fake)
    expect(digitsOf(fake)).toBe("")
  })

  it("are sent on to a bridged leg that takes events, and heard by one that listens to tones itself", () => {
    const ends = [true, false].map((pressesTones) => {
      const [from, to] = [saying(tones, { pressesTones: true }), FakeLeg.make({ pressesTones })]
      Bridge.make(from.leg, to.leg)
      run(2000, from, to)
      expect(digitsOf(from)).toBe("15#")
      return to.digits.join("")
    })
    expect(ends).toEqual(["", "15#"])
  })

  it("of a simulated phone that plays them are heard; an echo presses its own", () => {
    const plays = SimulatedPhone.make({ type: "plays", parts: [], repeats: false }, () => undefined)
    const echo = SimulatedPhone.make({ type: "echo" }, () => undefined)
    expect([plays.pressesTones(), echo.pressesTones()]).toEqual([true, false])
  })
})

describe("Machine detection on a leg", () => {
  const id = Ids.work("detection")
  const voicemail = Sounds.join(
    Sounds.silence(500),
    Sounds.voice(7000),
    Sounds.silence(300),
    Tone.sine(800, -12, 400, 8000)
  )

  it("tells who answered, the beep, and its end, once, however often it was asked", () => {
    const fake = saying(voicemail)
    fake.leg.command({ type: "detect_machine", id })
    run(200, fake)
    fake.leg.command({ type: "detect_machine", id })
    run(12_000, fake)
    expect(fake.events).toMatchObject([
      { type: "machine_detected", id, verdict: "machine", hasBeep: false },
      { type: "machine_beeped", id },
      { type: "ended", id, status: "completed", reason: null }
    ])
    expect(fake.leg.taps.isEmpty()).toBe(true)
  })

  it("goes on with what it heard before the answer, of which nothing is told", () => {
    const sit = [950, 1400, 1800].map((hz) => Tone.sine(hz, -16, 330, 8000))
    const fake = saying(Sounds.join(Sounds.silence(200), ...sit, Sounds.silence(200), Sounds.voice(2000)))
    fake.leg.command({ type: "listen_early" })
    run(2000, fake)
    fake.leg.command({ type: "listen_early" })
    expect(fake.events).toEqual([])
    fake.leg.command({ type: "detect_machine", id })
    run(40, fake)
    expect(fake.events).toMatchObject([{ type: "machine_detected", id, verdict: "machine", hasBeep: false }])
  })

  it("tells nothing of a leg that is closed before its answer, and begins anew where it could not listen", () => {
    const closed = saying(voicemail)
    closed.leg.command({ type: "listen_early" })
    closed.leg.close(20)
    expect(closed.events).toEqual([])
    const full = saying(voicemail)
    const tap: Taps.Tap = { wants: () => false, hear: () => undefined, ended: () => undefined }
    const taps = Array.from({ length: Taps.maxTaps }, () => ({ ...tap }))
    for (const each of taps) full.leg.taps.add(each)
    full.leg.command({ type: "listen_early" })
    for (const each of taps) full.leg.taps.remove(each)
    full.leg.command({ type: "detect_machine", id })
    run(12_000, full)
    expect(full.events.map(({ type }) => type)).toEqual(["machine_detected", "machine_beeped", "ended"])
  })

  it("fails when its leg is closed, or has no place for another tap", () => {
    const fake = saying(voicemail)
    fake.leg.command({ type: "detect_machine", id })
    run(200, fake)
    fake.leg.close(200)
    expect(fake.events).toEqual([{ type: "ended", id, status: "failed", reason: "closed" }])
    const late = saying(voicemail)
    late.leg.close(0)
    late.leg.command({ type: "detect_machine", id })
    expect(late.events).toEqual([{ type: "ended", id, status: "failed", reason: "too_many_taps" }])
  })
})
