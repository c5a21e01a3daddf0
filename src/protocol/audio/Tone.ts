/** Tones made of sines, as streams that keep their phase from call to call. */
export interface Component {
  /** The frequency in Hz, below half the sample rate. */
  readonly frequency: number
  /** The level, 0 for a sine of full scale. */
  readonly dbfs: number
}

export interface Oscillator {
  /** Overwrites `out[from]` up to `out[to]` with the next samples. */
  readonly render: (out: Int16Array, from?: number, to?: number) => void
}

const amplitudeOf = (dbfs: number) => 32_768 * 10 ** (dbfs / 20)
const clip = (value: number) => Math.max(-32_768, Math.min(32_767, Math.round(value)))

/** Renders the sum of `components` from phase 0 on, clipped at full scale. */
export const oscillator = (components: ReadonlyArray<Component>, sampleRate: number): Oscillator => {
  const parts = components.map(({ dbfs, frequency }) => ({
    amplitude: amplitudeOf(dbfs),
    step: (2 * Math.PI * frequency) / sampleRate
  }))
  let position = 0
  return {
    render: (out, from = 0, to = out.length) => {
      for (let i = from; i < to; i++, position++) {
        let sum = 0
        for (const { amplitude, step } of parts) sum += amplitude * Math.sin(step * position)
        out[i] = clip(sum)
      }
    }
  }
}

/** `durationMs` of `components`. */
export const tone = (components: ReadonlyArray<Component>, durationMs: number, sampleRate: number): Int16Array => {
  const samples = new Int16Array(Math.round((durationMs * sampleRate) / 1000))
  oscillator(components, sampleRate).render(samples)
  return samples
}

/** `durationMs` of one sine. */
export const sine = (frequency: number, dbfs: number, durationMs: number, sampleRate: number): Int16Array =>
  tone([{ frequency, dbfs }], durationMs, sampleRate)

const rows = [697, 770, 852, 941]
const columns = [1209, 1336, 1477, 1633]
const keys = "123A456B789C*0#D"

/** The two frequencies of a DTMF digit, ITU-T Q.23, the upper 2 dB louder as usual on the line; `null`: no digit. */
export const dtmf = (digit: string, dbfs = -9): ReadonlyArray<Component> | null => {
  const key = digit.length === 1 ? keys.indexOf(digit.toUpperCase()) : -1
  const row = rows[key >> 2]
  const column = columns[key & 3]
  if (key < 0 || row === undefined || column === undefined) return null
  return [
    { frequency: row, dbfs: dbfs - 2 },
    { frequency: column, dbfs }
  ]
}
