import type { SampleRate } from "../SampleRate.ts"
import * as Features from "./Features.ts"
import * as Greeting from "./Greeting.ts"
import { limits, type Patience } from "./Limits.ts"
import * as Signals from "./Signals.ts"
import * as Tones from "./Tones.ts"
import * as Voice from "./Voice.ts"

/** Who or what answered. `silence`: nobody spoke. `not_sure`: it went on too long to tell. */
export type Verdict = "human_residence" | "human_business" | "machine" | "fax" | "silence" | "not_sure"

/** What detection tells, in its order. Times in milliseconds since its begin. */
export type Finding =
  /** Once. `hasBeep`: it is known by a beep, which is not told again. */
  | { readonly type: "verdict"; readonly verdict: Verdict; readonly hasBeep: boolean; readonly atMs: number }
  /** A beep behind the verdict: once, a machine, whatever the verdict was. */
  | { readonly type: "beep"; readonly atMs: number }
  /** Nothing more is told. */
  | { readonly type: "done"; readonly atMs: number }

/** What a frame of 20 ms says to the rules. */
export interface Frame {
  readonly isSpeech: boolean
  readonly noiseDbfs: number
  readonly tone: Tones.Heard
}

export interface Rules {
  /** Before the answer nothing is told. */
  readonly isAnswered: boolean
  /** Since the begin, and from the answer on since that. */
  readonly atMs: number
  readonly talk: Greeting.Talk
  readonly signals: Signals.Signals
  readonly verdict: { readonly verdict: Verdict; readonly atMs: number } | null
  readonly isDone: boolean
}

export const begin: Rules = {
  isAnswered: false,
  atMs: 0,
  talk: Greeting.begin,
  signals: Signals.begin,
  verdict: null,
  isDone: false
}

/**
 * The far end has answered. What came before tells little: ring-back, or a tune in its place, ends with the answer. But a
 * special information tone tells that no person was reached, and a greeting that goes on began when it began.
 */
export const answered = ({ atMs, signals, talk }: Rules): Rules => ({
  ...begin,
  isAnswered: true,
  talk: Greeting.answered(talk, atMs),
  signals: Signals.answered(signals)
})

const lengthOf = ({ from, to }: Greeting.Greeting): number => to - from
/** What was said since its last long pause, or all of it. */
const lastOf = ({ againFrom, from, to }: Greeting.Greeting): number => to - (againFrom ?? from)

/** Silence that a person waits behind a greeting. */
const waitBehind = ({ waits }: Patience, greeting: Greeting.Greeting): number =>
  waits.find((wait) => lastOf(greeting) < wait.greeting)?.silence ?? 0

/** It is so long as no person's is. */
const isMachines = (greeting: Greeting.Greeting, patience: Patience): boolean => {
  const { againFrom, hasPause } = greeting
  if (againFrom !== null && lastOf(greeting) < patience.askedGreeting) return false
  return lengthOf(greeting) >= (hasPause ? patience.pausedGreeting : patience.machineGreeting)
}

/** What can be said by now; null: nothing yet. */
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

/** What is known of one more frame, and whether a beep is certain by it. */
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

/** One frame. */
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
  // A fax machine does not take messages, and behind a beep there is no other.
  const isDone = verdict === "fax" || hasBeep
  return [
    { ...heard, verdict: { verdict, atMs }, isDone },
    [{ type: "verdict", verdict, hasBeep, atMs }, ...(isDone ? [{ type: "done", atMs } as const] : [])]
  ]
}

/**
 * Speech begins sooner and ends sooner than for others who listen, because pauses are measured here. What is faint begins
 * none: those who answer speak into the telephone.
 */
export const voice: Voice.Options = { onsetMs: 80, hangoverMs: 100, rangeDb: 22, beginDbfs: -42 }

export type Machine = ReturnType<typeof make>

/** The detection of one call, guide/detection.md: hears frames of 20 ms of any of our rates. */
export const make = () => {
  const features = Features.make()
  const speech = Voice.judge(voice)
  const tones = Tones.make()
  let rules = begin
  return {
    /** What it heard so far was early media; nothing was told of it. */
    answered: (): void => {
      rules = answered(rules)
      speech.restart()
    },
    /** `samples`: 20 ms at `rate`, which are only read. What is known by them. */
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
