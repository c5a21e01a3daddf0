import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Resample from "../../../src/audio/Resample.ts"
import * as Tone from "../../../src/audio/Tone.ts"
import * as G711 from "../../../src/audio/codec/G711.ts"

/**
 * A synthetic corpus of answered calls: greetings of people and of machines, spoken by espeak-ng and flite, with noise,
 * beeps, mu-law and loss. It is generated from a seed and split by voice; nothing of it is stored.
 */
export interface Clip {
  readonly truth: "human" | "machine"
  /** 8 kHz. */
  readonly sound: Int16Array
  /** When its beep begins and ends, in milliseconds; null: it has none. */
  readonly beep: { readonly from: number; readonly to: number } | null
}

export interface Half {
  readonly voices: ReadonlyArray<string>
  readonly clips: ReadonlyArray<Clip>
}

const rate = 8000

const random = (seed: number) => {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + 0x9e_37_79_b9) >>> 0
    let x = state
    x = Math.imul(x ^ (x >>> 12), 0x29_7a_2d_39)
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from: number, to: number) => from + (to - from) * next(),
    of: <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)] as A
  }
}
type Random = ReturnType<typeof random>

const people = [
  "Hello?",
  "Hi.",
  "Yes?",
  "Hello, this is Anna.",
  "Good morning.",
  "Hello, who is this?",
  "Speaking.",
  "Miller.",
  "Yes, hello?",
  "This is Peter, hi.",
  "Green and Partners, good morning.",
  "Good afternoon, Hotel Astoria, this is Claire speaking.",
  "Thanks for calling Blue Line, how can I help you?",
  "City Dental, Maria speaking."
]
const machines = [
  "Hi, you have reached Tom. I can not come to the phone right now. Please leave a message after the tone.",
  "The person you are calling is not available. Please leave a message after the beep.",
  "You have reached the voice mailbox of five five five, zero one two three. Please record your message after the tone.",
  "Hello, this is Susan. I am away from my desk at the moment. Leave your name and number and I will call you back.",
  "Thank you for calling Green and Partners. Our office is closed. Our opening hours are nine to five, Monday to Friday.",
  "Your call has been forwarded to an automatic voice message system. Please leave a message.",
  "We are sorry, but nobody is available to take your call. At the tone, please record your message."
]

const fitVoices = ["espeak-ng:en-us", "espeak-ng:en-gb", "espeak-ng:en-us+f2", "flite:kal", "flite:awb"]
const heldOutVoices = [
  "espeak-ng:en-us+m3",
  "espeak-ng:en-gb+f4",
  "espeak-ng:en-us+f5",
  "espeak-ng:en-gb+m7",
  "flite:rms",
  "flite:slt"
]

/** 16-bit samples of a WAV file, whatever its header says of its length, at 8 kHz. */
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

/** Without the silence of the engine around it. */
const trimmed = (sound: Int16Array): Int16Array => {
  const isLoud = (sample: number) => Math.abs(sample) > 200
  return sound.slice(Math.max(0, sound.findIndex(isLoud)), sound.findLastIndex(isLoud) + 1)
}

const levelled = (sound: Int16Array, dbfs: number): Int16Array => {
  const rms = Math.sqrt(sound.reduce((sum, each) => sum + each * each, 0) / Math.max(1, sound.length))
  return sound.map((each) => Math.max(-32_768, Math.min(32_767, (each / rms) * 32_768 * 10 ** (dbfs / 20))))
}

/** Speaks with what is installed; each sentence once. */
const speaker = () => {
  const directory = mkdtempSync(join(tmpdir(), "corpus-"))
  const known = new Map<string, Int16Array>()
  const speak = (voice: string, text: string): Int16Array => {
    const [engine = "", name = ""] = voice.split(":")
    const file = join(directory, "speech.wav")
    execFileSync(
      engine,
      engine === "flite" ? ["-voice", name, "-t", text, "-o", file] : ["-v", name, "-w", file, text],
      {
        stdio: "ignore"
      }
    )
    return trimmed(decode(readFileSync(file)))
  }
  return {
    say: (voice: string, text: string): Int16Array => {
      const key = `${voice} ${text}`
      const sound = known.get(key) ?? speak(voice, text)
      known.set(key, sound)
      return sound
    },
    close: () => rmSync(directory, { recursive: true, force: true })
  }
}
type Speaker = ReturnType<typeof speaker>

