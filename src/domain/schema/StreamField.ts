import { Schema } from "effect"
import * as Field from "./Field.ts"

/**
 * The codecs of media streams, each with its rates in Hz, the default first. G.722 has the rate of its RTP clock
 * instead of that of its samples (RFC 3551 section 4.5.2).
 */
export const rates = {
  PCMU: [8000],
  PCMA: [8000],
  G722: [8000],
  OPUS: [16_000, 8000, 24_000, 48_000],
  L16: [8000, 16_000, 24_000]
} as const

export type StreamCodec = keyof typeof rates
export const StreamCodec = Schema.Literals(Object.keys(rates) as ReadonlyArray<StreamCodec>)

/** The rates of all codecs, in order. */
export const StreamRate = Schema.Literals(
  [...new Set(Object.values(rates).flat())].toSorted((one, other) => one - other)
)
export type StreamRate = typeof StreamRate.Type

export const tracks = ["inbound_track", "outbound_track", "both_tracks"] as const

export const failures = ["connection_failed", "protocol_error", "carrier_error"] as const

/** How late a packet may come and still be in the sound of a stream, in milliseconds. */
export const jitter = { least: 60, most: 2000, listening: 400 }
export const JitterMs = Schema.Int.check(Schema.isBetween({ minimum: jitter.least, maximum: jitter.most }))

/** For how many seconds a broken connection of a stream is tried again. */
export const ReconnectSecs = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

/** The fields of a stream that its events and its view have. */
export const shown = {
  streamUrl: Field.text("Where it leads, without its query, which may hold a token.", "wss://media.example/stream"),
  streamTrack: Field.oneOf("What the leg says, what it hears, or both.", tracks),
  streamCodec: Schema.NullOr(StreamCodec).annotate({ description: "Null: the codec of the call.", examples: ["PCMU"] })
}
