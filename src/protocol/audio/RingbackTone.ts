import type { Component } from "./Tone.ts"

/** The tone that a caller hears while the called phone rings. */
export interface RingbackTone {
  readonly components: ReadonlyArray<Component>
  /**
   * The durations of sound and silence in turn, in milliseconds; whole frames of 20. Sound is first, and it repeats.
   */
  readonly cadenceMs: ReadonlyArray<number>
}

const tone = (frequencies: ReadonlyArray<number>, ...cadenceMs: ReadonlyArray<number>): RingbackTone => ({
  // Together about 5 dB below speech, as on the line.
  components: frequencies.map((frequency) => ({ frequency, dbfs: frequencies.length > 1 ? -24 : -21 })),
  cadenceMs
})

/** The tones by ISO 3166 code, as operators reported them to ITU-T (supplement 2 to recommendation E.180). */
export const table = {
  AT: tone([420], 1000, 5000),
  AU: tone([400, 425], 400, 200, 400, 2000),
  BE: tone([425], 1000, 3000),
  BR: tone([425], 1000, 4000),
  CA: tone([440, 480], 2000, 4000),
  CH: tone([425], 1000, 4000),
  CN: tone([450], 1000, 4000),
  CZ: tone([425], 1000, 4000),
  DE: tone([425], 1000, 4000),
  DK: tone([425], 1000, 4000),
  ES: tone([425], 1500, 3000),
  FI: tone([425], 1000, 4000),
  FR: tone([440], 1500, 3500),
  GB: tone([400, 450], 400, 200, 400, 2000),
  IE: tone([400, 450], 400, 200, 400, 2000),
  IT: tone([425], 1000, 4000),
  MX: tone([425], 1000, 4000),
  NL: tone([425], 1000, 4000),
  NO: tone([425], 1000, 4000),
  NZ: tone([400, 450], 400, 200, 400, 2000),
  PL: tone([425], 1000, 4000),
  PT: tone([425], 1000, 5000),
  SE: tone([425], 1000, 5000),
  US: tone([440, 480], 2000, 4000)
} satisfies Readonly<Record<string, RingbackTone>>

export type Country = keyof typeof table

export const defaultCountry: Country = "US"

const isCountry = (code: string): code is Country => Object.hasOwn(table, code)

export const countries = Object.keys(table).filter(isCountry)