const silence = (ms: number): Int16Array => new Int16Array(Math.round((ms * rate) / 1000))

const noise = (dbfs: number, length: number, colour: string, chance: Random, babble: Int16Array): Int16Array => {
  if (colour === "babble") {
    const from = Math.floor(chance.next() * babble.length)
    return levelled(
      new Int16Array(length).map(
        (_, i) =>
          ((babble[(from + i) % babble.length] ?? 0) + (babble[(from + 3 * length + i) % babble.length] ?? 0)) / 2
      ),
      dbfs
    )
  }
  let walk = 0
  return levelled(
    new Int16Array(length).map(() => {
      const step = (chance.next() + chance.next() + chance.next() - 1.5) * 1500
      walk = colour === "brown" ? 0.98 * walk + step : step
      return Math.max(-32_000, Math.min(32_000, walk))
    }),
    dbfs
  )
}

/** What the line makes of it: noise, mu-law, and frames that are lost and faded out. */
const overTheLine = (sound: Int16Array, chance: Random, babble: Int16Array): Int16Array => {
  const colour = chance.of(["white", "brown", "babble"])
  const added = noise(chance.between(-65, colour === "babble" ? -45 : -38), sound.length, colour, chance, babble)
  const mixed = sound.map((each, i) => Math.max(-32_768, Math.min(32_767, each + (added[i] ?? 0))))
  const loss = chance.of([0, 0, 0.01, 0.03])
  const out = G711.decode("PCMU", G711.encode("PCMU", mixed))
  for (let at = 160; at < out.length; at += 160)
    if (chance.next() < loss)
      for (let i = 0; i < 160 && at + i < out.length; i++) out[at + i] = (out[at + i - 160] ?? 0) * (1 - i / 160)
  return out
}

const human = (
  chance: Random,
  { say }: Speaker,
  voice: string
): { readonly sound: Int16Array; readonly beep: null } => {
  const level = chance.between(-30, -16)
  const first = levelled(say(voice, chance.of(people)), level)
  // Some ask again when nobody says a word.
  const parts = [silence(chance.between(100, 1200)), first]
  if (chance.next() < 0.5) parts.push(silence(chance.between(1400, 2500)), levelled(say(voice, "Hello?"), level))
  return { sound: Resample.concat([...parts, silence(6000)]), beep: null }
}

const machine = (chance: Random, { say }: Speaker, voice: string): Omit<Clip, "truth"> => {
  const level = chance.between(-30, -16)
  const sentences = chance.of(machines).split(/(?<=\.) /u)
  const parts = [silence(chance.between(100, 1200))]
  for (const sentence of sentences)
    parts.push(levelled(say(voice, sentence), level), silence(chance.between(350, 1600)))
  let beep: Clip["beep"] = null
  if (chance.next() < 0.8) {
    const ms = chance.between(120, 1000)
    const from = (parts.reduce((sum, { length }) => sum + length, 0) * 1000) / rate
    beep = { from, to: from + ms }
    parts.push(Tone.sine(chance.between(440, 1980), chance.between(-24, -10), ms, rate))
  }
  return { sound: Resample.concat([...parts, silence(6000)]), beep }
}

/** So many of each kind in each half. */
export const make = (humans: number, machinesCount: number): { readonly fit: Half; readonly heldOut: Half } => {
  const voice = speaker()
  try {
    const half = (seed: number, voices: ReadonlyArray<string>): Half => {
      const chance = random(seed)
      const babble = Resample.concat(voices.map((each) => levelled(voice.say(each, machines[1] ?? ""), -20)))
      const clip = (truth: Clip["truth"], index: number): Clip => {
        const who = voices[index % voices.length] ?? ""
        const made = truth === "human" ? human(chance, voice, who) : machine(chance, voice, who)
        return { truth, beep: made.beep, sound: overTheLine(made.sound, chance, babble) }
      }
      return {
        voices,
        clips: [
          ...Array.from({ length: humans }, (_, i) => clip("human", i)),
          ...Array.from({ length: machinesCount }, (_, i) => clip("machine", i))
        ]
      }
    }
    return { fit: half(1, fitVoices), heldOut: half(2, heldOutVoices) }
  } finally {
    voice.close()
  }
}
