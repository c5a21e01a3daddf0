import * as Tone from "../../../protocol/audio/Tone.ts"

/**
 * Text as tones that can be read again, for speech that phones understand: each byte of UTF-8 is 40 ms of two tones and
 * 40 ms of silence, about as fast as a person speaks.
 *
 * They are read from any sound in which they are the loudest: through codecs, bridges and filters, from any sample on.
 * A byte that something else sounds over is lost, as a word would be.
 */
const toneMs = 40
const symbolMs = 80
const frameMs = 20

/** Each row has one frequency for each value of half a byte, upper or lower; none is near a DTMF pair. */
const lows = Array.from({ length: 16 }, (_, i) => 300 + 100 * i)
const highs = Array.from({ length: 16 }, (_, i) => 1_930 + 90 * i)
const dbfs = -16

/** The mean square of samples below which there is nothing to read. */
const leastPower = 100 ** 2
/** The least share of a frame's power that its two tones must have. */
const leastShare = 0.6

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() }

const symbols = new Map<string, Int16Array>()

const symbol = (byte: number, rate: number): Int16Array => {
  const key = `${byte} ${rate}`
  const known = symbols.get(key)
  if (known !== undefined) return known
  const samples = new Int16Array((symbolMs * rate) / 1000)
  const [low = 0, high = 0] = [lows[byte >> 4], highs[byte & 15]]
  samples.set(
    Tone.tone(
      [
        { frequency: low, dbfs },
        { frequency: high, dbfs }
      ],
      toneMs,
      rate
    )
  )
  symbols.set(key, samples)
  return samples
}

export const write = (text: string, rate: number): Int16Array => {
  const bytes = utf8.encoder.encode(text)
  const each = (symbolMs * rate) / 1000
  const samples = new Int16Array(bytes.length * each)
  bytes.forEach((byte, i) => samples.set(symbol(byte, rate), i * each))
  return samples
}

/** The power of one frequency in a block (Goertzel), as the mean square of its sine. */
const powerAt = (samples: Int16Array, coefficient: number): number => {
  let [before, last] = [0, 0]
  for (const sample of samples) {
    const next = sample + coefficient * last - before
    before = last
    last = next
  }
  return (2 * (last * last + before * before - coefficient * last * before)) / samples.length ** 2
}

const coefficients = (rate: number) => {
  const of = (frequencies: ReadonlyArray<number>) => frequencies.map((f) => 2 * Math.cos((2 * Math.PI * f) / rate))
  return { lows: of(lows), highs: of(highs) }
}

const loudest = (
  samples: Int16Array,
  row: ReadonlyArray<number>
): { readonly index: number; readonly power: number } => {
  let best = { index: 0, power: 0 }
  row.forEach((coefficient, index) => {
    const power = powerAt(samples, coefficient)
    if (power > best.power) best = { index, power }
  })
  return best
}

/** A stretch of text without a pause. Times are those that `hear` was given. */
interface Phrase {
  readonly text: string
  readonly startMs: number
  readonly endMs: number
}

interface Reader {
  /** Takes the next 20 ms, which began at `at`. True: the text has changed. */
  readonly hear: (frame: Int16Array, at: number) => boolean
  /** All phrases so far, the last perhaps unfinished. */
  readonly phrases: () => ReadonlyArray<Phrase>
}

/** A longer pause ends a phrase. */
const pauseMs = 400

export const reader = (rate: number): Reader => {
  const rows = coefficients(rate)
  const phrases: Array<{ bytes: Array<number>; startMs: number; endMs: number }> = []
  let best: { readonly byte: number; readonly power: number; readonly at: number } | null = null

  const take = (byte: number, at: number): void => {
    const last = phrases.at(-1)
    if (last !== undefined && at - last.endMs <= pauseMs) {
      last.bytes.push(byte)
      last.endMs = at + symbolMs
    } else phrases.push({ bytes: [byte], startMs: at, endMs: at + symbolMs })
  }

  return {
    hear: (frame, at) => {
      let power = 0
      for (const sample of frame) power += sample * sample
      power /= frame.length
      if (power >= leastPower) {
        const [low, high] = [loudest(frame, rows.lows), loudest(frame, rows.highs)]
        const share = (low.power + high.power) / power
        if (share >= leastShare && (best === null || power > best.power))
          best = { byte: (low.index << 4) | high.index, power, at: best?.at ?? at }
        return false
      }
      if (best === null) return false
      take(best.byte, best.at)
      best = null
      return true
    },
    phrases: () =>
      phrases.map(({ bytes, endMs, startMs }) => ({
        text: utf8.decoder.decode(Uint8Array.from(bytes)),
        startMs,
        endMs
      }))
  }
}

/** All phrases in a sound. */
export const read = (samples: Int16Array, rate: number): ReadonlyArray<Phrase> => {
  const from = reader(rate)
  const length = (rate * frameMs) / 1000
  for (let at = 0; at < samples.length; at += length) {
    const frame = new Int16Array(length)
    frame.set(samples.subarray(at, at + length))
    from.hear(frame, (at * 1000) / rate)
  }
  from.hear(new Int16Array(length), (samples.length * 1000) / rate)
  return from.phrases()
}
