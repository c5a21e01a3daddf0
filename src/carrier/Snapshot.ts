import { Schema } from "effect"
import { CallId, LegId } from "../domain/Id.ts"

/** The facts that a carrier knows of a leg. */
export const LegFacts = Schema.Struct({
  /** `over`: nothing is left of it but its end, which is still being told. */
  state: Schema.Literals(["alerting", "answered", "over"]),
  /** The number of the last event that it produced; 0: none yet. */
  n: Schema.Int,
  /** How long the leg has been there, by the carrier's monotonic clock. */
  ageMs: Schema.Number,
  /** How long ago it was answered, by the same clock; null: it was not. */
  answeredMs: Schema.NullOr(Schema.Number),
  /** The leg that it is bridged with, and that leg's call; absent: it is bridged with none. */
  bridge: Schema.optionalKey(Schema.Struct({ peerLegId: LegId, peerCallId: CallId }))
})
export type LegFacts = typeof LegFacts.Type

/**
 * All that a carrier knows at one moment. After a restart it alone decides what became of the legs: a leg in it is
 * alive, or its end is on the way; a leg that is not in it is gone.
 */
export const Snapshot = Schema.Struct({
  /** Names this life of the carrier. Another life knows nothing of the commands and event numbers of this one. */
  incarnation: Schema.String,
  /** By leg id, without legs that wait for admission. */
  legs: Schema.Record(Schema.String, LegFacts)
})
export type Snapshot = typeof Snapshot.Type
