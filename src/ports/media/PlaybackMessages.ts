import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/** A text to be spoken. */
export const Speech = Schema.Struct({
  text: Secret.text(Schema.String),
  textType: Schema.Literals(["text", "ssml"]),
  /** One of `<engine>.<voice>`, or `male` or `female` of the default engine. */
  voice: Schema.String,
  /** BCP 47; null: the voice's own language. */
  language: Schema.NullOr(Schema.String)
})
export type Speech = typeof Speech.Type

/** A sound that can be played: the file at an `https` URL, or speech. */
export const Playable = Schema.Union([
  Schema.Struct({ type: Schema.tag("url"), url: Secret.url(Schema.String) }),
  Schema.Struct({ type: Schema.tag("speech"), speech: Speech })
])
export type Playable = typeof Playable.Type

/** The legs that hear a sound: this one, the one that it is bridged with, or both. */
export const Target = Schema.Literals(["self", "opposite", "both"])
export type Target = typeof Target.Type

/** Commands for the sounds that are played to a leg. All kinds share one queue, and each sound has one `ended`. */
export const commands = [
  /**
   * Queues the sound at an `https` URL, played `loop` times (1 to 100), in the queue of each of its targets: this leg,
   * the leg that it is bridged with, or both. It ends once, when it has ended everywhere: as `completed` when all heard
   * it whole, else with the first other end. When the bridge ends, it is `stopped`, `unbridged`.
   */
  Schema.Struct({
    type: Schema.tag("play"),
    id: WorkId,
    url: Secret.url(Schema.String),
    loop: Schema.Int,
    target: Target
  }),
  Schema.Struct({ type: Schema.tag("speak"), id: WorkId, speech: Speech }),
  /**
   * Ends all sounds that play or wait here, then plays this one: until its end, or until the far end presses one of
   * `stoppedBy` (digits), whose `dtmf` is reported first.
   */
  Schema.Struct({ type: Schema.tag("prompt"), id: WorkId, sound: Playable, stoppedBy: Schema.String }),
  /** Ends all sounds that play or wait here, whichever leg was asked for them; idempotent. Each reports its own end. */
  Schema.Struct({ type: Schema.tag("cut_playback") }),
  /** Ends this prompt, if it has not ended yet; idempotent. */
  Schema.Struct({ type: Schema.tag("stop_prompt"), promptId: WorkId }),
  /**
   * Ends the current sound of those that this leg was asked for, or with `all` the waiting ones too, on whichever legs
   * they play; idempotent. Each reports its own end.
   */
  Schema.Struct({ type: Schema.tag("stop_playback"), which: Schema.Literals(["current", "all"]) })
] as const
