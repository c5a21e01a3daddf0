import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import * as TrimmedWav from "../../../../src/ports/storage/disk/TrimmedWav.ts"

const rate = 8000
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trimmed-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const silence = (ms: number) => new Int16Array((rate * ms) / 1000).fill(3)
const tone = (ms: number) => Tone.sine(440, -20, ms, rate)
const joined = (...parts: ReadonlyArray<Int16Array>) => Int16Array.from(parts.flatMap((part) => [...part]))

/** The milliseconds that are left of this sound, after one trim and after the next. */
const trimmed = async (samples: Int16Array): Promise<readonly [number, number]> => {
  const path = join(folder, `${samples.length}.wav`)
  await writeFile(path, Wav.write({ sampleRate: rate, samples }))
  const shape = { sampleRate: rate, channels: 1 } as const
  const once = await TrimmedWav.trim(path, shape, samples.length * 2)
  expect((await readFile(path)).length).toBe(Wav.headerLength + once)
  const twice = await TrimmedWav.trim(path, shape, once)
  return [once / 16, twice / 16]
}

describe("The silence at the ends of a recording", () => {
  it("is left out but for a moment beside the sound, and a repetition leaves out no more", async () => {
    expect(await trimmed(joined(silence(15_000), tone(1000), silence(2000), tone(500), silence(9000)))).toEqual([
      3900, 3900
    ])
  })

  it("is not cut where there is none, and a silent recording stays whole", async () => {
    expect(await trimmed(tone(700))).toEqual([700, 700])
    expect(await trimmed(silence(3000))).toEqual([3000, 3000])
  })
})
