/** What playout asks of the codec of a stream. A codec may remember what came before. */
export interface PayloadDecoder {
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
  /**
   * Fades the beginning of `sound`, its first behind the sound `before` of `other`, in over how that would have gone on,
   * where the two do not meet by themselves. Absent: they do.
   */
  readonly join?: (before: Int16Array, sound: Int16Array, other: PayloadDecoder) => void
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
