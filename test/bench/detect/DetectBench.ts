import { Effect } from "effect"
import * as Machine from "../../../src/audio/detect/Machine.ts"
import * as Voice from "../../../src/audio/detect/Voice.ts"
import * as Report from "../Report.ts"
import * as Corpus from "./Corpus.ts"

/**
 * The machine detector on a synthetic corpus. The thresholds were set on voices that the half reported here does not
 * have.
 */
const humans = 240
const machines = 160

interface Outcome {
  readonly clip: Corpus.Clip
  readonly result: "human" | "machine" | "unknown"
  readonly atMs: number
  readonly beepAtMs: number | null
}

const resultOf = (verdict: Machine.Verdict): Outcome["result"] =>
  verdict === "machine" || verdict === "fax" ? "machine" : verdict.startsWith("human") ? "human" : "unknown"

const hear = (clip: Corpus.Clip): Outcome => {
  const machine = Machine.make()
  let outcome: Outcome = { clip, result: "unknown", atMs: 0, beepAtMs: null }
  for (let at = 0; at + 160 <= clip.sound.length; at += 160)
    for (const finding of machine.hear(clip.sound.subarray(at, at + 160), 8000)) {
      if (finding.type === "verdict")
        outcome = {
          ...outcome,
          result: resultOf(finding.verdict),
          atMs: finding.atMs,
          beepAtMs: finding.hasBeep ? finding.atMs : null
        }
      if (finding.type === "beep") outcome = { ...outcome, beepAtMs: finding.atMs }
    }
  return outcome
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

const quantile = (values: ReadonlyArray<number>, q: number): string => {
  const sorted = values.toSorted((a, b) => a - b)
  return `${((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0) / 1000).toFixed(1)} s`
}

/** A beep that is told within half a second behind one is it. */
const isTrueBeep = ({ beepAtMs, clip: { beep } }: Outcome): boolean =>
  beepAtMs !== null && beep !== null && beepAtMs >= beep.from && beepAtMs <= beep.to + 500

const figuresOf = (name: string, { clips, voices }: Corpus.Half): ReadonlyArray<Report.Figure> => {
  const outcomes = clips.map(hear)
  const of = (truth: Corpus.Clip["truth"]) => outcomes.filter(({ clip }) => clip.truth === truth)
  const row = (truth: Corpus.Clip["truth"]) => {
    const all = of(truth)
    const count = (result: Outcome["result"]) => all.filter((each) => each.result === result).length
    const value = `${count("human")} / ${count("machine")} / ${count("unknown")}`
    return Report.figure(`${name}: ${all.length} ${truth}s told as human / machine / unknown`, value)
  }
  const right = outcomes.filter(({ clip, result }) => clip.truth === result).length / outcomes.length
  const called = of("human").filter(({ result }) => result === "machine").length / of("human").length
  const hours = clips.reduce((sum, { sound }) => sum + sound.length, 0) / 8000 / 3600
  const withBeep = outcomes.filter(({ clip }) => clip.beep !== null)
  const falseBeeps = outcomes.filter((each) => each.beepAtMs !== null && !isTrueBeep(each)).length
  // A machine whose beep was heard is known in the end, whatever was told first.
  const last = outcomes.filter((each) => (each.beepAtMs === null ? each.result : "machine") === each.clip.truth).length
  return [
    Report.figure(`${name}: synthetic voices`, voices.join(" ")),
    row("human"),
    row("machine"),
    Report.against(`${name}: right at first`, percent(right), "95 %", right >= 0.95),
    Report.figure(`${name}: right in the end`, percent(last / outcomes.length)),
    Report.against(`${name}: humans called machines`, percent(called), "below 2 %", called < 0.02),
    ...(["human", "machine"] as const).map((truth) => {
      const times = of(truth).map(({ atMs }) => atMs)
      return Report.figure(
        `${name}: time to tell a ${truth}, p50 / p95`,
        `${quantile(times, 0.5)} / ${quantile(times, 0.95)}`
      )
    }),
    Report.figure(`${name}: beeps heard`, `${withBeep.filter(isTrueBeep).length} of ${withBeep.length}`),
    Report.figure(`${name}: false beeps an hour (${hours.toFixed(1)} h)`, (falseBeeps / hours).toFixed(1))
  ]
}

/** Microseconds of CPU for a frame of 20 ms. */
const costOf = (
  clips: ReadonlyArray<Corpus.Clip>,
  make: () => { hear: (samples: Int16Array, rate: 8000) => unknown }
): string => {
  const round = (): number => {
    const began = process.cpuUsage()
    let frames = 0
    for (const { sound } of clips) {
      const listener = make()
      for (let at = 0; at + 160 <= sound.length; at += 160, frames++) listener.hear(sound.subarray(at, at + 160), 8000)
    }
    return process.cpuUsage(began).user / frames
  }
  round()
  return `${Report.number(Math.min(round(), round(), round()))} µs`
}

export const run = Effect.sync((): ReadonlyArray<Report.Figure> => {
  const { fit, heldOut } = Corpus.make(humans, machines)
  const sample = heldOut.clips.filter((_, i) => i % 8 === 0)
  return [
    ...figuresOf("fit", fit),
    ...figuresOf("held out", heldOut),
    Report.figure("machine detection, a frame", costOf(sample, Machine.make)),
    Report.figure("voice activity, a frame", costOf(sample, Voice.make))
  ]
})
