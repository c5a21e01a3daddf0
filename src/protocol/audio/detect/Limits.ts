/** The limits that tell a person from a machine. */
export interface Patience {
  readonly machineGreeting: number
  readonly pausedGreeting: number
  /** By ascending greeting; the last one is longer than any. */
  readonly waits: ReadonlyArray<{ readonly greeting: number; readonly silence: number }>
  readonly askedPause: number
  readonly askedGreeting: number
}

/**
 * The thresholds of machine detection, in milliseconds unless they name another unit, set by `test/bench/detect/Tune.ts`.
 * A person says a word or two and waits; a machine talks on. A greeting lasts from the first speech to the last, pauses
 * included.
 */
export const limits = {
  /** So long a greeting is a machine's: one that pauses sooner than one in a single breath, as people at work have it. */
  machineGreeting: 4000,
  pausedGreeting: 3000,
  /** So long a pause parts two sentences. */
  sentencePause: 400,
  /** Silence behind a greeting is a person's who waits: the longer, the more there was before. */
  waits: [
    { greeting: 500, silence: 700 },
    { greeting: 700, silence: 900 },
    { greeting: Number.POSITIVE_INFINITY, silence: 1600 }
  ],
  /** Behind so long a pause, what is said is a machine's from this length on: people ask again when nobody speaks. */
  askedPause: 1200,
  askedGreeting: 700,
  /** A pause that is louder by so many dB than what was before the greeting has the noise of a recording, which goes on. */
  recordingDb: 6,
  recordingWait: 2500,
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
} as const satisfies Patience & Readonly<Record<string, unknown>>
