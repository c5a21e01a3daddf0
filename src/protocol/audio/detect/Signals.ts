import { frameMs } from "./Greeting.ts"
import { limits } from "./Limits.ts"
import type * as Tones from "./Tones.ts"

/** A special information tone (ITU-T E.180): three tones one after the other, 330 ms each. */
const sit = [950, 1400, 1800]
const isSit = ({ hz, ms }: Tones.Tone, index: number): boolean =>
  Math.abs(hz - (sit[index] ?? 0)) <= 50 && ms >= 250 && ms <= 410

const isFaxAnswer = ({ hz }: Tones.Tone): boolean => Math.abs(hz - 2100) <= 25
const isFaxCall = ({ hz, ms }: Tones.Tone): boolean => Math.abs(hz - 1100) <= 40 && ms >= 400 && ms <= 600
/** Ring-back of one frequency, if it comes before any speech. */
const isRingback = ({ hz, ms }: Tones.Tone): boolean => hz >= 380 && hz <= 490 && ms >= 300
const isBeep = ({ hz, ms }: Tones.Tone): boolean =>
  hz >= 380 && hz <= 2050 && ms >= limits.beepShortest && ms <= limits.beepLongest

/** The signals that were found in tones so far. */
export interface Signals {
  /** How long the fax answering tone has been heard. */
  readonly faxMs: number
  /** When a beep ended that may be the first of a calling fax machine; null: none did. */
  readonly faxCallAtMs: number | null
  /** How many tones of a special information tone were heard in a row. */
  readonly sits: number
  /** Whether all three were heard. */
  readonly isIntercepted: boolean
  /** A tone that ended and may be a beep, if no other follows at once; null: none. */
  readonly candidate: Tones.Tone | null
  /** One tone has followed another at once: that is music or a network signal, and not a beep. */
  readonly isMelody: boolean
}

export const start: Signals = {
  faxMs: 0,
  faxCallAtMs: null,
  sits: 0,
  isIntercepted: false,
  candidate: null,
  isMelody: false
}

/** The far end has answered: a special information tone means that no person was reached, whenever it came. */
export const answered = ({ isIntercepted, sits }: Signals): Signals => ({ ...start, isIntercepted, sits })

/** The signal that this frame makes certain. */
type Certain = "beep" | "ringback" | null

const sitsOf = (sits: number, { ended, quietMs }: Tones.Heard): number => {
  if (ended === null) return quietMs > 200 ? 0 : sits
  if (isSit(ended, sits)) return sits + 1
  return isSit(ended, 0) ? 1 : 0
}

/** Takes the tones of a frame that ends at `atMs`. `hasGreeting`: the far end has spoken. */
export const hear = (
  signals: Signals,
  tone: Tones.Heard,
  atMs: number,
  hasGreeting: boolean
): readonly [Signals, Certain] => {
  const { ended, endedAgoMs, now, quietMs } = tone
  const faxMs = now !== null && isFaxAnswer(now) ? signals.faxMs + frameMs : quietMs > 200 ? 0 : signals.faxMs
  const sits = sitsOf(signals.sits, tone)
  const before = ended ?? signals.candidate
  const follows = now !== null && before !== null && before.ms >= limits.beepShortest
  const isMelody = quietMs <= limits.melodyOver && (signals.isMelody || follows)
  // A tone that began before the answer is not a beep of the answering party.
  const beep = ended !== null && ended.ms + endedAgoMs <= atMs ? ended : signals.candidate
  const candidate = now === null && !isMelody ? beep : null
  const heard: Signals = {
    ...signals,
    faxMs,
    sits,
    isIntercepted: signals.isIntercepted || sits >= sit.length,
    isMelody,
    candidate
  }
  if (candidate === null || quietMs < limits.beepQuiet) return [heard, null]
  const settled: Signals = { ...heard, candidate: null }
  const certain = isBeep(candidate) ? "beep" : null
  if (hasGreeting) return [settled, certain]
  if (isRingback(candidate)) return [settled, "ringback"]
  if (!isFaxCall(candidate)) return [settled, certain]
  const isFirst = signals.faxCallAtMs === null
  return [{ ...settled, faxCallAtMs: signals.faxCallAtMs ?? atMs, faxMs: isFirst ? faxMs : limits.faxAnswer }, null]
}
