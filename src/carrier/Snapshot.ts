import { Schema } from "effect"

/** What a carrier knows of a leg. */
export const LegFacts = Schema.Struct({
  /** `over`: nothing is left of it but its end, which is still being told. */
  state: Schema.Literals(["alerting", "answered", "over"]),
  /** The number of the last event that it produced; 0: none yet. */
  n: Schema.Int,
  /** How long the leg has been there, by the carrier's monotonic clock. */
  ageMs: Schema.Number,
  /** How long ago it was answered, by the same clock; null: it was not. */
  answeredMs: Schema.NullOr(Schema.Number)
})
export type LegFacts = typeof LegFacts.Type

/**
 * All that a carrier knows at one moment, the one answer to what became of legs after a restart: a leg that it names is
 * alive, or its end is on the way; one that it does not name is gone.
 */
export const Snapshot = Schema.Struct({
  /** Of this life of the carrier: another one knows nothing of the commands and event numbers of this one. */
  incarnation: Schema.String,
  /** By leg id; legs that wait for admission are not among them. */
  legs: Schema.Record(Schema.String, LegFacts)
})
export type Snapshot = typeof Snapshot.Type
