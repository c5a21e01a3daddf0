/** The interface of a stream's codec to playout. A codec may keep state between payloads. */
export interface PayloadDecoder {
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
  /**
   * Fades the beginning of `sound`, its first after the sound `before` of `other`, in over the continuation of that, if
   * the two do not join by themselves. Absent: they do.
   */
  readonly join?: (before: Int16Array, sound: Int16Array, other: PayloadDecoder) => void
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
