import { Schema } from "effect"

/** The tone of a phone that rings. */
export const commands = [
  /**
   * Begins it, or ends it; idempotent. It is heard while nothing else is, and ends by itself when the leg is bridged, where
   * it cannot begin.
   */
  Schema.Struct({ type: Schema.tag("ringback"), isOn: Schema.Boolean })
] as const
