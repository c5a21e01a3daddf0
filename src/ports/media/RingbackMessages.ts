import { Schema } from "effect"

/** The command for the tone of a ringing phone. */
export const commands = [
  /**
   * Begins or ends the tone; idempotent. It is heard while no other sound is, and ends by itself when the leg is
   * bridged; it cannot begin while bridged.
   */
  Schema.Struct({ type: Schema.tag("ringback"), isOn: Schema.Boolean })
] as const
