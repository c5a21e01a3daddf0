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

/** The thresholds, in milliseconds. A person says a word or two and waits; a machine talks on. */
export const limits = {
  /** So much speech is a machine's. */
  machineSpeech: 3500,
  /** Silence behind speech of less than `shortSpeech`, or of more, is a person's who waits. */
  shortSpeech: 1000,
  humanSilence: 900,
  humanSilenceLong: 1700,
  /** Below it, the greeting is that of a residence. */
  residenceSpeech: 1500,
  /** Nobody speaks. */
  silence: 5000,
  /** Behind a ring-back tone: longer than its longest pause. */
  ringbackPause: 6500,
  /** Nothing could be told. */
  total: 30_000,
  /** Beeps are waited for so long behind the verdict. */
  beepAfter: 30_000,
  beepShortest: 100,
  beepLongest: 1500,
  /** Behind a beep no tone sounds for so long. */
  beepQuiet: 60,
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

interface Rules {
  readonly atMs: number
  readonly speechMs: number
  /** Since the last speech, ring-back, or the begin. */
  readonly silenceMs: number
  readonly faxMs: number
  readonly sits: number
  /** A tone that ended and may have been a beep, if none follows at once; null: none. */
  readonly candidate: Tones.Tone | null
  /** When a beep was heard that may be the first of a calling fax machine; null: none was. */
  readonly faxCallAtMs: number | null
  readonly verdict: { readonly verdict: Verdict; readonly atMs: number } | null
  readonly isDone: boolean
}

export const begin: Rules = {
  atMs: 0,
  speechMs: 0,
  silenceMs: 0,
  faxMs: 0,
  sits: 0,
  candidate: null,
  faxCallAtMs: null,
  verdict: null,
  isDone: false
}

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
  const heard: Rules = {
    ...rules,
    faxMs,
    sits,
    candidate: now === null && sits < sit.length ? (ended ?? rules.candidate) : null
  }
  const { candidate } = heard
  if (candidate === null || quietMs < limits.beepQuiet) return [heard, false]
  const settled: Rules = { ...heard, candidate: null }
  if (rules.speechMs > 0) return [settled, isBeep(candidate)]
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

/** What can be said by now; null: nothing yet. */
const judge = ({ faxCallAtMs, faxMs, silenceMs, sits, speechMs, ...rules }: Rules, isBeep: boolean): Verdict | null => {
  if (faxMs >= limits.faxAnswer) return "fax"
  if (isBeep || sits >= sit.length || speechMs >= limits.machineSpeech) return "machine"
  if (faxCallAtMs !== null && rules.atMs - faxCallAtMs > limits.faxCallAgain) return "machine"
  if (speechMs > 0 && silenceMs >= (speechMs < limits.shortSpeech ? limits.humanSilence : limits.humanSilenceLong))
    return speechMs < limits.residenceSpeech ? "human_residence" : "human_business"
  if (speechMs === 0 && silenceMs >= limits.silence && faxCallAtMs === null) return "silence"
  return rules.atMs >= limits.total ? "not_sure" : null
}

/** One frame. */
export const step = (rules: Rules, { isSpeech, tone }: Frame): Step => {
  if (rules.isDone) return [rules, []]
  const atMs = rules.atMs + frameMs
  const spoken: Rules = {
    ...rules,
    atMs,
    speechMs: rules.speechMs + (isSpeech ? frameMs : 0),
    silenceMs: isSpeech || tone.quietMs === 0 ? 0 : rules.silenceMs + frameMs
  }
  const [heard, isBeepNow] = listen(spoken, tone)
  if (heard.verdict !== null) {
    const isOver = isBeepNow || atMs - heard.verdict.atMs >= limits.beepAfter
    return [
      { ...heard, isDone: isOver },
      [...(isBeepNow ? [{ type: "beep", atMs } as const] : []), ...(isOver ? [{ type: "done", atMs } as const] : [])]
    ]
  }
  const verdict = judge(heard, isBeepNow)
  if (verdict === null) return [heard, []]
  const hasBeep = verdict === "machine" && (isBeepNow || (heard.faxCallAtMs !== null && heard.speechMs === 0))
  // A fax machine does not take messages, and behind a beep there is no other.
  const isDone = verdict === "fax" || hasBeep
  return [
    { ...heard, verdict: { verdict, atMs }, isDone },
    [{ type: "verdict", verdict, hasBeep, atMs }, ...(isDone ? [{ type: "done", atMs } as const] : [])]
  ]
}

/** Speech begins sooner and ends sooner than for others who listen: pauses are measured here. */
const voice: Voice.Options = { onsetMs: 100, hangoverMs: 60 }

export type Machine = ReturnType<typeof make>

/** The detection of one call, guide/detection.md: hears frames of 20 ms of any of our rates, from the answer on. */
export const make = () => {
  const features = Features.make()
  const isSpeech = Voice.judge(voice)
  const tones = Tones.make()
  let rules = begin
  return {
    /** `samples`: 20 ms at `rate`, which are only read. What is known by them. */
    hear: (samples: Int16Array, rate: SampleRate): ReadonlyArray<Finding> => {
      const heard = features.next(samples, rate)
      const [next, findings] = step(rules, { isSpeech: isSpeech(heard), tone: tones(heard) })
      rules = next
      return findings
    }
  }
}
