import type { SampleRate } from "../SampleRate.ts"
import * as Features from "./Features.ts"
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
  readonly tone: Tones.Heard
}

const frameMs = 20

/**
 * The thresholds, in milliseconds, set by `test/bench/detect/Tune.ts`. A person says a word or two and waits; a machine
 * talks on. A greeting lasts from the first speech to the last, pauses included.
 */
export const limits = {
  /** So long a greeting is a machine's: one that pauses sooner than one in a single breath, as people at work have it. */
  machineGreeting: 4000,
  pausedGreeting: 3000,
  /** So long a pause parts two sentences. */
  sentencePause: 400,
  /** Silence behind a greeting is a person's who waits: the longer, the more there was before. */
  waits: [
    { greeting: 600, silence: 800 },
    { greeting: 1800, silence: 1400 },
    { greeting: Number.POSITIVE_INFINITY, silence: 1600 }
  ],
  /** Below it, the greeting is that of a residence. */
  residenceGreeting: 1500,
  /** A tone that sounds for so long is no silence: it is ring-back, or will be a beep. */
  tone: 100,
  /** Nobody speaks. */
  silence: 5000,
  /** Behind a ring-back tone: longer than its longest pause. */
  ringbackPause: 6500,
  /** Nothing could be told. */
  total: 30_000,
  /** What was being said when it was answered, and is over so soon, was not said by whoever answered. */
  tail: 300,
  /** A greeting of before the answer goes on behind it, across such a pause, when it has gone on for so long. */
  carriedPause: 300,
  carriedBy: 1000,
  /** So long a pause before the answer parts what was said. */
  earlyPause: 1500,
  /** Beeps are waited for so long behind the verdict. */
  beepAfter: 30_000,
  beepShortest: 100,
  beepLongest: 1500,
  /** Behind a beep no tone sounds for so long. */
  beepQuiet: 60,
  /** A melody is over when no tone has sounded for so long. */
  melodyOver: 200,
  /** The answering tone of a fax machine (ITU-T V.25): 2100 Hz. */
  faxAnswer: 1500,
  /** A calling fax machine (ITU-T T.30) beeps at 1100 Hz for 0.5 s, and again after 3 s. */
  faxCallAgain: 4000
} as const

/** A special information tone (ITU-T E.180): three tones one after the other, 330 ms each. */
const sit = [950, 1400, 1800]
const isSit = ({ hz, ms }: Tones.Tone, index: number): boolean =>
  Math.abs(hz - (sit[index] ?? 0)) <= 50 && ms >= 250 && ms <= 410

const isFaxAnswer = ({ hz }: Tones.Tone): boolean => Math.abs(hz - 2100) <= 25
const isFaxCall = ({ hz, ms }: Tones.Tone): boolean => Math.abs(hz - 1100) <= 40 && ms >= 400 && ms <= 600
/** Ring-back of one frequency; nobody has spoken yet. */
const isRingback = ({ hz, ms }: Tones.Tone): boolean => hz >= 380 && hz <= 490 && ms >= 300
const isBeep = ({ hz, ms }: Tones.Tone): boolean =>
  hz >= 380 && hz <= 2050 && ms >= limits.beepShortest && ms <= limits.beepLongest

/** What was said, from the first speech to the last, in milliseconds since the begin. */
interface Greeting {
  readonly from: number
  readonly to: number
  /** It has more than one sentence. */
  readonly hasPause: boolean
}

export interface Rules {
  /** Before the answer nothing is told. */
  readonly isAnswered: boolean
  /** Since the begin, and from the answer on since that. */
  readonly atMs: number
  /** Null: nobody has spoken. */
  readonly greeting: Greeting | null
  /** Since the last speech, ring-back, or the begin. */
  readonly silenceMs: number
  readonly faxMs: number
  readonly sits: number
  /** A tone that ended and may have been a beep, if none follows at once; null: none. */
  readonly candidate: Tones.Tone | null
  /** One tone has followed another at once: that is music or a signal of the network, and no beep. */
  readonly isMelody: boolean
  /** A special information tone came before the answer. */
  readonly isIntercepted: boolean
  /** It speaks as it did when it was answered: that may be over at once. */
  readonly isTail: boolean
  /** When the greeting began that was going on when it was answered; null: none was. */
  readonly carriedFrom: number | null
  /** When a beep was heard that may be the first of a calling fax machine; null: none was. */
  readonly faxCallAtMs: number | null
  readonly verdict: { readonly verdict: Verdict; readonly atMs: number } | null
  readonly isDone: boolean
}

