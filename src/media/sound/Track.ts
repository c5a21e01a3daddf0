import { Deferred, Effect, Exit } from "effect"
import type { Piece } from "../../protocol/audio/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { type AudioDecoder, type AudioFile, AudioUnreadable, type DecoderLost, type Reading } from "./AudioDecoder.ts"

/**
 * A sound at one rate: its pieces, decoded when they are asked for.
 *
 * The pieces that were heard last are kept, up to `keptBytes`, so that a short sound is decoded once for all who play
 * it, and those who play a long one at the same time share its decoding. Who asks for a piece that is not there any
 * more, or not yet, has a decoder of its own, which begins at the beginning and drops what is before.
 */
export interface Track {
  readonly rate: SampleRate
  /** The piece with this number, decoded in the turn of `holder`. */
  readonly piece: (index: number, holder: string) => Effect.Effect<Piece, AudioUnreadable>
  /** Closes the decoders that more than `readers` would need. */
  readonly trim: (readers: number) => void
  readonly bytes: () => number
}

/** Four minutes at 8 kHz, two at 16 kHz. */
export const keptBytes = 4 * 1024 * 1024
/** How often a file is begun again whose decoding thread ended because of another file. */
const maxRestarts = 3

/** A decoder that stands before the piece `at`. */
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
  /** False: keep no more than what is heard now. */
  readonly mayKeep: () => boolean
}): Track => {
  /** The least recently used first. */
  const pieces = new Map<number, Piece>()
  const flights = new Map<number, Deferred.Deferred<Piece, AudioUnreadable>>()
  /** Those that nobody uses now. */
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

  /** Decodes up to the piece, and gives the decoder back if there is more to come. */
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

  /** In a fiber of its own, so that an interruption of the first who asks takes nothing from the others. */
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

/** After a defect nobody may go on waiting, and no tenant may learn what it was. */
const faulty = Exit.fail(new AudioUnreadable({ reason: "unsupported_format" }))
