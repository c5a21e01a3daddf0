import { Result } from "effect"
import type * as Decode from "./Decode.ts"
import * as Resample from "../Resample.ts"

/** A stretch of a sound that is decoded piece by piece. The last one of a sound is never empty. */
export interface Piece {
  readonly samples: Int16Array
  readonly isLast: boolean
}

export interface Pieces {
  /**
   * Decodes until a piece is complete; null: it had to stop before, and the next call continues from there. Must not be
   * called after the last piece or a fault.
   */
  readonly next: (mustStop: () => boolean) => Result.Result<Piece | null, Decode.Fault>
}

/**
 * Cuts decoded sound into pieces of `length` samples. The last piece has at least `least` samples, unless the whole
 * sound is shorter, so that a player learns of the end while there is time to fade it out. So it may be longer by as
 * much.
 */
export const make = (decoding: Decode.Decoding, length: number, least: number): Pieces => {
  let parts: ReadonlyArray<Int16Array> = []
  let count = 0
  let isOver = false

  const needsMore = (): boolean => !isOver && count < length + least

  const add = (samples: Int16Array): void => {
    if (samples.length === 0) return
    parts = [...parts, samples]
    count += samples.length
  }

  const cut = (): Piece => {
    const all = Resample.concat(parts)
    const isLast = isOver && count < length + least
    const samples = isLast ? all : all.subarray(0, length)
    const rest = all.subarray(samples.length)
    parts = rest.length === 0 ? [] : [rest]
    count = rest.length
    return { samples, isLast }
  }

  return {
    next: (mustStop) => {
      while (needsMore()) {
        if (mustStop()) return Result.succeed(null)
        const more = decoding.next()
        if (Result.isFailure(more)) return Result.fail(more.failure)
        if (more.success === null) isOver = true
        else add(more.success)
      }
      return Result.succeed(cut())
    }
  }
}