export const begin: Rules = {
  isAnswered: false,
  atMs: 0,
  greeting: null,
  silenceMs: 0,
  faxMs: 0,
  sits: 0,
  candidate: null,
  isMelody: false,
  isIntercepted: false,
  isTail: false,
  carriedFrom: null,
  faxCallAtMs: null,
  verdict: null,
  isDone: false
}

/**
 * The far end has answered. What came before tells little: ring-back, or a tune in its place, ends with the answer. But a
 * special information tone tells that no person was reached, and a greeting that goes on began when it began.
 */
export const answered = ({ atMs, greeting, isIntercepted, silenceMs, sits }: Rules): Rules => ({
  ...begin,
  isAnswered: true,
  sits,
  isIntercepted,
  isTail: greeting !== null && greeting.to === atMs,
  carriedFrom: greeting !== null && silenceMs <= limits.carriedPause ? greeting.from - atMs : null
})

type Step = readonly [Rules, ReadonlyArray<Finding>]

/** The tones of this frame, as far as they matter: how the rules go on, and whether a beep is certain now. */
const listen = (rules: Rules, { now, ended, quietMs }: Tones.Heard): readonly [Rules, boolean] => {
  const faxMs = now !== null && isFaxAnswer(now) ? rules.faxMs + frameMs : quietMs > 200 ? 0 : rules.faxMs
  const sits =
    ended === null
      ? quietMs > 200
        ? 0
        : rules.sits
      : isSit(ended, rules.sits)
        ? rules.sits + 1
        : isSit(ended, 0)
          ? 1
          : 0
  const before = ended ?? rules.candidate
  const follows = now !== null && before !== null && before.ms >= limits.beepShortest
  const isMelody = quietMs <= limits.melodyOver && (rules.isMelody || follows)
  // What sounded when it was answered is no beep of it.
  const beep = ended !== null && ended.ms <= rules.atMs ? ended : rules.candidate
  const heard: Rules = { ...rules, faxMs, sits, isMelody, candidate: now === null && !isMelody ? beep : null }
  const { candidate } = heard
  if (candidate === null || quietMs < limits.beepQuiet) return [heard, false]
  const settled: Rules = { ...heard, candidate: null }
  if (rules.greeting !== null) return [settled, isBeep(candidate)]
  if (isRingback(candidate)) return [{ ...settled, silenceMs: limits.silence - limits.ringbackPause }, false]
  if (!isFaxCall(candidate)) return [settled, isBeep(candidate)]
  return [
    {
      ...settled,
      faxCallAtMs: rules.faxCallAtMs ?? rules.atMs,
      faxMs: rules.faxCallAtMs === null ? faxMs : limits.faxAnswer
    },
    false
  ]
}

/** The limits that tell a person from a machine. */
export interface Patience {
  readonly machineGreeting: number
  readonly pausedGreeting: number
  /** By ascending greeting; the last one is longer than any. */
  readonly waits: ReadonlyArray<{ readonly greeting: number; readonly silence: number }>
}

/** Silence that a person waits behind a greeting of this length. */
const waitBehind = ({ waits }: Patience, greetingMs: number): number =>
  waits.find(({ greeting }) => greetingMs < greeting)?.silence ?? 0

/** What can be said by now; null: nothing yet. */
const judge = (
  { atMs, faxCallAtMs, faxMs, greeting, isIntercepted, silenceMs, sits }: Rules,
  isBeep: boolean,
  patience: Patience
): Verdict | null => {
  if (faxMs >= limits.faxAnswer) return "fax"
  if (isBeep || isIntercepted || sits >= sit.length) return "machine"
  if (faxCallAtMs !== null && atMs - faxCallAtMs > limits.faxCallAgain) return "machine"
  if (greeting === null) {
    if (silenceMs >= limits.silence && faxCallAtMs === null) return "silence"
  } else {
    const greetingMs = greeting.to - greeting.from
    if (greetingMs >= (greeting.hasPause ? patience.pausedGreeting : patience.machineGreeting)) return "machine"
    if (silenceMs >= waitBehind(patience, greetingMs))
      return greetingMs < limits.residenceGreeting ? "human_residence" : "human_business"
  }
  return atMs >= limits.total ? "not_sure" : null
}

