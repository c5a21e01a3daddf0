import type { Piece } from "../../protocol/audio/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { MediaEnded } from "../../ports/media/MediaMessage.ts"
import type { Playable } from "../../ports/media/Playback.ts"

/** The leg that was asked for a sound: the one that plays it, or one that is connected with it. It hears of the end. */
export interface Asker {
  readonly ended: (id: WorkId, end: Pick<MediaEnded, "status" | "reason">) => void
}

/** A sound that stands in line, and what of it is here. */
export interface Playback {
  readonly id: WorkId
  readonly sound: Playable
  readonly asker: Asker
  readonly loops: number
  /** Digits of the far end that stop it. */
  readonly stoppedBy: string
  /** Times that it is still to be heard, the present one included. */
  loopsLeft: number
  /** Times whose last piece has come. */
  loopsSupplied: number
  /** Null until its first piece has come. */
  rate: SampleRate | null
  /** It has one piece, which stays. */
  isWhole: boolean
  /** What is here and not yet heard. */
  pieces: ReadonlyArray<Piece>
  /** Samples of the first piece that were heard. */
  position: number
  /** Samples that were heard since the sound began, or went on behind a gap. */
  since: number
  isAsked: boolean
}

/** Of a playback that comes after so much sound nothing needs to be here. */
const aheadMs = 10_000
/** So many playbacks, the present one included, may wait for their first piece. */
const mostUnknown = 2
/** The present one is asked for more when less than this is here. */
const lowMs = 2000

/**
 * The playbacks of a leg in their order. Pieces are asked for one at a time, the next of the present playback before it
 * is needed, and the first of those that come within seconds; what stands behind them holds nothing.
 */
export const make = (want: (playback: Playback) => void) => {
  let queue: ReadonlyArray<Playback> = []

  const isLow = ({ pieces, position, rate }: Playback, isFirst: boolean): boolean => {
    if (rate === null || pieces.length === 0) return true
    const samples = pieces.reduce((sum, { samples }) => sum + samples.length, -position)
    return isFirst && samples < (rate * lowMs) / 1000
  }

  /** Milliseconds that are still to be heard of a playback whose pieces are all here. */
  const leftMs = ({ isWhole, loopsLeft, pieces, position, rate }: Playback): number => {
    const samples = pieces.reduce((sum, { samples }) => sum + samples.length, 0)
    return ((samples * (isWhole ? loopsLeft : 1) - position) * 1000) / (rate ?? 8000)
  }

  return {
    /** Of those that were asked for by this leg. */
    size: (asker: Asker): number => queue.filter((playback) => playback.asker === asker).length,
    first: (): Playback | null => queue[0] ?? null,
    find: (id: WorkId): Playback | null => queue.find((playback) => playback.id === id) ?? null,
    /** Those that this digit stops. */
    stoppedBy: (digit: string): ReadonlyArray<Playback> => queue.filter(({ stoppedBy }) => stoppedBy.includes(digit)),
    add: (playback: Pick<Playback, "id" | "sound" | "asker" | "loops" | "stoppedBy">): void => {
      const none = { rate: null, isWhole: false, pieces: [], position: 0, since: 0, isAsked: false }
      queue = [...queue, { ...playback, loopsLeft: playback.loops, loopsSupplied: 0, ...none }]
    },
    remove: (playback: Playback): void => {
      queue = queue.filter((other) => other !== playback)
    },
    /** Takes out all, or those that were asked for by this leg. */
    take: (asker: Asker | null): ReadonlyArray<Playback> => {
      const taken = queue.filter((playback) => asker === null || playback.asker === asker)
      queue = queue.filter((playback) => !taken.includes(playback))
      return taken
    },
    /** Asks for what will soon be needed. */
    ask: (): void => {
      let ahead = 0
      let unknown = 0
      for (const playback of queue) {
        const isAll = playback.loopsSupplied >= playback.loops
        if (!isAll && !playback.isAsked && isLow(playback, playback === queue[0])) {
          playback.isAsked = true
          want(playback)
        }
        if (playback.rate === null) unknown++
        else if (isAll) ahead += leftMs(playback)
        // It goes on for long enough.
        else return
        if (unknown >= mostUnknown || ahead >= aheadMs) return
      }
    },
    supply: (id: WorkId, rate: SampleRate, piece: Piece): void => {
      const playback = queue.find((waiting) => waiting.id === id && waiting.isAsked)
      if (playback === undefined) return
      playback.isWhole = playback.rate === null && piece.isLast
      playback.isAsked = false
      playback.rate = rate
      playback.pieces = [...playback.pieces, piece]
      if (piece.isLast) playback.loopsSupplied = playback.isWhole ? playback.loops : playback.loopsSupplied + 1
    },
    /** So many samples of the first piece were heard. */
    advance: (playback: Playback, piece: Piece, count: number): void => {
      playback.position += count
      playback.since += count
      if (playback.position < piece.samples.length) return
      playback.position = 0
      if (piece.isLast) playback.loopsLeft--
      if (!playback.isWhole) playback.pieces = playback.pieces.slice(1)
    }
  }
}
