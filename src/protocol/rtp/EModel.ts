/**
 * The E-model, ITU-T G.107: how people would rate a conversation over a path with this loss and delay.
 *
 * All other parameters have the defaults of the recommendation's table 2 (loudness, room noise, echo loss), so an
 * undisturbed path has the rating 93.2. The scale is that of narrow-band speech; the advantage factor A is 0.
 */
interface Path {
  /** From mouth to ear, in milliseconds. */
  readonly oneWayDelayMs: number
  /** The share of speech that was lost on the way or came too late, 0 to 1. */
  readonly loss: number
  /** How losses bunch: 1 if they are independent, more in bursts. */
  readonly burstRatio?: number
}

/** The effect of a codec on speech, ITU-T G.113 appendix I. */
interface Impairment {
  /** The equipment impairment factor without loss. */
  readonly ie: number
  /** The packet-loss robustness factor. */
  readonly bpl: number
}

/** Table 2 of G.107. */
const defaults = {
  /** Loudness ratings: send, receive, sidetone; factors of the telephone, send and receive. */
  slr: 8,
  rlr: 2,
  stmr: 15,
  ds: 3,
  dr: 3,
  /** Loudness of talker echo and weighted echo path loss. */
  telr: 65,
  wepl: 110,
  qdu: 1,
  /** Circuit noise and noise floor. */
  nc: -70,
  nfor: -64,
  /** Room noise at both sides. */
  ps: 35,
  pr: 35
} as const

const decibels = (power: number): number => 10 * Math.log10(power)
const power = (level: number): number => 10 ** (level / 10)

const { dr, ds, nc, nfor, pr, ps, qdu, rlr, slr, stmr, telr, wepl } = defaults
const olr = slr + rlr

/** Equations 7-3 to 7-7: the noise of circuit, rooms and floor, at the 0 dBr point. */
const noise = ((): number => {
  const sendRoom = ps - slr - ds - 100 + 0.004 * (ps - olr - ds - 14) ** 2
  const effective = pr + decibels(1 + power(10 - (stmr + dr)))
  const receiveRoom = rlr - 121 + effective + 0.008 * (effective - 35) ** 2
  return decibels(power(nc) + power(sendRoom) + power(receiveRoom) + power(nfor + rlr))
})()

/** Equation 7-2: the basic signal-to-noise ratio. */
const signal = 15 - 1.5 * (slr + noise)

/** Equations 7-8 to 7-17: the impairments that come with the voice, whatever the delay. */
const simultaneous = ((): number => {
  const loud = (olr + 0.2 * (64 + noise - rlr)) / 8
  const tooLoud = 20 * ((1 + loud ** 8) ** (1 / 8) - loud)
  const side =
    12 * (1 + ((stmr - 13) / 6) ** 8) ** (1 / 8) -
    28 * (1 + ((stmr + 1) / 19.4) ** 35) ** (1 / 35) -
    13 * (1 + ((stmr - 3) / 33) ** 13) ** (1 / 13) +
    29
  const q = 37 - 15 * Math.log10(qdu)
  const g = 1.07 + 0.258 * q + 0.0602 * q * q
  const quantizing = 15 * Math.log10(1 + 10 ** ((signal - 100) / 15 + 46 / 8.4 - g / 9) + 10 ** (46 / 30 - g / 40))
  return tooLoud + side + quantizing
})()

/** Equations 7-18 to 7-27: talker echo, listener echo, and delay itself. */
const delayImpairment = (ms: number): number => {
  const echoRating =
    80 + 2.5 * (telr - 40 * Math.log10((1 + ms / 10) / (1 + ms / 150)) + 6 * Math.exp(-0.3 * ms * ms) - 14)
  const talker = (-1.5 * (noise - rlr) - echoRating) / 2
  const ofTalker = (talker + Math.sqrt(talker ** 2 + 100) - 1) * (1 - Math.exp(-ms))
  const listener = (signal - 10.5 * (wepl + 7) * (2 * ms + 1) ** -0.25) / 2
  const ofListener = listener + Math.sqrt(listener ** 2 + 169)
  const x = ms <= 100 ? 0 : Math.log2(ms / 100)
  const ofDelay = ms <= 100 ? 0 : 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)
  return ofTalker + ofListener + ofDelay
}

/** Equation 7-29: the impairment of a codec with this loss. */
const lossImpairment = ({ bpl, ie }: Impairment, { burstRatio = 1, loss }: Path): number => {
  const percent = 100 * loss
  return ie + (95 - ie) * (percent / (percent / burstRatio + bpl))
}

/** The transmission rating R, equation 7-1; 0 to 93.2. */
export const rating = (codec: Impairment, path: Path): number =>
  Math.max(0, signal - simultaneous - delayImpairment(Math.max(0, path.oneWayDelayMs)) - lossImpairment(codec, path))

/** The mean opinion score of a rating, equation B-4; 1 to 4.5. */
export const opinion = (r: number): number => {
  if (r <= 0) return 1
  if (r >= 100) return 4.5
  // The polynomial dips below 1 at the very bottom.
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
}
