import { Schema } from "effect"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as StreamField from "../../../domain/schema/StreamField.ts"
import * as EgressTarget from "../../../ports/egress/EgressTarget.ts"
import * as StreamMessages from "../../../ports/media/StreamMessages.ts"
import * as BodyField from "../../verb/BodyField.ts"

/** The fields of `streaming_start` and `answer` about a media stream, guide/streams.md#starting-a-stream. */

const url = Secret.url(Schema.String.check(Schema.isMaxCodePoints(EgressTarget.maxUrlLength))).annotate({
  format: "uri",
  description: "The WebSocket server that hears the call. WSS only; no user name, no private address.",
  examples: ["wss://example.com/audio"]
})

export const requiredUrl = url
export const urlOrNull = BodyField.or(
  Schema.NullOr(url).annotate({
    description: "The WebSocket server that hears the call; null: none.",
    examples: [null]
  }),
  null
)

const orNull = <S extends Schema.Top>(schema: S, description: string, example: S["Type"] | null) =>
  BodyField.or(Schema.NullOr(schema).annotate({ description, examples: [example] }), null)

const short = Schema.String.check(Schema.isMinLength(1), Schema.isMaxCodePoints(100))

const Parameter = Schema.Struct({
  name: BodyField.of(short, "Its name.", "agent"),
  value: Secret.token(
    BodyField.of(Schema.String.check(Schema.isMaxCodePoints(1000)), "Its value; it may be a secret.", "support")
  )
})

export const fields = {
  streamTrack: BodyField.or(
    BodyField.of(StreamMessages.Track, "What the far end says, what it hears, or both.", "inbound_track"),
    "inbound_track"
  ),
  streamCodec: orNull(
    StreamField.StreamCodec,
    "The codec of the stream, in both directions; null: `stream_bidirectional_codec`, else the codec of the call.",
    "PCMU"
  ),
  streamBidirectionalMode: orNull(
    Schema.Literals(["rtp", "mp3"]),
    "What the server may send to be heard: payloads of the codec, or whole MP3 files; null: nothing.",
    "rtp"
  ),
  streamBidirectionalCodec: orNull(
    StreamField.StreamCodec,
    "The codec of what the server sends. A stream has one codec: it is that of `stream_codec`; where neither is given, PCMU.",
    "PCMU"
  ),
  streamBidirectionalSamplingRate: orNull(
    StreamField.StreamRate,
    "In Hz, in both directions: 8000, 16000 or 24000 of L16, and of OPUS also 48000; 8000 of the others.",
    8000
  ),
  streamJitterMs: orNull(
    StreamField.JitterMs,
    "How late a packet of the far end may come and still be in the stream, in milliseconds: 60 to 2000. Null: 60 if the server may send sound, else 400.",
    null
  ),
  streamReconnectSecs: BodyField.or(
    BodyField.of(
      StreamField.ReconnectSecs,
      "For how many seconds a broken connection is tried again, 0 to 60. 0: it ends the stream.",
      0
    ),
    0
  ),
  streamProtocol: BodyField.or(
    BodyField.of(StreamMessages.Protocol, "Whose messages are spoken: Telnyx's, or Twilio's (PCMU only).", "telnyx"),
    "telnyx"
  ),
  streamAuthToken: orNull(
    Secret.token(
      Schema.String.check(
        Schema.isPattern(/^[\x21-\x7e]{1,4000}$/u, { message: "must be 1 to 4000 visible ASCII characters" })
      )
    ),
    "Sent to the server as `Authorization: Bearer`.",
    null
  ),
  customParameters: BodyField.or(
    Schema.Array(Parameter)
      .check(Schema.isMaxLength(50))
      .annotate({ description: "Handed to the server with the first message.", examples: [[]] }),
    []
  )
}

type Fields = { readonly [Name in keyof typeof fields]: (typeof fields)[Name]["Type"] }

/**
 * The codec of both directions; null: that of the call. A server that sends sound back is written for one codec, so the
 * call's codec does not decide then.
 */
const codecOf = ({ streamBidirectionalCodec, streamBidirectionalMode, streamCodec, streamProtocol }: Fields) =>
  streamCodec ??
  streamBidirectionalCodec ??
  (streamProtocol === "twilio" || streamBidirectionalMode === "rtp" ? "PCMU" : null)

const ratesOf = (codec: StreamField.StreamCodec | null): ReadonlyArray<StreamField.StreamRate> =>
  codec === null ? [] : StreamField.rates[codec]

/** The conflict between fields; undefined: there is none. */
export const fault = (body: Fields): string | undefined => {
  const { streamBidirectionalCodec: back, streamBidirectionalSamplingRate: rate, streamCodec, streamProtocol } = body
  const codec = codecOf(body)
  if (streamCodec !== null && back !== null && streamCodec !== back)
    return "stream_bidirectional_codec differs from stream_codec: a stream has one codec"
  if (streamProtocol === "twilio" && codec !== "PCMU") return "stream_protocol twilio is PCMU only"
  if (streamProtocol === "twilio" && body.streamBidirectionalMode === "mp3")
    return "stream_protocol twilio takes no MP3 files"
  if (rate !== null && codec !== null && !ratesOf(codec).includes(rate))
    return `stream_bidirectional_sampling_rate ${rate} is not one of ${codec}`
  return undefined
}

/** The stream options of a body. */
export const optionsOf = (streamUrl: string, body: Fields): StreamMessages.Options => {
  const codec = codecOf(body)
  const rates = ratesOf(codec)
  const [first = null] = rates
  return {
    url: streamUrl,
    token: body.streamAuthToken,
    protocol: body.streamProtocol,
    track: body.streamTrack,
    codec,
    rate: rates.length > 1 ? (body.streamBidirectionalSamplingRate ?? first) : null,
    hears: body.streamBidirectionalMode,
    ...(body.streamReconnectSecs === 0 ? {} : { reconnectSecs: body.streamReconnectSecs }),
    ...(body.streamJitterMs === null ? {} : { jitterMs: body.streamJitterMs }),
    parameters: body.customParameters
  }
}
