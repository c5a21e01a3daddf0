import { Context, Data, Effect, Layer, Result } from "effect"
import * as Decode from "../../protocol/audio/file/Decode.ts"
import * as Pieces from "../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"

/** `decode_limit`: it takes more CPU time than its length allows; `overloaded`: too much waits to be decoded. */
export class AudioUnreadable extends Data.TaggedError("AudioUnreadable")<{
  readonly reason: Decode.Fault | "decode_limit" | "overloaded"
}> {}

/** The thread of the file has ended through no fault of the file, which has to be opened again. */
export class DecoderLost extends Data.TaggedError("DecoderLost")<{}> {}

/** The longest sound that is played: half an hour. */
const limits: Decode.Limits = { maxSeconds: 1800 }

/** The length of a piece of sound. */
const pieceMs = 2000
const leastMs = 20

/** The limit on a file's CPU time: ten times that of a stereo MP3 of 48 kHz on a slow core, plus a second. */
export const isWithinBudget = (cpuMs: number, soundMs: number): boolean => cpuMs <= 1000 + 0.03 * soundMs

/** A file as it was fetched; `bytes` are shared and only read. */
export interface AudioFile {
  readonly bytes: Uint8Array
  readonly contentType: string | null
}

/** A file that is being decoded. Its pieces are requested one after the other. */
export interface Reading {
  /** Decodes the next piece in the turn of this holder. Not called after the last piece, or after a failure. */
  readonly next: (holder: string) => Effect.Effect<Pieces.Piece, AudioUnreadable | DecoderLost>
  /** Frees its memory; also allowed while a piece is being decoded. */
  readonly close: () => void
}

/** Turns the bytes of a sound file into pieces of linear samples of one channel. */
export class AudioDecoder extends Context.Service<
  AudioDecoder,
  {
    readonly open: (file: AudioFile, rate: SampleRate) => Reading
  }
>()("trunkline/media/AudioDecoder") {
  /** A decoder in this thread, for tests. */
  static readonly layerInline = Layer.succeed(AudioDecoder, {
    open: (file, rate) => {
      const opened = start(file, rate)
      let isClosed = false
      return {
        next: () =>
          Effect.flatMap(
            Effect.promise(() => opened),
            (started): Effect.Effect<Pieces.Piece, AudioUnreadable | DecoderLost> => {
              const piece = Result.flatMap(started, ({ pieces }) => pieces.next(() => false))
              if (Result.isFailure(piece)) return Effect.fail(new AudioUnreadable({ reason: piece.failure }))
              return piece.success === null ? Effect.fail(new DecoderLost()) : Effect.succeed(piece.success)
            }
          ),
        close: () => {
          if (isClosed) return
          isClosed = true
          void opened.then(Result.match({ onSuccess: ({ free }) => free(), onFailure: () => undefined }))
        }
      }
    }
  })
}

interface Started {
  readonly pieces: Pieces.Pieces
  readonly free: () => void
}

/** Begins to decode a file into pieces. The promise never rejects. */
export const start = async (
  { bytes, contentType }: AudioFile,
  rate: SampleRate
): Promise<Result.Result<Started, Decode.Fault>> =>
  Result.map(await Decode.open(bytes, contentType, rate, limits), (decoding) => ({
    pieces: Pieces.make(decoding, (rate * pieceMs) / 1000, (rate * leastMs) / 1000),
    free: decoding.free
  }))
