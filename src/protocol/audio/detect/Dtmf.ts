import type { SampleRate } from "../SampleRate.ts"
import * as Narrow from "./Narrow.ts"

/** Rows and columns of the keypad in Hz, ITU-T Q.23, and the digit where they cross. */
const rows = [697, 770, 852, 941]
const columns = [1209, 1336, 1477, 1633]
const keys = "123A456B789C*0#D"

/** The samples in a block: 12.75 ms, enough to distinguish neighbouring frequencies. */
const blockLength = 102
/** The least share of a block's energy in the two tones. */
const share = 0.76
/** The root mean square of the quietest digit: -58 dBFS. */
const leastRms = 40
/** The row may be 9 dB louder than the column, the column 6 dB louder than the row (ITU-T Q.24 requires 8 and 4). */
const [rowTwist, columnTwist] = [8, 4]
/** The other frequencies of a group have to be 8 dB below. */
const standsOut = 6.3
/** A digit begins with two equal blocks of one level, within 3 dB, and ends after two without it. */
const accepted = 2
const released = 2
const steady = 2

const coefficients = [...rows, ...columns].map((hz) => 2 * Math.cos((2 * Math.PI * hz) / Narrow.detectRate))

/** Goertzel's recurrence: the energy of the sine of this coefficient in the block. */
const energyAt = (block: Float64Array, coefficient: number): number => {
  let previous = 0
  let beforeThat = 0
  for (let i = 0; i < blockLength; i++) {
    const now = (block[i] ?? 0) + coefficient * previous - beforeThat
    beforeThat = previous
    previous = now
  }
  return (2 / blockLength) * (previous * previous + beforeThat * beforeThat - coefficient * previous * beforeThat)
}

/** Returns the strongest of four energies; -1: another comes too near. */
const strongest = (energies: Float64Array, from: number): number => {
  let best = from
  for (let i = from + 1; i < from + 4; i++) if ((energies[i] ?? 0) > (energies[best] ?? 0)) best = i
  for (let i = from; i < from + 4; i++)
    if (i !== best && (energies[i] ?? 0) * standsOut > (energies[best] ?? 0)) return -1
  return best
}

export type Dtmf = ReturnType<typeof make>

/**
 * Detects digits that are pressed as tones in the sound, ITU-T Q.23: 40 ms of one is enough, and 25 ms without it
 * between two of the same. Speech is not taken for digits (ITU-T Q.24). Pure; frames may change their rate.
 */
export const make = () => {
  const narrow = Narrow.make()
  const block = new Float64Array(blockLength)
  const energies = new Float64Array(8)
  let filled = 0
  let heard = ""
  let run = 0
  /** The energy of the last block. */
  let before = 0
  let missing = 0
  let isPressed = false

  const energyOf = (): number => {
    let energy = 0
    for (let i = 0; i < blockLength; i++) energy += (block[i] ?? 0) ** 2
    return energy
  }

  const digitOf = (energy: number): string => {
    if (energy < leastRms * leastRms * blockLength) return ""
    for (let i = 0; i < 8; i++) energies[i] = energyAt(block, coefficients[i] ?? 0)
    const row = strongest(energies, 0)
    const column = strongest(energies, 4)
    if (row < 0 || column < 0) return ""
    const [low, high] = [energies[row] ?? 0, energies[column] ?? 0]
    if (low + high < share * energy || low > rowTwist * high || high > columnTwist * low) return ""
    return keys[row * 4 + column - 4] ?? ""
  }

  /** Returns the digit that begins with this block; null: none does. */
  const next = (): string | null => {
    const energy = energyOf()
    const digit = digitOf(energy)
    const isSteady = energy <= steady * before && before <= steady * energy
    before = energy
    if (isPressed && digit === heard) missing = 0
    else if (isPressed && ++missing >= released) {
      isPressed = false
      heard = ""
      run = 0
    }
    if (isPressed) return null
    run = digit === "" ? 0 : digit === heard && isSteady ? run + 1 : 1
    heard = digit
    if (run < accepted) return null
    isPressed = true
    missing = 0
    return digit
  }

  return {
    /** Takes 20 ms of `samples` at `rate`, only read. Returns the digit that begins in them; null: none does. */
    hear: (samples: Int16Array, rate: SampleRate): string | null => {
      const frame = narrow.next(samples, rate)
      let began: string | null = null
      for (let i = 0; i < frame.length; i++) {
        block[filled++] = frame[i] ?? 0
        if (filled < blockLength) continue
        filled = 0
        began = next() ?? began
      }
      return began
    },
    /** Whether the digit that began last still sounds. */
    isPressed: (): boolean => isPressed
  }
}
