import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { MPEGDecoder } from "mpg123-decoder"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import { Encoders } from "../../../../src/ports/storage/disk/Encoders.ts"
import * as Goertzel from "../../../support/Goertzel.ts"
import * as Ids from "../../../support/Ids.ts"

const folder = Effect.acquireRelease(
  Effect.promise(async () => mkdtemp(join(tmpdir(), "encoders-"))),
  (path) => Effect.promise(async () => rm(path, { recursive: true, force: true }))
)

const encode = Effect.fnUntraced(function* (from: string, durationMs = 1000) {
  const shape = { sampleRate: 16_000, channels: 1 } as const
  return yield* (yield* Encoders).encode({ from, to: `${from}.mp3`, shape, tenantId: Ids.tenant("t"), durationMs })
})

const faulty = Encoders.layerOf(new URL("./FaultyEncoder.ts", import.meta.url), 2000)

it.live("The encoders make a file with the sound in it, and the same when they are asked again", () =>
  Effect.gen(function* () {
    const from = join(yield* folder, "a.wav")
    const samples = Tone.sine(1000, -12, 2000, 16_000)
    yield* Effect.promise(async () => writeFile(from, Wav.write({ sampleRate: 16_000, samples })))
    const size = yield* encode(from)
    const first = yield* Effect.promise(async () => readFile(`${from}.mp3`))
    expect(first.length).toBe(size)
    yield* encode(from)
    expect((yield* Effect.promise(async () => readFile(`${from}.mp3`))).equals(first)).toBe(true)
    const decoder = new MPEGDecoder()
    yield* Effect.promise(async () => decoder.ready)
    const { channelData, sampleRate } = decoder.decode(first)
    decoder.free()
    const heard = Int16Array.from(channelData[0] ?? [], (sample) => sample * 32_767)
    expect(sampleRate).toBe(16_000)
    expect(heard.length / 16).closeTo(2000, 150)
    expect(Goertzel.level(heard.subarray(8000, 24_000), 1000, 16_000)).closeTo(-12, 0.6)
  }).pipe(Effect.provide(Encoders.layer))
)

it.live("An encoder that dies is replaced, and its file tried once more; others go on", () =>
  Effect.gen(function* () {
    const path = yield* folder
    const [dead, tried, well] = yield* Effect.all(
      [Effect.flip(encode(join(path, "dies"))), encode(join(path, "dies-once")), encode(join(path, "well"))],
      { concurrency: "unbounded" }
    )
    expect(dead.reason).toBe("internal_error")
    expect([tried, well]).toStrictEqual([join(path, "dies-once").length, join(path, "well").length])
    expect(yield* encode(join(path, "next"))).toBe(join(path, "next").length)
  }).pipe(Effect.provide(faulty))
)

it.live("An encoder that hangs is ended, and its file fails; a disk that is full is told as that", () =>
  Effect.gen(function* () {
    const path = yield* folder
    expect((yield* Effect.flip(encode(join(path, "hangs"), 100))).reason).toBe("internal_error")
    expect((yield* Effect.flip(encode(join(path, "full")))).reason).toBe("storage_error")
    expect(yield* encode(join(path, "next"))).toBe(join(path, "next").length)
  }).pipe(Effect.provide(faulty))
)
