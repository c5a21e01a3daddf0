import type { Piece } from "../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { MediaEnded } from "../../ports/media/MediaMessage.ts"
import type { Playable } from "../../ports/media/PlaybackMessages.ts"

/** The leg whose command caused a sound: the one that plays it, or one connected with it. It gets the end. */
export interface Asker {
  readonly ended: (id: WorkId, end: Pick<MediaEnded, "status" | "reason">) => void
}

/** A queued sound, with the pieces of it that are loaded. */
export interface Playback {
  readonly id: WorkId
  readonly sound: Playable
  readonly asker: Asker
  readonly loops: number
  /** Digits of the far end that stop it. */
  readonly stoppedBy: string
  /** How many times it is still to be heard, the present one included. */
  loopsLeft: number
  /** How many times its last piece has come. */
  loopsSupplied: number
  /** Null until its first piece has come. */
  rate: SampleRate | null
  /** Whether it has only one piece, which is kept for every loop. */
  isWhole: boolean
  /** The loaded pieces that are not yet played. */
  pieces: ReadonlyArray<Piece>
  /** The samples of the first piece that are played. */
  position: number
  /** The samples played since the sound began, or since it resumed after a gap. */
  since: number
  isAsked: boolean
}

/** A playback that comes after this much sound needs no loaded piece. */
const aheadMs = 10_000
/** The most playbacks, the present one included, that may wait for their first piece at once. */
const mostUnknown = 2
/** The present playback requests its next piece when less than this is loaded. */
const lowMs = 2000

/**
 * The playbacks of a leg in their order. Pieces are requested one at a time: the next one of the present playback
 * before it is needed, and the first one of those that follow within seconds. Later playbacks hold no sound.
 */
export const make = (want: (playback: Playback) => void) => {
  let queue: ReadonlyArray<Playback> = []

  const isLow = ({ pieces, position, rate }: Playback, isFirst: boolean): boolean => {
    if (rate === null || pieces.length === 0) return true
    const samples = pieces.reduce((sum, { samples }) => sum + samples.length, -position)
    return isFirst && samples < (rate * lowMs) / 1000
  }

  /** Returns the milliseconds left of a playback whose pieces are all loaded. */
  const leftMs = ({ isWhole, loopsLeft, pieces, position, rate }: Playback): number => {
    const samples = pieces.reduce((sum, { samples }) => sum + samples.length, 0)
    return ((samples * (isWhole ? loopsLeft : 1) - position) * 1000) / (rate ?? 8000)
  }

  return {
    /** Counts the playbacks of this asker. */
    size: (asker: Asker): number => queue.filter((playback) => playback.asker === asker).length,
    first: (): Playback | null => queue[0] ?? null,
    find: (id: WorkId): Playback | null => queue.find((playback) => playback.id === id) ?? null,
    /** Returns the playbacks that this digit stops. */
    stoppedBy: (digit: string): ReadonlyArray<Playback> => queue.filter(({ stoppedBy }) => stoppedBy.includes(digit)),
    add: (playback: Pick<Playback, "id" | "sound" | "asker" | "loops" | "stoppedBy">): void => {
      const none = { rate: null, isWhole: false, pieces: [], position: 0, since: 0, isAsked: false }
      queue = [...queue, { ...playback, loopsLeft: playback.loops, loopsSupplied: 0, ...none }]
    },
    remove: (playback: Playback): void => {
      queue = queue.filter((other) => other !== playback)
    },
    /** Takes out all playbacks, or those of this asker. */
    take: (asker: Asker | null): ReadonlyArray<Playback> => {
      const taken = queue.filter((playback) => asker === null || playback.asker === asker)
      queue = queue.filter((playback) => !taken.includes(playback))
      return taken
    },
    /** Requests the pieces that will soon be needed. */
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
        // This playback lasts long enough that those after it need nothing yet.
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
    /** Counts samples of the first piece as played. */
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
