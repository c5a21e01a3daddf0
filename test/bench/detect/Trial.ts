import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as AnsweringMachine from "../../../src/protocol/audio/detect/AnsweringMachine.ts"
import type * as Corpus from "./Corpus.ts"

/** The detector's result for a clip. */
export interface Outcome {
  /** The clip without its sound. */
  readonly clip: Omit<Corpus.Clip, "sound">
  readonly lengthMs: number
  readonly result: Corpus.Clip["truth"]
  readonly verdict: AnsweringMachine.Verdict | null
  /** Milliseconds after the answer. */
  readonly atMs: number
  /** In the time of the clip; null when no beep was reported. */
  readonly beepAtMs: number | null
}

export const results = {
  human_residence: "human",
  human_business: "human",
  machine: "machine",
  fax: "machine",
  silence: "unknown",
  not_sure: "unknown"
} as const satisfies Readonly<Record<AnsweringMachine.Verdict, Corpus.Clip["truth"]>>

export const frames = function* (sound: Int16Array, rate: SampleRate): Generator<Int16Array> {
  const length = rate / 50
  for (let at = 0; at + length <= sound.length; at += length) yield sound.subarray(at, at + length)
}

export const hear = ({ sound, ...clip }: Corpus.Clip): Outcome => {
  const machine = AnsweringMachine.make()
  const lengthMs = (1000 * sound.length) / clip.rate
  let outcome: Outcome = { clip, lengthMs, result: "unknown", verdict: null, atMs: 0, beepAtMs: null }
  let at = 0
  for (const frame of frames(sound, clip.rate)) {
    if (at === clip.answeredAt) machine.answered()
    at += 20
    for (const finding of machine.hear(frame, clip.rate)) {
      if (finding.type === "verdict") {
        const { atMs, hasBeep, verdict } = finding
        outcome = { ...outcome, result: results[verdict], verdict, atMs, beepAtMs: hasBeep ? at : null }
      }
      if (finding.type === "beep") outcome = { ...outcome, beepAtMs: at }
    }
  }
  return outcome
}

/** A reported beep is true from the beginning of a real one until half a second after its end. */
export const isTrueBeep = ({ beepAtMs, clip: { beep } }: Outcome): boolean =>
  beepAtMs !== null && beep !== null && beepAtMs >= beep.from && beepAtMs <= beep.to + 500

/** A machine whose beep was detected counts as known, whatever was reported first. */
export const inTheEnd = ({ beepAtMs, result }: Outcome): Outcome["result"] => (beepAtMs === null ? result : "machine")
