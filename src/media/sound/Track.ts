import { Deferred, Effect, Exit } from "effect"
import type { Piece } from "../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { type AudioDecoder, type AudioFile, AudioUnreadable, type DecoderLost, type Reading } from "./AudioDecoder.ts"

/**
 * A sound at one rate: its pieces, decoded on request.
 *
 * The last pieces that were heard are kept, up to `keptBytes`, so that a short sound is decoded once for all its
 * players, and players of a long one at the same time share its decoding. A reader of a piece that was dropped, or is
 * not decoded yet, gets a decoder of its own, which begins at the beginning and skips the pieces before it.
 */
export interface Track {
  readonly rate: SampleRate
  /** Returns the piece with this number, decoded in the turn of `holder`. */
  readonly piece: (index: number, holder: string) => Effect.Effect<Piece, AudioUnreadable>
  /** Closes the decoders that `readers` do not need. */
  readonly trim: (readers: number) => void
  readonly bytes: () => number
}

/** Enough for four minutes at 8 kHz, two at 16 kHz. */
const keptBytes = 4 * 1024 * 1024
/** How often a file is decoded anew after another file ended its decoding thread. */
const maxRestarts = 3

/** A decoder that decodes the piece `at` next. */
interface Cursor {
  readonly reading: Reading
  at: number
}

export const make = ({
  decoder,
  file,
  mayKeep,
  rate,
  run
}: {
  readonly decoder: AudioDecoder["Service"]
  readonly file: AudioFile
  readonly rate: SampleRate
  readonly run: (effect: Effect.Effect<void>) => void
  /** False: keep only the pieces that are heard now. */
  readonly mayKeep: () => boolean
}): Track => {
  /** The least recently used first. */
  const pieces = new Map<number, Piece>()
  const flights = new Map<number, Deferred.Deferred<Piece, AudioUnreadable>>()
  /** The decoders that are not in use. */
  let idle: ReadonlyArray<Cursor> = []
  let bytes = 0

  const keep = (index: number, piece: Piece): void => {
    const known = pieces.get(index)
    bytes += piece.samples.byteLength - (known?.samples.byteLength ?? 0)
    pieces.delete(index)
    pieces.set(index, piece)
    const most = known !== undefined || mayKeep() ? keptBytes : 2 * piece.samples.byteLength
    for (const [oldest, { samples }] of pieces) {
      if (bytes <= most) return
      pieces.delete(oldest)
      bytes -= samples.byteLength
    }
  }

  const cursorBefore = (index: number): Cursor => {
    const cursor = idle.find(({ at }) => at === index) ?? { reading: decoder.open(file, rate), at: 0 }
    idle = idle.filter((other) => other !== cursor)
    return cursor
  }

  /** Decodes up to the piece, and returns the decoder to `idle` if more pieces follow. */
  const decode = (index: number, holder: string): Effect.Effect<Piece, AudioUnreadable | DecoderLost> =>
    Effect.suspend(() => {
      const cursor = cursorBefore(index)
      const advance: Effect.Effect<Piece, AudioUnreadable | DecoderLost> = Effect.flatMap(
        cursor.reading.next(holder),
        (piece) => {
          keep(cursor.at, piece)
          const isThere = cursor.at === index
          cursor.at++
          if (isThere) return Effect.succeed(piece)
          return piece.isLast ? Effect.fail(new AudioUnreadable({ reason: "unsupported_format" })) : advance
        }
      )
      return Effect.onExit(advance, (exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit) && !exit.value.isLast) idle = [...idle, cursor]
          else cursor.reading.close()
        })
      )
    })

  /** Decodes in a separate fiber, so that an interruption of the first reader does not affect the others. */
  const start = (index: number, holder: string): Deferred.Deferred<Piece, AudioUnreadable> => {
    const flight = Deferred.makeUnsafe<Piece, AudioUnreadable>()
    flights.set(index, flight)
    run(
      decode(index, holder).pipe(
        Effect.retry({ times: maxRestarts, while: ({ _tag }) => _tag === "DecoderLost" }),
        Effect.catchTag("DecoderLost", () => Effect.fail(new AudioUnreadable({ reason: "overloaded" }))),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            flights.delete(index)
            Deferred.doneUnsafe(flight, Exit.isFailure(exit) && !Exit.hasFails(exit) ? faulty : exit)
          })
        ),
        Effect.ignore
      )
    )
    return flight
  }

  return {
    rate,
    piece: (index, holder) =>
      Effect.suspend(() => {
        const known = pieces.get(index)
        if (known === undefined) return Deferred.await(flights.get(index) ?? start(index, holder))
        keep(index, known)
        return Effect.succeed(known)
      }),
    trim: (readers) => {
      const surplus = idle.slice(0, Math.max(0, idle.length - readers))
      idle = idle.slice(surplus.length)
      for (const { reading } of surplus) reading.close()
    },
    bytes: () => bytes
  }
}

/** A defect ends the wait of every reader, and no tenant learns its cause. */
const faulty = Exit.fail(new AudioUnreadable({ reason: "unsupported_format" }))
