import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Resample from "../../../src/protocol/audio/Resample.ts"

/** The rate in which the corpus is made, which is that of a wideband codec. */
export const rate = 16_000

/** A voice of an engine at a pace, where 1 is the voice's normal pace. */
export interface Voice {
  /** `espeak-ng:…` or `flite:…`, with the engine's name for the voice. */
  readonly name: string
  readonly pace: number
}

/** The words a minute that espeak-ng speaks by default. */
const usualPace = 175

/** Reads the 16-bit samples of a WAV file, whatever length its header gives. */
const decode = (wav: Buffer): Int16Array => {
  const from = wav.readUInt32LE(24)
  const at = wav.indexOf("data") + 8
  const samples = new Int16Array((wav.length - at) >> 1)
  for (let i = 0; i < samples.length; i++) samples[i] = wav.readInt16LE(at + 2 * i)
  const resampler = Resample.make(from, rate)
  const made = Resample.concat([resampler.process(samples), resampler.flush()])
  resampler.free()
  return made
}

/** Removes the silence that the engine adds around it. */
const trimmed = (sound: Int16Array): Int16Array => {
  const isLoud = (sample: number) => Math.abs(sample) > 200
  return sound.slice(Math.max(0, sound.findIndex(isLoud)), sound.findLastIndex(isLoud) + 1)
}

const argumentsOf = ({ name, pace }: Voice, text: string, file: string): readonly [string, ReadonlyArray<string>] => {
  const [engine = "", voice = ""] = name.split(":")
  return engine === "flite"
    ? [engine, ["-voice", voice, "--setf", `duration_stretch=${(1 / pace).toFixed(2)}`, "-t", text, "-o", file]]
    : [engine, ["-v", voice, "-s", String(Math.round(usualPace * pace)), "-w", file, text]]
}

export type Speaker = ReturnType<typeof make>

/** Speaks with the installed engines, each phrase once. */
export const make = () => {
  const directory = mkdtempSync(join(tmpdir(), "corpus-"))
  const known = new Map<string, Int16Array>()
  const speak = (voice: Voice, text: string): Int16Array => {
    const file = join(directory, "speech.wav")
    const [engine, options] = argumentsOf(voice, text, file)
    execFileSync(engine, options, { stdio: "ignore" })
    return trimmed(decode(readFileSync(file)))
  }
  return {
    say: (voice: Voice, text: string): Int16Array => {
      const key = `${voice.name} ${voice.pace} ${text}`
      const sound = known.get(key) ?? speak(voice, text)
      known.set(key, sound)
      return sound
    },
    close: () => rmSync(directory, { recursive: true, force: true })
  }
}
