import type { SampleRate } from "../SampleRate.ts"
import * as SoundFeatures from "./SoundFeatures.ts"
import * as Greeting from "./Greeting.ts"
import { limits, type Patience } from "./Limits.ts"
import * as Signals from "./Signals.ts"
import * as Tones from "./Tones.ts"
import * as Voice from "./Voice.ts"

/** The kind of party that answered. `silence`: no speech. `not_sure`: no decision in time. */
export type Verdict = "human_residence" | "human_business" | "machine" | "fax" | "silence" | "not_sure"

/** A result of detection, in order. Times are in milliseconds since its begin. */
export type Finding =
  /** Comes once. `hasBeep`: the verdict follows from a beep, which is not reported again. */
  | { readonly type: "verdict"; readonly verdict: Verdict; readonly hasBeep: boolean; readonly atMs: number }
  /** A beep after the verdict, which proves a machine whatever the verdict was. Comes once. */
  | { readonly type: "beep"; readonly atMs: number }
  /** The last finding. */
  | { readonly type: "done"; readonly atMs: number }

/** The input of the rules from a frame of 20 ms. */
export interface Frame {
  readonly isSpeech: boolean
  readonly noiseDbfs: number
  readonly tone: Tones.Heard
}

interface Rules {
  /** Nothing is reported before the answer. */
  readonly isAnswered: boolean
  /** The time since the begin, and from the answer on since the answer. */
  readonly atMs: number
  readonly talk: Greeting.Talk
  readonly signals: Signals.Signals
  readonly verdict: { readonly verdict: Verdict; readonly atMs: number } | null
  readonly isDone: boolean
}

export const start: Rules = {
  isAnswered: false,
  atMs: 0,
  talk: Greeting.start,
  signals: Signals.start,
  verdict: null,
  isDone: false
}

/**
 * The far end has answered. Most of the sound before says little: ring-back, or a tune in its place, ends with the
 * answer. But a special information tone means that no person was reached, and a greeting that continues keeps its
 * beginning.
 */
export const answered = ({ atMs, signals, talk }: Rules): Rules => ({
  ...start,
  isAnswered: true,
  talk: Greeting.answered(talk, atMs),
  signals: Signals.answered(signals)
})

const lengthOf = ({ from, to }: Greeting.Greeting): number => to - from
/** The length of the speech since the last long pause, or of the whole greeting. */
const lastOf = ({ againFrom, from, to }: Greeting.Greeting): number => to - (againFrom ?? from)

/** How long a person waits in silence after a greeting. */
const waitBehind = ({ waits }: Patience, greeting: Greeting.Greeting): number =>
  waits.find((wait) => lastOf(greeting) < wait.greeting)?.silence ?? 0

/** Whether it is longer than a person's. */
const isMachines = (greeting: Greeting.Greeting, patience: Patience): boolean => {
  const { againFrom, hasPause } = greeting
  if (againFrom !== null && lastOf(greeting) < patience.askedGreeting) return false
  return lengthOf(greeting) >= (hasPause ? patience.pausedGreeting : patience.machineGreeting)
}

/** Returns the verdict so far; null: none yet. */
const judge = ({ atMs, signals, talk }: Rules, isBeep: boolean, patience: Patience): Verdict | null => {
  const { faxCallAtMs, faxMs, isIntercepted } = signals
  const { greeting, silenceMs } = talk
  if (faxMs >= limits.faxAnswer) return "fax"
  if (isBeep || isIntercepted) return "machine"
  if (faxCallAtMs !== null && atMs - faxCallAtMs > limits.faxCallAgain) return "machine"
  if (greeting === null) {
    if (silenceMs >= limits.silence && faxCallAtMs === null) return "silence"
  } else {
    if (isMachines(greeting, patience)) return "machine"
    const wait = Greeting.isRecording(talk) ? limits.recordingWait : waitBehind(patience, greeting)
    if (silenceMs >= wait) return lengthOf(greeting) < limits.residenceGreeting ? "human_residence" : "human_business"
  }
  return atMs >= limits.total ? "not_sure" : null
}

/** Adds a frame to the state; also returns whether it makes a beep certain. */
const hear = (rules: Rules, { isSpeech, noiseDbfs, tone }: Frame): readonly [Rules, boolean] => {
  const atMs = rules.atMs + Greeting.frameMs
  const said = (rules.isAnswered ? Greeting.hear : Greeting.early)(
    rules.talk,
    { isSpeech, noiseDbfs, toneMs: tone.soundMs },
    atMs
  )
  const [signals, certain] = Signals.hear(rules.signals, tone, atMs, said.greeting !== null)
  const talk = certain === "ringback" ? { ...said, silenceMs: limits.silence - limits.ringbackPause } : said
  return [{ ...rules, atMs, talk, signals }, certain === "beep"]
}

/** Takes one frame. */
export const step = (
  rules: Rules,
  frame: Frame,
  patience: Patience = limits
): readonly [Rules, ReadonlyArray<Finding>] => {
  if (rules.isDone) return [rules, []]
  const [heard, isBeep] = hear(rules, frame)
  if (!rules.isAnswered) return [heard, []]
  const { atMs } = heard
  if (heard.verdict !== null) {
    const isOver = isBeep || atMs - heard.verdict.atMs >= limits.beepAfter
    return [
      { ...heard, isDone: isOver },
      [...(isBeep ? [{ type: "beep", atMs } as const] : []), ...(isOver ? [{ type: "done", atMs } as const] : [])]
    ]
  }
  const verdict = judge(heard, isBeep, patience)
  if (verdict === null) return [heard, []]
  const isFaxCall = heard.signals.faxCallAtMs !== null && heard.talk.greeting === null
  const hasBeep = verdict === "machine" && (isBeep || isFaxCall)
  // A fax machine takes no messages, and there is only one beep.
  const isDone = verdict === "fax" || hasBeep
  return [
    { ...heard, verdict: { verdict, atMs }, isDone },
    [{ type: "verdict", verdict, hasBeep, atMs }, ...(isDone ? [{ type: "done", atMs } as const] : [])]
  ]
}

/**
 * Speech begins and ends sooner than for other detectors, because pauses are measured here. Faint sound does not begin
 * speech, because a person who answers speaks into the telephone.
 */
export const voice: Voice.Options = { onsetMs: 80, hangoverMs: 100, rangeDb: 22, startDbfs: -42 }

export type AnsweringMachine = ReturnType<typeof make>

/** The detection of one call, guide/detection.md: takes frames of 20 ms of any of our rates. */
export const make = () => {
  const features = SoundFeatures.make()
  const speech = Voice.judge(voice)
  const tones = Tones.make()
  let rules = start
  return {
    /** The sound so far was early media, about which nothing was reported. */
    answered: (): void => {
      rules = answered(rules)
      speech.restart()
    },
    /** Takes 20 ms of `samples` at `rate`, which are only read. Returns the findings of this frame. */
    hear: (samples: Int16Array, rate: SampleRate): ReadonlyArray<Finding> => {
      const heard = features.next(samples, rate)
      const [next, findings] = step(rules, {
        isSpeech: speech.isSpeech(heard),
        noiseDbfs: heard.whitened,
        tone: tones(heard)
      })
      rules = next
      return findings
    }
  }
}