const spoken = (greeting: Greeting | null, atMs: number): Greeting =>
  greeting === null
    ? { from: atMs - frameMs, to: atMs, hasPause: false }
    : {
        from: greeting.from,
        to: atMs,
        hasPause: greeting.hasPause || atMs - frameMs - greeting.to >= limits.sentencePause
      }

/** A frame before the answer: a long pause parts what is said. */
const early = (rules: Rules, { isSpeech, tone }: Frame): Rules => {
  const atMs = rules.atMs + frameMs
  const silenceMs = isSpeech ? 0 : rules.silenceMs + frameMs
  const isOver = silenceMs > limits.earlyPause
  const greeting = isSpeech ? spoken(rules.greeting, atMs) : isOver ? null : rules.greeting
  const [{ sits }] = listen({ ...rules, greeting, silenceMs }, tone)
  return { ...rules, atMs, greeting, silenceMs, sits, isIntercepted: rules.isIntercepted || sits >= sit.length }
}

/** A frame behind the answer: how far what is said goes back. */
const speak = (rules: Rules, { isSpeech, tone }: Frame): Rules => {
  const atMs = rules.atMs + frameMs
  const isTail = rules.isTail && isSpeech && atMs <= limits.tail
  const silenceMs = isSpeech || tone.soundMs >= limits.tone ? 0 : rules.silenceMs + frameMs
  const heard = { ...rules, atMs, isTail, silenceMs }
  const greeting = isSpeech && !isTail ? spoken(rules.greeting, atMs) : rules.greeting
  const carriedFrom = silenceMs > limits.carriedPause ? null : rules.carriedFrom
  return carriedFrom === null || greeting === null || atMs - greeting.from < limits.carriedBy
    ? { ...heard, greeting, carriedFrom }
    : { ...heard, greeting: { ...greeting, from: carriedFrom }, carriedFrom: null }
}

/** One frame. */
export const step = (rules: Rules, frame: Frame, patience: Patience = limits): Step => {
  if (rules.isDone) return [rules, []]
  if (!rules.isAnswered) return [early(rules, frame), []]
  const spoken = speak(rules, frame)
  const { atMs } = spoken
  const [heard, isBeepNow] = listen(spoken, frame.tone)
  if (heard.verdict !== null) {
    const isOver = isBeepNow || atMs - heard.verdict.atMs >= limits.beepAfter
    return [
      { ...heard, isDone: isOver },
      [...(isBeepNow ? [{ type: "beep", atMs } as const] : []), ...(isOver ? [{ type: "done", atMs } as const] : [])]
    ]
  }
  const verdict = judge(heard, isBeepNow, patience)
  if (verdict === null) return [heard, []]
  const hasBeep = verdict === "machine" && (isBeepNow || (heard.faxCallAtMs !== null && heard.greeting === null))
  // A fax machine does not take messages, and behind a beep there is no other.
  const isDone = verdict === "fax" || hasBeep
  return [
    { ...heard, verdict: { verdict, atMs }, isDone },
    [{ type: "verdict", verdict, hasBeep, atMs }, ...(isDone ? [{ type: "done", atMs } as const] : [])]
  ]
}

/** Speech begins sooner and ends sooner than for others who listen, because pauses are measured here. */
export const voice: Voice.Options = { onsetMs: 80, hangoverMs: 60, rangeDb: 22 }

export type Machine = ReturnType<typeof make>

/** The detection of one call, guide/detection.md: hears frames of 20 ms of any of our rates. */
export const make = () => {
  const features = Features.make()
  const isSpeech = Voice.judge(voice)
  const tones = Tones.make()
  let rules = begin
  return {
    /** What it heard so far was early media; nothing was told of it. */
    answered: (): void => {
      rules = answered(rules)
    },
    /** `samples`: 20 ms at `rate`, which are only read. What is known by them. */
    hear: (samples: Int16Array, rate: SampleRate): ReadonlyArray<Finding> => {
      const heard = features.next(samples, rate)
      const [next, findings] = step(rules, { isSpeech: isSpeech(heard), tone: tones(heard) })
      rules = next
      return findings
    }
  }
}
