/** The limits that distinguish a person from a machine. */
export interface Patience {
  readonly machineGreeting: number
  readonly pausedGreeting: number
  /** Sorted by ascending greeting; the last one is longer than any. */
  readonly waits: ReadonlyArray<{ readonly greeting: number; readonly silence: number }>
  readonly askedPause: number
  readonly askedGreeting: number
}

/**
 * The thresholds of machine detection, in milliseconds unless they name another unit, set by
 * `test/bench/detect/Tune.ts`. A person says a word or two and waits; a machine keeps talking. A greeting lasts from
 * the first speech to the last, pauses included.
 */
export const limits = {
  /**
   * The length from which on a greeting is a machine's. It is shorter for a greeting with a pause, because people at
   * work speak long ones in a single breath.
   */
  machineGreeting: 4000,
  pausedGreeting: 3000,
  /** A pause of this length separates two sentences. */
  sentencePause: 400,
  /** The silence after a greeting that marks a waiting person: the longer, the longer the greeting. */
  waits: [
    { greeting: 500, silence: 700 },
    { greeting: 700, silence: 900 },
    { greeting: Number.POSITIVE_INFINITY, silence: 1600 }
  ],
  /** After a pause of `askedPause`, only speech this long is a machine's: people ask again when they get no answer. */
  askedPause: 1200,
  askedGreeting: 700,
  /** A pause that is this much louder than before the greeting has the noise of a recording, which has not ended. */
  recordingDb: 6,
  recordingWait: 2500,
  /** A shorter greeting is that of a residence. */
  residenceGreeting: 1500,
  /** A tone of this length is not silence: it is ring-back, or will be a beep. */
  tone: 100,
  /** The silence without any speech for the verdict `silence`. */
  silence: 5000,
  /** The same after a ring-back tone: longer than its longest pause. */
  ringbackPause: 6500,
  /** The time after which the verdict is `not_sure`. */
  total: 30_000,
  /** Speech that was under way at the answer and ends within this time was not spoken by the answering party. */
  tail: 300,
  /** A greeting from before the answer continues across a pause of up to `carriedPause`, once it lasted `carriedBy`. */
  carriedPause: 300,
  carriedBy: 1000,
  /** A pause of this length before the answer ends a greeting. */
  earlyPause: 1500,
  /** How long after the verdict a beep is waited for. */
  beepAfter: 30_000,
  beepShortest: 100,
  beepLongest: 1500,
  /** How long no tone sounds after a beep. */
  beepQuiet: 60,
  /** How long no tone sounds until a melody is over. */
  melodyOver: 200,
  /** How long the fax answering tone of 2100 Hz (ITU-T V.25) has to sound. */
  faxAnswer: 1500,
  /** A calling fax machine (ITU-T T.30) beeps at 1100 Hz for 0.5 s, and again after 3 s. */
  faxCallAgain: 4000
} as const satisfies Patience & Readonly<Record<string, unknown>>
