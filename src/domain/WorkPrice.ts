import { Schema } from "effect"

/**
 * The prices of work on a call besides its minutes, guide/money.md#rates: micro-USD for a minute of recording,
 * transcription or conference, and for a whole machine detection. 0: free, as all are until the operator sets a price.
 */
export const Prices = Schema.Struct({
  recording: Schema.Number,
  transcription: Schema.Number,
  machine_detection: Schema.Number,
  /** The price for each of its members. */
  conference: Schema.Number
})
export type Prices = typeof Prices.Type
export type Kind = keyof Prices

const kinds: ReadonlyArray<Kind> = ["recording", "transcription", "machine_detection", "conference"]

export const free: Prices = { recording: 0, transcription: 0, machine_detection: 0, conference: 0 }

/** All that the operator sets prices of: those, and `lookup`, for one number as a whole. */
export const PriceList = Schema.Struct({ ...Prices.fields, lookup: Schema.Number })
export type PriceList = typeof PriceList.Type
export type Priced = keyof PriceList

export const priced: ReadonlyArray<Priced> = [...kinds, "lookup"]

export const allFree: PriceList = { ...free, lookup: 0 }

export const isPriced = (name: string): name is Priced => priced.some((kind) => kind === name)
