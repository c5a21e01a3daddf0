import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/** A text that is to be spoken. */
export const Speech = Schema.Struct({
  text: Secret.text(Schema.String),
  textType: Schema.Literals(["text", "ssml"]),
  /** `<engine>.<voice>`, or `male` or `female` of the default engine. */
  voice: Schema.String,
  /** BCP 47; null: the voice's own. */
  language: Schema.NullOr(Schema.String)
})
export type Speech = typeof Speech.Type

/** What can be heard: the file at an `https` URL, or speech. */
export const Playable = Schema.Union([
  Schema.Struct({ type: Schema.tag("url"), url: Secret.url(Schema.String) }),
  Schema.Struct({ type: Schema.tag("speech"), speech: Speech })
])
export type Playable = typeof Playable.Type

/** Who hears a sound: the leg, the one that it is bridged with, or both. */
export const Target = Schema.Literals(["self", "opposite", "both"])
export type Target = typeof Target.Type

/** Sounds that are played to a leg: one queue, whatever they are. Each `ended` once. */
export const commands = [
  /**
   * Queues the sound at an `https` URL, heard `loop` times (1 to 100), in the queue of each of its targets: this leg, the
   * leg that it is bridged with, or both. It ends once, when it has ended everywhere: as `completed` when it was heard
   * whole by all, else as it was with the first that it was not. Where the bridge is over, it is `stopped`, `unbridged`.
   */
  Schema.Struct({
    type: Schema.tag("play"),
    id: WorkId,
    url: Secret.url(Schema.String),
    loop: Schema.Int,
    target: Target
  }),
  /** Queues speech. */
  Schema.Struct({ type: Schema.tag("speak"), id: WorkId, speech: Speech }),
  /**
   * Ends all that is heard and waits here, and then this sound is heard: until its end, or until the far end presses one of
   * `stoppedBy` (digits), whose `dtmf` is told first.
   */
  Schema.Struct({ type: Schema.tag("prompt"), id: WorkId, sound: Playable, stoppedBy: Schema.String }),
  /** Ends all that is heard and waits here, whichever leg was asked for it; idempotent. Each tells its own end. */
  Schema.Struct({ type: Schema.tag("cut_playback") }),
  /** Ends this prompt, if it has not ended yet; idempotent. */
  Schema.Struct({ type: Schema.tag("stop_prompt"), promptId: WorkId }),
  /**
   * Ends the sound that is heard of those that this leg was asked for, or all that wait too, whoever hears them;
   * idempotent. Each tells its own end.
   */
  Schema.Struct({ type: Schema.tag("stop_playback"), which: Schema.Literals(["current", "all"]) })
] as const
