import type * as StreamMessages from "../../../ports/media/StreamMessages.ts"
import type { StreamCodec } from "../../../domain/schema/StreamField.ts"
import type { Track } from "../../mix/Tap.ts"

/** The contents of the first message about the stream. */
export interface About {
  readonly stream: StreamMessages.StartStream
  readonly format: MediaFormat
}

/** The format as it is sent: the name of the codec, and its clock in Hz. */
export interface MediaFormat {
  readonly encoding: StreamCodec
  readonly sampleRate: number
}

/** The fault of a message of the server. */
export type Complaint = "malformed_frame" | "invalid_media" | "rate_limit_reached"

/** A message of a track: 20 ms of it. */
export interface Media {
  readonly track: Track
  /** Counts the messages of the track, from 1. */
  readonly chunk: number
  /** Milliseconds of the track before this message. */
  readonly timestampMs: number
  /** Base64. */
  readonly payload: string
}

/**
 * How the messages of a stream are written, guide/streams.md#messages. Each is one text frame of JSON; `sequence`
 * counts all messages of a stream except the first, from 1. Null: the dialect has no such message.
 */
export interface StreamDialect {
  readonly connected: () => string
  /** `isAgain`: an earlier connection of the stream broke. */
  readonly start: (about: About, sequence: number, isAgain: boolean) => string
  readonly media: (about: About, media: Media, sequence: number) => string
  readonly dtmf: ((about: About, digit: string, occurredAt: string, sequence: number) => string) | null
  /** `isCleared`: sound before it was not heard. */
  readonly mark: (about: About, name: string, isCleared: boolean, sequence: number) => string
  readonly stop: (about: About, sequence: number) => string
  readonly error: ((about: About, complaint: Complaint, sequence: number) => string) | null
}
