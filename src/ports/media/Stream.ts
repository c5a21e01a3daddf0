import { Schema } from "effect"
import { CallId, LegId, StreamId, TenantId, WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"

/** Media streams: the sound of a leg to a WebSocket, and sound from there to the leg. */

export const Protocol = Schema.Literals(["telnyx", "twilio"])
export type Protocol = typeof Protocol.Type

export const Track = Schema.Literals(["inbound_track", "outbound_track", "both_tracks"])
export type Track = typeof Track.Type

export const Codec = Schema.Literals(["PCMU", "PCMA", "G722", "OPUS", "L16"])
export type Codec = typeof Codec.Type

/** What is asked of a stream. */
export const Options = Schema.Struct({
  /** Of the `wss` server. */
  url: Secret.url(Schema.String),
  /** Sent as a bearer token when it is connected. */
  token: Schema.NullOr(Secret.token(Schema.String)),
  protocol: Protocol,
  track: Track,
  /** In both directions; null: the codec of the leg. */
  codec: Schema.NullOr(Codec),
  /** Of the samples in `codec`, where it leaves a choice. Null: it leaves none. */
  rate: Schema.NullOr(Schema.Literals([8000, 16_000, 24_000, 48_000])),
  /** What its server may send to be heard: payloads of the codec, or MP3 files. Null: nothing. */
  hears: Schema.NullOr(Schema.Literals(["rtp", "mp3"])),
  /** Handed to the server as they are. */
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, value: Secret.token(Schema.String) }))
})
export type Options = typeof Options.Type

/** Of whose call the server is told. */
const Subject = Schema.Struct({
  tenantId: TenantId,
  callId: CallId,
  legId: LegId,
  from: Schema.String,
  to: Schema.String
})
export type Subject = typeof Subject.Type

const start = Schema.Struct({
  type: Schema.tag("start_stream"),
  id: WorkId,
  streamId: StreamId,
  options: Options,
  of: Subject
})
export type StartStream = typeof start.Type

export const commands = [
  /**
   * Connects the leg to a server; it `stream_started` once, and `ended` once. A leg has one stream: a second fails.
   */
  start,
  /** Ends the stream of the leg, which tells its end; idempotent. */
  Schema.Struct({ type: Schema.tag("stop_stream") })
] as const

export const events = [
  /** It is connected. */
  Schema.Struct({ type: Schema.tag("stream_started"), id: WorkId })
] as const

/** Why a stream ended as `failed`. A detail may follow, for people, behind a colon and a space. */
export const Failure = Schema.Literals(["connection_failed", "protocol_error", "carrier_error"])
export type Failure = typeof Failure.Type
