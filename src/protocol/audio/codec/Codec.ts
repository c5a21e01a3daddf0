import type { SampleRate } from "../SampleRate.ts"

/**
 * A way to carry sound in RTP packets. All properties of a codec that other code uses are in its row of the table
 * (`Codecs`).
 *
 * Samples are linear, of 16 bits, one channel. A frame lasts 20 ms.
 */
export interface Codec {
  /** The name in `a=rtpmap`; with the clock rate and the channels it identifies a codec, ignoring case. */
  readonly encoding: string
  /** The clock rate of RTP timestamps in Hz; not always the rate of the samples. */
  readonly clockRate: number
  /** The channels in `a=rtpmap`: Opus always states two. */
  readonly channels: number
  /** The static type of RFC 3551 section 6; `null`: each session assigns a dynamic one. */
  readonly payloadType: number | null
  /** The value of `a=fmtp` in our descriptions. */
  readonly fmtp: string | null
  readonly sampleRate: SampleRate
  /** The longest payload of a frame, in octets. */
  readonly frameOctets: number
  /** Whether each payload is coded by itself: it decodes to the same sound whatever came before. */
  readonly isStateless: boolean
  /** Whether payloads of one length have the same duration. */
  readonly isPlain: boolean
  /**
   * Its effect on speech on the scale of narrow-band telephony, ITU-T G.113 appendix I: the impairment without loss,
   * and the robustness against loss with the concealment used here.
   */
  readonly impairment: { readonly ie: number; readonly bpl: number }
  /** `fmtp`: the parameters that the peer requires of its senders (`a=fmtp`); null: none. */
  readonly encoder: (fmtp: string | null) => Encoder
  readonly decoder: () => Decoder
}

/** Encodes one stream, in order; it may keep state between frames. */
export interface Encoder {
  /** Encodes a frame into `out` from `at` on. Returns the octets written; 0: silence, which needs no packet. */
  readonly encode: (samples: Int16Array, out: Uint8Array, at: number) => number
  /** Takes the share of packets that the peer reports as lost, 0 to 1. */
  readonly reported: (loss: number) => void
  /** Ends the stream. */
  readonly free: () => void
}

/** Decodes one stream, in order; it may keep state between packets, and is notified of losses. */
export interface Decoder {
  /** The duration of the payload in `bytes` from `start` to `end`, in clock units; 0: it is not of this codec. */
  readonly duration: (bytes: Uint8Array, start: number, end: number) => number
  /** Decodes a payload into `out`, which is long enough; returns the samples written. */
  readonly decode: (payload: Uint8Array, out: Int16Array) => number
  /** Conceals missing sound; returns the level at its end, relative to the sound before it. */
  readonly conceal: (out: Int16Array, loss: Loss) => number
  /** Notes that sound of this many clock units before the next payload was lost. */
  readonly skip: (units: number) => void
  /** Begins another stream with the next payload, whose encoder has no state of earlier sound. */
  readonly reset: () => void
  /** Ends the stream. */
  readonly free: () => void
}

/** Sound that is missing when it has to be played: it is late, or lost. */
export interface Loss {
  /** Where in `out` the loss begins; it lasts to the end. */
  readonly from: number
  /** How many whole frames in a row were concealed before this one. */
  readonly framesBefore: number
  /** The last frame that was played, as long as `out`. */
  readonly last: Int16Array
  /** The payload directly after the missing one, if it has arrived: it may carry a copy. */
  readonly following: Uint8Array | null
}
