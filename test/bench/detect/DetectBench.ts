import { Effect } from "effect"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Dtmf from "../../../src/protocol/audio/detect/Dtmf.ts"
import * as AnsweringMachine from "../../../src/protocol/audio/detect/AnsweringMachine.ts"
import * as Voice from "../../../src/protocol/audio/detect/Voice.ts"
import * as Report from "../Report.ts"
import * as Corpus from "./Corpus.ts"
import * as Line from "./Line.ts"
import * as Trial from "./Trial.ts"

/**
 * The machine detector on a synthetic corpus. Its limits were set (`Tune.ts`) on a half that shares neither a voice nor
 * a sentence with the half that is reported here, except the single words that all people use.
 */
const counts = { person: 240, voicemail: 160, intercept: 20, fax: 20, nobody: 20 }
const results = ["human", "machine", "unknown"] as const

type Outcome = Trial.Outcome
type Outcomes = ReadonlyArray<Outcome>

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const quantile = (values: ReadonlyArray<number>, q: number): string => {
  const sorted = values.toSorted((a, b) => a - b)
  return `${((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0) / 1000).toFixed(1)} s`
}

const isRight = ({ clip, result }: Outcome): boolean => result === clip.truth
const shareOf = (all: Outcomes, holds: (outcome: Outcome) => boolean): number =>
  all.length === 0 ? 0 : all.filter(holds).length / all.length
const times = (name: string, all: Outcomes): Report.Figure => {
  const atMs = all.map((each) => each.atMs)
  return Report.figure(`${name}, p50 / p95`, `${quantile(atMs, 0.5)} / ${quantile(atMs, 0.95)}`)
}

/** Makes a row for each kind, or for another common property of clips. */
const matrix = (all: Outcomes): ReadonlyArray<Report.Figure> =>
  Corpus.kinds.map((kind) => {
    const of = all.filter(({ clip }) => clip.kind === kind)
    const value = results.map((result) => of.filter((each) => each.result === result).length).join(" / ")
    return Report.figure(`${of.length} × ${kind}, told as ${results.join(" / ")}`, value)
  })

const by = (what: string, all: Outcomes, of: (outcome: Outcome) => string): ReadonlyArray<Report.Figure> =>
  [...new Set(all.map(of))].toSorted().map((value) => {
    const some = all.filter((each) => of(each) === value)
    return Report.figure(`right, ${what} ${value} (${some.length})`, percent(shareOf(some, isRight)))
  })

const figuresOf = (all: Outcomes): ReadonlyArray<Report.Figure> => {
  const people = all.filter(({ clip }) => clip.truth === "human")
  const machines = all.filter(({ clip }) => clip.truth === "machine")
  const right = shareOf(all, isRight)
  const called = shareOf(people, ({ result }) => result === "machine")
  const hours = all.reduce((sum, { lengthMs }) => sum + lengthMs, 0) / 3_600_000
  const withBeep = all.filter(({ clip }) => clip.beep !== null)
  const falseBeeps = all.filter((each) => each.beepAtMs !== null && !Trial.isTrueBeep(each)).length
  return [
    ...matrix(all),
    Report.against("right at first", percent(right), "95 %", right >= 0.95),
    Report.figure("right in the end", percent(shareOf(all, (each) => Trial.inTheEnd(each) === each.clip.truth))),
    Report.against("people called machines", percent(called), "below 2 %", called < 0.02),
    Report.figure("machines called people", percent(shareOf(machines, ({ result }) => result === "human"))),
    times("time to tell", all),
    times("time to tell a person", people),
    times("time to tell a machine", machines),
    ...by("noise", all, ({ clip }) => clip.line.noise),
    ...by("codec", all, ({ clip }) => clip.line.codec),
    ...by("loss", all, ({ clip }) => percent(clip.line.loss)),
    ...by("before the answer", all, ({ clip }) => clip.early),
    Report.figure("beeps heard", `${withBeep.filter(Trial.isTrueBeep).length} of ${withBeep.length}`),
    Report.figure(`false beeps an hour (${hours.toFixed(1)} h)`, (falseBeeps / hours).toFixed(1))
  ]
}

/** The microseconds of CPU for a frame of 20 ms. */
const costOf = (
  clips: ReadonlyArray<Corpus.Clip>,
  make: () => { hear: (samples: Int16Array, rate: SampleRate) => unknown }
): string => {
  const round = (): number => {
    const began = process.cpuUsage()
    let frames = 0
    for (const { rate, sound } of clips) {
      const listener = make()
      for (const frame of Trial.frames(sound, rate)) {
        listener.hear(frame, rate)
        frames++
      }
    }
    return process.cpuUsage(began).user / frames
  }
  round()
  return `${Report.number(Math.min(round(), round(), round()))} µs`
}

const answered = () => {
  const machine = AnsweringMachine.make()
  machine.answered()
  return machine
}

export const run = Effect.sync((): ReadonlyArray<Report.Figure> => {
  const outcomes: Array<Outcome> = []
  const sample: Array<Corpus.Clip> = []
  let digits = 0
  for (const clip of Corpus.make(Corpus.heldOut, counts)) {
    outcomes.push(Trial.hear(clip))
    if (outcomes.length % 8 === 0) sample.push(clip)
    const dtmf = Dtmf.make()
    for (const frame of Trial.frames(clip.sound, clip.rate)) if (dtmf.hear(frame, clip.rate) !== null) digits++
  }
  return [
    Report.figure("synthetic voices", Corpus.heldOut.voices.map((voice) => voice.split(":").at(-1)).join(" ")),
    ...figuresOf(outcomes),
    Report.figure(`digits taken for tones in speech, ${Line.codecs.join(" ")}`, String(digits)),
    Report.figure("machine detection, a frame", costOf(sample, answered)),
    Report.figure("voice activity, a frame", costOf(sample, Voice.make))
  ]
})
