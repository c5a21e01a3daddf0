import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Result, Schema } from "effect"
import * as Wav from "../../../protocol/audio/file/Wav.ts"
import type { WorkId } from "../../../domain/Id.ts"
import { type Finished, type Shape, Spool, Spooled, SpoolError, type Writer } from "../Spool.ts"
import * as TrimmedWav from "./TrimmedWav.ts"
import { Encoders } from "./Encoders.ts"

const failed = (error: unknown): SpoolError =>
  error instanceof SpoolError
    ? error
    : new SpoolError({
        reason: "storage_error",
        detail: error instanceof Error && "code" in error ? String(error.code) : String(error)
      })
const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })

const sampleBytes = 2
const contentTypes = { wav: "audio/wav", mp3: "audio/mpeg" } as const

/** Reads the header of a WAVE file that this spool wrote; null: there is none. */
const shapeOf = (header: Uint8Array): Shape | null => {
  if (header.length < Wav.headerLength || !Wav.isWav(header)) return null
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  const channels = view.getUint16(22, true)
  return channels === 1 || channels === 2 ? { channels, sampleRate: view.getUint32(24, true) } : null
}

/** Puts the true lengths into the header, and cuts off an incomplete last sample. Null: there is no sound. */
const complete = async (path: string): Promise<{ readonly shape: Shape; readonly dataBytes: number } | null> => {
  const file = await open(path, "r+")
  try {
    const { buffer } = await file.read(new Uint8Array(Wav.headerLength), 0, Wav.headerLength, 0)
    const shape = shapeOf(buffer)
    const width = (shape?.channels ?? 1) * sampleBytes
    const dataBytes = Math.floor(((await file.stat()).size - Wav.headerLength) / width) * width
    if (shape === null || dataBytes <= 0) return null
    await file.truncate(Wav.headerLength + dataBytes)
    await file.write(Wav.header(shape, dataBytes), 0, Wav.headerLength, 0)
    await file.sync()
    return { shape, dataBytes }
  } finally {
    await file.close()
  }
}

/** Each write begins where the one before ended. The part of a failed write that the disk took is not overwritten. */
const writerOf = (file: FileHandle): Writer => {
  let at = Wav.headerLength
  const writeAll = async (bytes: Uint8Array): Promise<void> => {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at)
      done += bytesWritten
      at += bytesWritten
    }
  }
  return {
    append: (bytes) => attempt(async () => writeAll(bytes)),
    close: Effect.ignore(attempt(async () => file.close()))
  }
}

/**
 * The spool under `root`: for each recording `<id>.json`, its description, and `<id>.wav`, whose header has the lengths
 * when it is finished (without them players read to the end). An MP3 is encoded from that, once, at the end.
 */
export const layer = (root: string) =>
  Layer.effect(
    Spool,
    Effect.gen(function* () {
      const encoders = yield* Encoders
      yield* Effect.orDie(attempt(async () => mkdir(root, { recursive: true, mode: 0o700 })))
      const place = (id: WorkId, kind: string) => join(root, `${id}.${kind}`)

      const readLeft = async (): Promise<ReadonlyArray<Spooled>> => {
        const left: Array<Spooled> = []
        for (const name of await readdir(root)) {
          if (!name.endsWith(".json")) continue
          // A recording that is completed meanwhile removes its files.
          const text = await readFile(join(root, name), "utf8").catch(() => "")
          const read = Schema.decodeUnknownResult(Schema.fromJsonString(Spooled))(text)
          if (Result.isSuccess(read)) left.push(read.success)
        }
        return left
      }

      return Spool.of({
        open: (recording, shape) =>
          attempt(async () => {
            const description = place(recording.id, "json")
            await writeFile(`${description}.part`, JSON.stringify(recording), { mode: 0o600 })
            await rename(`${description}.part`, description)
            const file = await open(place(recording.id, "wav"), "w", 0o600)
            await file.write(Wav.header(shape, 0), 0, Wav.headerLength, 0)
            return writerOf(file)
          }),
        finish: Effect.fnUntraced(function* (recording) {
          const wav = place(recording.id, "wav")
          const sound = yield* attempt(async () => complete(wav)).pipe(
            Effect.catch((error) => (error.detail === "ENOENT" ? Effect.succeed(null) : Effect.fail(error)))
          )
          if (sound === null) return null
          const { shape } = sound
          const dataBytes =
            recording.isTrimmed === true
              ? yield* attempt(async () => TrimmedWav.trim(wav, shape, sound.dataBytes)).pipe(
                  // A full disk has no place for the second copy, and the recording is whole without it.
                  Effect.catch((error) =>
                    Effect.logWarning("the silence at the ends of a recording stays", error).pipe(
                      Effect.andThen(Effect.ignore(attempt(async () => rm(`${wav}.part`, { force: true })))),
                      Effect.as(sound.dataBytes)
                    )
                  )
                )
              : sound.dataBytes
          const of = {
            durationMs: (dataBytes / (shape.channels * sampleBytes) / shape.sampleRate) * 1000,
            contentType: contentTypes[recording.format]
          }
          if (recording.format === "wav")
            return { ...of, path: wav, sizeBytes: Wav.headerLength + dataBytes } satisfies Finished
          const mp3 = place(recording.id, "mp3")
          const sizeBytes = yield* encoders.encode({
            from: wav,
            to: mp3,
            shape,
            tenantId: recording.tenantId,
            durationMs: of.durationMs
          })
          return { ...of, path: mp3, sizeBytes } satisfies Finished
        }),
        left: Effect.orDie(attempt(readLeft)),
        remove: (id) =>
          Effect.ignore(
            attempt(async () => {
              // The description is removed last, because a recording exists while it does.
              for (const kind of ["mp3.part", "mp3", "wav.part", "wav", "json.part", "json"])
                await rm(place(id, kind), { force: true })
            })
          )
      })
    })
  )
