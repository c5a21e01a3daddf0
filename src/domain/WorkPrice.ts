import { Schema } from "effect"

/**
 * What work on a call costs beside its minutes, guide/money.md#rates: micro-USD a minute of recording or transcription
 * or in a conference, and a machine detection as a whole. 0: it is free, as everything is until the operator sets a price.
 */
export const Prices = Schema.Struct({
  recording: Schema.Number,
  transcription: Schema.Number,
  machine_detection: Schema.Number,
  /** Of each of its members. */
  conference: Schema.Number
})
export type Prices = typeof Prices.Type
export type Kind = keyof Prices

export const kinds: ReadonlyArray<Kind> = ["recording", "transcription", "machine_detection", "conference"]

export const free: Prices = { recording: 0, transcription: 0, machine_detection: 0, conference: 0 }

/** What the operator sets a price of besides: `lookup`, of a number, as a whole. */
export const PriceList = Schema.Struct({ ...Prices.fields, lookup: Schema.Number })
export type PriceList = typeof PriceList.Type
export type Priced = keyof PriceList

export const priced: ReadonlyArray<Priced> = [...kinds, "lookup"]

export const allFree: PriceList = { ...free, lookup: 0 }

export const isPriced = (name: string): name is Priced => priced.some((kind) => kind === name)
