import type { SampleRate } from "../SampleRate.ts"

/**
 * A way to carry sound in RTP packets. All that others know of a codec is in its row of the table (`Codecs`).
 *
 * Samples are linear, of 16 bits, one channel. A frame lasts 20 ms.
 */
export interface Codec {
  /** As `a=rtpmap` names it; with the clock rate and the channels it tells codecs apart, whatever the case. */
  readonly encoding: string
  /** Of RTP timestamps, in Hz; not always the rate of the samples. */
  readonly clockRate: number
  /** As `a=rtpmap` names it too: Opus says two, whatever is sent. */
  readonly channels: number
  /** Assigned in RFC 3551 section 6; `null`: each session gives it a dynamic one. */
  readonly payloadType: number | null
  /** For `a=fmtp` in our descriptions. */
  readonly fmtp: string | null
  readonly sampleRate: SampleRate
  /** The longest payload of a frame, in octets. */
  readonly frameOctets: number
  /** Whether payloads are coded each by itself: one decodes to the same sound whatever came before. */
  readonly isStateless: boolean
  /** Whether payloads of one length last equally long. */
  readonly isPlain: boolean
  /**
   * What it does to speech, ITU-T G.113 appendix I: the impairment without loss, and the robustness against loss as it
   * is concealed here.
   */
  readonly impairment: { readonly ie: number; readonly bpl: number }
  /** `fmtp`: the parameters that the peer asks of those who send to it (`a=fmtp`); null: none. */
  readonly encoder: (fmtp: string | null) => Encoder
  readonly decoder: () => Decoder
}

/** Encodes one stream, in order: it may remember what came before. */
export interface Encoder {
  /** Encodes a frame into `out` from `at` on; returns the octets written; 0: silence, which needs no packet. */
  readonly encode: (samples: Int16Array, out: Uint8Array, at: number) => number
  /** The peer reports that it lost this share of what was sent, 0 to 1. */
  readonly reported: (loss: number) => void
  /** The stream is over. */
  readonly free: () => void
}

/** Decodes one stream, in order: it may remember what came before, and is told what was lost. */
export interface Decoder {
  /** How long the sound lasts that lies in `bytes` from `start` to `end`, in clock units; 0: it is not of this codec. */
  readonly duration: (bytes: Uint8Array, start: number, end: number) => number
  /** Decodes a payload into `out`, which has room; returns the samples written. */
  readonly decode: (payload: Uint8Array, out: Int16Array) => number
  /** Makes sound up in place of what is missing; returns the level at its end, of which 1 is that of the sound before. */
  readonly conceal: (out: Int16Array, loss: Loss) => number
  /** Sound of so many clock units in front of the next payload was lost. */
  readonly skip: (units: number) => void
  /** Another stream begins with the next payload: its encoder knows nothing of what came before. */
  readonly reset: () => void
  /** The stream is over. */
  readonly free: () => void
}

/** Sound that is missing when it is to be heard: it is late, or lost. */
export interface Loss {
  /** Where in `out` it begins; it lasts to the end. */
  readonly from: number
  /** Whole frames in a row before this one that were made up. */
  readonly framesBefore: number
  /** The frame that was heard last, as long as `out`. */
  readonly last: Int16Array
  /** The payload right behind what is missing, when it is here: it may carry a copy of it. */
  readonly following: Uint8Array | null
}
