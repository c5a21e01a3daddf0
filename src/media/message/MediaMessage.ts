import { Schema } from "effect"
import { WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/Secret.ts"

/**
 * What a call asks of the media on a leg, and what it is told of it: the value that crosses the carrier port unopened.
 *
 * Plain data with a schema, because it is journaled with the call's inputs and may cross a process: no functions, no
 * samples. A carrier hands it to the media plane and back; only a carrier with media of its own opens it.
 */
export const MediaCommand = Schema.Union([
  /** Queues the sound at an `https` URL, heard `loop` times (1 to 100); it `ended` once. */
  Schema.Struct({ type: Schema.tag("play"), id: WorkId, url: Secret.url(Schema.String), loop: Schema.Int }),
  /** Ends the sound that is heard, or all that wait too; idempotent. Each tells its own end. */
  Schema.Struct({ type: Schema.tag("stop_playback"), which: Schema.Literals(["current", "all"]) }),
  /**
   * Queues digits (0-9, A-D, `*`, `#`), each `durationMs` long, and pauses (`w` 500 ms, `W` 1 s); the sound waits
   * meanwhile. They `ended` once.
   */
  Schema.Struct({
    type: Schema.tag("send_dtmf"),
    id: WorkId,
    digits: Secret.digits(Schema.String),
    durationMs: Schema.Finite
  })
])
export type MediaCommand = typeof MediaCommand.Type

/** How work that a command began came to its end; `reason` only with `failed`. */
export const MediaEnded = Schema.Struct({
  type: Schema.tag("ended"),
  /** Of the command that began it. */
  id: WorkId,
  status: Schema.Literals(["completed", "stopped", "failed"]),
  reason: Schema.NullOr(Schema.String)
})
export type MediaEnded = typeof MediaEnded.Type

export const MediaEvent = Schema.Union([
  /** A digit came in; `at` is its beginning, in the time of the event that carries it. */
  Schema.Struct({ type: Schema.tag("dtmf"), digit: Secret.digits(Schema.String), at: Schema.Finite }),
  MediaEnded
])
export type MediaEvent = typeof MediaEvent.Type

/** The same event with its times in another clock's. */
export const inTime = (event: MediaEvent, of: (at: number) => number): MediaEvent =>
  "at" in event ? { ...event, at: of(event.at) } : event

/** What a full queue may drop: nobody waits for it, and a peer can send as much of it as it likes. */
export const mayBeDropped = (event: MediaEvent): boolean => event.type === "dtmf"

/** The outcome of a command that cannot be carried out; `null`: it has none. */
export const failureOf = (command: MediaCommand, reason: string): MediaEnded | null =>
  "id" in command ? { type: "ended", id: command.id, status: "failed", reason } : null
