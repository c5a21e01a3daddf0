import { Schema } from "effect"
import { CallId, LegId, StreamId, TenantId, WorkId } from "../../domain/Id.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import * as StreamField from "../../domain/schema/StreamField.ts"

/** Media streams: the sound of a leg to a WebSocket, and sound from there to the leg. */

export const Protocol = Schema.Literals(["telnyx", "twilio"])
export type Protocol = typeof Protocol.Type

export const Track = Schema.Literals(StreamField.tracks)
export type Track = typeof Track.Type

/** The options of a stream. */
export const Options = Schema.Struct({
  /** The URL of the `wss` server. */
  url: Secret.url(Schema.String),
  /** Sent as a bearer token in the handshake. */
  token: Schema.NullOr(Secret.token(Schema.String)),
  protocol: Protocol,
  track: Track,
  /** The codec of both directions; null: that of the leg. */
  codec: Schema.NullOr(StreamField.StreamCodec),
  /** The rate of the samples in `codec`, if it has several. Null: it has one. */
  rate: Schema.NullOr(StreamField.StreamRate),
  /** The kind of sound that its server may send: payloads of the codec, or MP3 files. Null: none. */
  hears: Schema.NullOr(Schema.Literals(["rtp", "mp3"])),
  /** How late a packet of the far end may come, in milliseconds. Absent: by whether the server may send sound. */
  jitterMs: Schema.optionalKey(StreamField.JitterMs),
  /** For how many seconds a broken connection is tried again. Absent or 0: it ends the stream. */
  reconnectSecs: Schema.optionalKey(StreamField.ReconnectSecs),
  /** Passed to the server unchanged. */
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, value: Secret.token(Schema.String) }))
})
export type Options = typeof Options.Type

/** The call that is named to the server. */
const Subject = Schema.Struct({
  tenantId: TenantId,
  callId: CallId,
  legId: LegId,
  from: Schema.String,
  to: Schema.String
})
type Subject = typeof Subject.Type

const start = Schema.Struct({
  type: Schema.tag("start_stream"),
  id: WorkId,
  streamId: StreamId,
  options: Options,
  of: Subject
})
export type StartStream = typeof start.Type

export const commands = [
  /** Connects the leg to a server; `stream_started` and `ended` come once. A second stream of a leg fails. */
  start,
  /** Ends the stream of the leg, which reports its end; idempotent. */
  Schema.Struct({ type: Schema.tag("stop_stream") })
] as const

export const events = [
  /** The stream is connected. */
  Schema.Struct({ type: Schema.tag("stream_started"), id: WorkId })
] as const

/** Why a stream ended as `failed`. A detail for people may follow, after a colon and a space. */
export const Failure = Schema.Literals(StreamField.failures)
export type Failure = typeof Failure.Type
