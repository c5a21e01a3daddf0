import { Schema } from "effect"
import { CallId, WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/** `inbound`: the sound of the leg's far end. `outbound`: the sound sent to it. */
export const Track = Schema.Literals(["inbound", "outbound"])
export type Track = typeof Track.Type

export const Tracks = Schema.Literals(["inbound", "outbound", "both"])

/** The goal by which an engine is chosen; the operator's configuration maps it to one. */
export const Engine = Schema.Literals(["fast", "accurate"])

/**
 * Commands for transcribing a leg. The work is done outside of the media thread, and its last words may come after the
 * leg: the transcriber reports them to the call itself.
 */
export const commands = [
  /** Transcribes from now on, until it is stopped or its leg ends; then its last words come, and then `ended`. */
  Schema.Struct({
    type: Schema.tag("start_transcription"),
    id: WorkId,
    callId: CallId,
    engine: Engine,
    /** BCP 47. */
    language: Schema.String,
    tracks: Tracks
  }),
  Schema.Struct({ type: Schema.tag("stop_transcription"), transcription: WorkId })
] as const

export const events = [
  /** A phrase that will not change any more. `at` is when it began; the times in it count from there. */
  Schema.Struct({
    type: Schema.tag("transcribed"),
    id: WorkId,
    at: Schema.Finite,
    track: Track,
    text: Secret.text(Schema.String),
    confidence: Schema.NullOr(Schema.Finite),
    durationMs: Schema.Finite,
    words: Schema.Array(
      Schema.Struct({
        word: Secret.text(Schema.String),
        startMs: Schema.Finite,
        endMs: Schema.Finite,
        confidence: Schema.NullOr(Schema.Finite)
      })
    )
  })
] as const
