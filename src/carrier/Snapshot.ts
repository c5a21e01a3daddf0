import { Schema } from "effect"
import { CallId, LegId } from "../domain/Id.ts"

/** The facts that a carrier knows about a leg. */
export const LegFacts = Schema.Struct({
  /** `over`: only the report of its end is left. */
  state: Schema.Literals(["alerting", "answered", "over"]),
  /** The number of the last event that it produced; 0 when there was none. */
  n: Schema.Int,
  /** How long the leg has existed, by the carrier's monotonic clock. */
  ageMs: Schema.Number,
  /** How long ago it was answered, by the same clock; null when it was not. */
  answeredMs: Schema.NullOr(Schema.Number),
  /** The leg that it is bridged with, and that leg's call; absent without a bridge. */
  bridge: Schema.optionalKey(Schema.Struct({ peerLegId: LegId, peerCallId: CallId }))
})
export type LegFacts = typeof LegFacts.Type

/**
 * All facts that a carrier knows at one moment. After a restart it alone decides the fate of the legs: a leg in it is
 * alive, or its end will be reported; a leg that is missing is gone.
 */
export const Snapshot = Schema.Struct({
  /** Names this life of the carrier. Another life knows nothing of the commands and event numbers of this one. */
  incarnation: Schema.String,
  /** Keyed by leg id, without legs that wait for admission. */
  legs: Schema.Record(Schema.String, LegFacts)
})
export type Snapshot = typeof Snapshot.Type
