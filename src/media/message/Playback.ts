import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/Secret.ts"

/** Sounds that are played to a leg. */
export const commands = [
  /** Queues the sound at an `https` URL, heard `loop` times (1 to 100); it `ended` once. */
  Schema.Struct({ type: Schema.tag("play"), id: WorkId, url: Secret.url(Schema.String), loop: Schema.Int }),
  /** Ends the sound that is heard, or all that wait too; idempotent. Each tells its own end. */
  Schema.Struct({ type: Schema.tag("stop_playback"), which: Schema.Literals(["current", "all"]) })
] as const
