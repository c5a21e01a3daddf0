import { describe, expect, it } from "@effect/vitest"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { Wanted } from "../../../src/media/capture/Capture.ts"
import type { CaptureEvent } from "../../../src/media/capture/CaptureMessage.ts"
import { maxTaps } from "../../../src/media/mix/Tap.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as SwitchBench from "../SwitchBench.ts"

const wanted: Wanted = {
  tracks: ["inbound", "outbound"],
  chunkMs: 100,
  mostRate: 16_000,
  mostWaiting: 4,
  beeps: { atStart: false, everyMs: null }
}
const id = Ids.work("capture")
const leg = Ids.leg("leg")

const setup = (options: FakeLeg.Options = {}) => {
  const { render } = Tone.oscillator([{ frequency: 440, dbfs: -12 }], 8000)
  const fake = FakeLeg.make({ say: ({ samples }) => render(samples), ...options })
  let now = 0
  const { captures } = fake.leg
  return {
    ...fake,
    start: (more: Partial<Wanted> = {}, of = id) =>
      captures.command({ type: "capture", leg, id: of, wanted: { ...wanted, ...more } }),
    taken: (chunks: number) => captures.command({ type: "capture_taken", leg, id, chunks }),
    stop: () => captures.command({ type: "capture_stop", leg, id }),
    run: (ms: number) => {
      for (const end = now + ms; now < end;) fake.leg.tick((now += 20))
    },
    told: () => fake.captured.map((event) => (event.type === "captured" ? event.chunk.tracks[0]?.length : event.reason))
  }
}
const soundOf = (events: ReadonlyArray<CaptureEvent>, track: number) =>
  Int16Array.from(events.flatMap((event) => (event.type === "captured" ? [...(event.chunk.tracks[track] ?? [])] : [])))

describe("A capture", () => {
  it("hands out both tracks in chunks, the last one short, and then its end", () => {
    const { start, captured, run, stop, told } = setup()
    start()
    run(260)
    stop()
    run(100)
    expect(told()).toStrictEqual([800, 800, 480, "stopped"])
    expect(Goertzel.level(soundOf(captured, 0).slice(0, 1600), 440, 8000)).closeTo(-12, 0.2)
    expect(soundOf(captured, 1).every((sample) => sample === 0)).toBe(true)
  })

  it("begins when the leg has sound", () => {
    const { start, present, run, stop, told } = setup()
    present.isReady = false
    start()
    run(1000)
    present.isReady = true
    run(100)
    stop()
    expect(told()).toStrictEqual([800, "stopped"])
  })

  it("ends with what was heard when the leg is closed", () => {
    const { start, leg: local, run, told } = setup()
    start()
    run(40)
    local.close(40)
    expect(told()).toStrictEqual([320, "leg_closed"])
  })

  it("ends when its receiver takes too little, and not while it takes", () => {
    const { start, run, taken, told } = setup()
    start()
    for (let i = 0; i < 10; i++) {
      run(200)
      taken(2)
    }
    expect(told().at(-1)).toBe(800)
    run(700)
    expect(told().at(-1)).toBe("receiver_slow")
  })

  it("is refused when the leg has no place for another tap", () => {
    const { start, captured } = setup()
    for (let i = 0; i <= maxTaps; i++) start({}, Ids.work(`c${i}`))
    expect(captured).toStrictEqual([{ type: "capture_ended", id: Ids.work(`c${maxTaps}`), reason: "too_many_taps" }])
  })

  it("of a leg that is not there ends at once", () => {
    const bench = SwitchBench.make()
    bench.handle({ type: "capture", leg, id, wanted })
    expect(bench.events.at(-1)).toStrictEqual({ type: "capture_ended", leg, id, reason: "unknown_leg" })
  })
})
