import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as RingbackTone from "../../../../src/protocol/audio/RingbackTone.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import { limits } from "../../../../src/protocol/audio/detect/Limits.ts"
import * as AnsweringMachine from "../../../../src/protocol/audio/detect/AnsweringMachine.ts"
import * as Sounds from "./Sounds.ts"

const findings = (...parts: ReadonlyArray<Int16Array>) => {
  const machine = AnsweringMachine.make()
  machine.answered()
  return Sounds.frames(Sounds.join(...parts), 8000, (samples) => machine.hear(samples, 8000)).flat()
}
/** The findings without their times. */
const told = (...parts: ReadonlyArray<Int16Array>) =>
  findings(...parts).flatMap((each) =>
    each.type === "verdict"
      ? [each.hasBeep ? `${each.verdict} with beep` : each.verdict]
      : each.type === "beep"
        ? ["beep"]
        : []
  )
const { cadence, silence, voice } = Sounds
const beep = (frequency: number, ms: number, dbfs = -12) => Tone.sine(frequency, dbfs, ms, 8000)
const quiet = silence(6000)

describe("Machine detection", () => {
  it("knows a person by a short greeting and silence", () => {
    expect(told(silence(600), voice(700), quiet)).toEqual(["human_residence"])
    expect(told(silence(600), voice(2600), quiet)).toEqual(["human_business"])
  })

  it("knows a machine that talks on, and tells its beep again", () => {
    expect(told(silence(600), voice(7000), quiet)).toEqual(["machine"])
    for (const pitch of [100, 210])
      expect(told(silence(600), voice(7000, { pitch }), silence(400), beep(1000, 400), quiet)).toEqual([
        "machine",
        "beep"
      ])
  })

  it("tells a machine that beeps behind what sounded like a person", () => {
    expect(told(silence(600), voice(800), silence(2500), beep(440, 500), quiet)).toEqual(["human_residence", "beep"])
  })

  it("knows a machine by a beep alone, once", () => {
    expect(told(silence(600), beep(800, 300), quiet)).toEqual(["machine with beep"])
  })

  it.each([380, 440, 700, 1000, 1400, 1980].flatMap((hz) => [120, 300, 1000, 1400].map((ms) => [hz, ms] as const)))(
    "hears a beep of %i Hz and %i ms, also in noise",
    (hz, ms) => {
      for (const dbfs of [-60, -38]) {
        const sound = Sounds.join(silence(500), voice(6500), silence(500), beep(hz, ms, -14), silence(1500))
        // In much noise less of the speech is detected, and the beep may decide.
        expect(["machine beep", "machine with beep"]).toContain(
          told(Sounds.mixed(sound, Sounds.noise(dbfs, 10_500))).join(" ")
        )
      }
    }
  )

  it.each([
    ["too short", beep(1000, 40)],
    ["too long", beep(1000, 2500)],
    ["too low", beep(250, 500)],
    ["too faint", beep(1000, 500, -60)],
    ["busy", cadence([480, 620], -19, 500, 500, 500, 500)],
    ["ring-back", cadence([440, 480], -19, 1000, 1000)],
    ["digits", Sounds.digits("159#")],
    ["a melody", Sounds.join(beep(880, 300), beep(988, 300), beep(880, 300))]
  ])("does not take for a beep what is %s", (_, sound) => {
    expect(told(silence(500), voice(6500), silence(500), sound, silence(2000))).toEqual(["machine"])
  })

  it("knows a fax machine that answers, and one that calls", () => {
    expect(told(silence(300), beep(2100, 3000), quiet)).toEqual(["fax"])
    expect(told(cadence([1100], -13, 500, 3000, 500, 3000))).toEqual(["fax"])
    expect(told(silence(300), cadence([1100], -13, 500, 8000))).toEqual(["machine with beep"])
  })

  it("knows a special information tone", () => {
    expect(told(silence(300), beep(950, 330), beep(1400, 330), beep(1800, 330), voice(3000))).toEqual(["machine"])
  })

  it.each(RingbackTone.countries)("waits while the ring-back tone of %s sounds", (country) => {
    const { cadenceMs, components } = RingbackTone.table[country]
    const round = Sounds.join(
      ...cadenceMs.map((ms, i) => (i % 2 === 0 ? Tone.tone(components, ms, 8000) : silence(ms)))
    )
    expect(told(round, round, silence(500), voice(800), silence(2000))).toEqual(["human_residence"])
  })

  it("gives up when nobody speaks, and when nothing can be told", () => {
    expect(findings(silence(40_000))).toEqual([
      { type: "verdict", verdict: "silence", hasBeep: false, atMs: 5000 },
      { type: "done", atMs: 35_000 }
    ])
    expect(told(cadence([480, 620], -19, ...Array.from({ length: 70 }, () => 500)))).toEqual(["not_sure"])
  })

  describe("hears what comes before the answer, of which it tells nothing", () => {
    const after = (early: Int16Array, ...parts: ReadonlyArray<Int16Array>) => {
      const machine = AnsweringMachine.make()
      const hear = (samples: Int16Array) => machine.hear(samples, 8000)
      expect(Sounds.frames(early, 8000, hear).flat()).toEqual([])
      machine.answered()
      return Sounds.frames(Sounds.join(...parts), 8000, hear).flat()
    }
    const verdicts = (all: ReadonlyArray<AnsweringMachine.Finding>) =>
      all.flatMap((each) => (each.type === "verdict" ? [each.verdict] : []))
    const sit = Sounds.join(beep(950, 330), beep(1400, 330), beep(1800, 330))

    it("a special information tone is a machine's, whatever was said behind it", () => {
      expect(after(Sounds.join(silence(300), sit, voice(3000)), voice(500))[0]).toEqual({
        type: "verdict",
        verdict: "machine",
        hasBeep: false,
        atMs: 20
      })
      expect(verdicts(after(Sounds.join(beep(950, 330), beep(1400, 330)), beep(1800, 330), quiet))).toEqual(["machine"])
    })

    it("a greeting that goes on through the answer is as long as it is", () => {
      expect(verdicts(after(voice(2500), voice(1800), quiet))).toEqual(["machine"])
      expect(verdicts(after(silence(500), voice(1800), quiet))).not.toEqual(["machine"])
    })

    it("neither ring-back, nor a tune or an announcement that ends with the answer, counts", () => {
      for (const early of [
        cadence([440, 480], -19, 2000, 4000, 2000),
        voice(6000),
        Sounds.join(voice(6000), beep(1000, 500)),
        silence(40_000)
      ])
        expect(verdicts(after(early, silence(700), voice(700), quiet))).toEqual(["human_residence"])
    })

    it("what was being said at the answer and is over at once was not said by who answered", () => {
      expect(verdicts(after(voice(6000), voice(220, { seed: 3 }), quiet))).toEqual(["silence"])
      expect(verdicts(after(silence(6000), voice(220, { seed: 3 }), quiet))).toEqual(["human_residence"])
    })

    it("a person is heard behind music that was louder", () => {
      const tune = Sounds.join(...Array.from({ length: 12 }, (_, i) => voice(400, { dbfs: -8, pitch: 200, seed: i })))
      expect(verdicts(after(tune, silence(400), voice(600, { dbfs: -33 }), quiet))).toEqual(["human_residence"])
    })
  })

  it("waits for a person's silence the longer, the more was said before", () => {
    const at = (ms: number) => findings(silence(500), voice(ms), quiet)[0]?.atMs ?? 0
    const waits = [300, 600, 1500].map((ms) => at(ms) - 500 - ms)
    expect(waits[0]).toBeGreaterThan(600)
    expect(waits[0]).toBeLessThan(900)
    expect(waits[1]).toBeGreaterThan((waits[0] ?? 0) + 100)
    expect(waits[2]).toBeGreaterThan((waits[1] ?? 0) + 400)
    expect(waits[2]).toBeLessThan(1800)
  })

  it("knows a person who asks again when nobody speaks, and a machine that goes on behind a long pause", () => {
    const before = [silence(500), voice(2400), silence(1350)]
    expect(told(...before, voice(450, { seed: 3 }), quiet)).toEqual(["human_business"])
    expect(told(...before, voice(1500, { seed: 3 }), quiet)).toEqual(["machine"])
  })

  it("waits in a pause that has the noise of a recording, and not in one that is as before", () => {
    const pause = 2100
    const spoken = Sounds.join(voice(1200), silence(pause), voice(2500, { seed: 3 }), silence(3000))
    const noise = Sounds.noise(-46, spoken.length / 8)
    const lead = 900
    expect(told(silence(lead), Sounds.mixed(spoken, noise))).toEqual(["machine"])
    expect(told(silence(lead), spoken)[0]).toBe("human_residence")
    const around = Sounds.noise(-46, lead + spoken.length / 8)
    expect(told(Sounds.mixed(Sounds.join(silence(lead), spoken), around))[0]).toBe("human_residence")
  })

  it("hears a beep as one from which a packet is lost", () => {
    const lost = Sounds.join(beep(1000, 200), Sounds.noise(-40, 40), beep(1000, 260))
    expect(told(silence(600), voice(6500), silence(500), lost, quiet)).toEqual(["machine", "beep"])
  })

  it("takes no faint voices where nobody speaks for a greeting", () => {
    expect(told(voice(9000, { dbfs: -49 }))).toEqual(["silence"])
    expect(told(silence(500), voice(700, { dbfs: -36 }), quiet)).toEqual(["human_residence"])
  })

  it("takes a greeting with pauses for one, as long as it lasts", () => {
    const parts = [voice(700), silence(900), voice(900, { seed: 2 }), silence(900), voice(700, { seed: 3 })]
    expect(told(silence(600), ...parts, quiet)).toEqual(["machine"])
  })

  it("hears a person behind the noise of a street, and is not kept waiting by it", () => {
    const sound = Sounds.join(silence(800), voice(500, { dbfs: -20 }), silence(4000))
    for (const seed of [1, 2, 3])
      expect(told(Sounds.mixed(sound, Sounds.noise(-38, 5300, { isBrown: true, seed })))).toEqual(["human_residence"])
  })

  it("does not take the voices around a person for a long greeting", () => {
    const around = voice(8000, { dbfs: -46, seed: 5, pitch: 200 })
    const sound = Sounds.join(silence(300), voice(600, { dbfs: -6 }), silence(7100))
    expect(told(Sounds.mixed(sound, around))[0]).toBe("human_residence")
  })

  it("is in no hurry: a person who waits before the first word is a person", () => {
    expect(told(silence(3500), voice(800), quiet)).toEqual(["human_residence"])
  })

  const tone = Schema.NullOr(
    Schema.Struct({
      hz: Schema.Int.check(Schema.isBetween({ minimum: 350, maximum: 2200 })),
      ms: Schema.Int.check(Schema.isBetween({ minimum: 20, maximum: 3000 }))
    })
  )
  const stretch = Schema.Struct({
    isSpeech: Schema.Boolean,
    noiseDbfs: Schema.Int.check(Schema.isBetween({ minimum: -120, maximum: 0 })),
    now: tone,
    ended: tone,
    frames: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 }))
  })
  it.prop(
    "tells a verdict once, then at most one beep, then that it is done, whatever it hears",
    { stretches: Schema.Array(stretch) },
    ({ stretches }) => {
      let rules = AnsweringMachine.answered(AnsweringMachine.start)
      const all: Array<AnsweringMachine.Finding> = []
      const hear = (frame: AnsweringMachine.Frame) => {
        const [next, found] = AnsweringMachine.step(rules, frame)
        rules = next
        all.push(...found)
      }
      for (const { ended, frames, isSpeech, noiseDbfs, now } of stretches)
        for (let i = 0; i < frames; i++)
          hear({
            isSpeech,
            noiseDbfs,
            tone: {
              now,
              ended: i === 0 ? ended : null,
              endedAgoMs: 20,
              soundMs: now === null ? 0 : i * 20,
              quietMs: now === null ? i * 20 : 0
            }
          })
      for (let i = 0; i < 4000; i++)
        hear({
          isSpeech: false,
          noiseDbfs: -60,
          tone: { now: null, ended: null, endedAgoMs: 0, soundMs: 0, quietMs: 1000 }
        })
      const types = all.map(({ type }) => type).join(" ")
      expect(["verdict done", "verdict beep done"]).toContain(types)
      expect(all.every(({ atMs }, i) => atMs >= (all[i - 1]?.atMs ?? 0))).toBe(true)
      expect(all[0]?.atMs).toBeLessThanOrEqual(limits.total)
    }
  )
})
