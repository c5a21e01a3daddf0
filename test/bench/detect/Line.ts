import * as Resample from "../../../src/protocol/audio/Resample.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import type * as Random from "./Random.ts"
import { rate } from "./Speaker.ts"

/** The line between a far end and the detector: the noise around the far end, the codec, and lost packets. */
export const noises = ["quiet", "white", "brown", "babble"] as const
export type Noise = (typeof noises)[number]

export const codecs = ["PCMU", "PCMA", "G722", "OPUS"] as const
export type CodecName = (typeof codecs)[number]

export interface Line {
  readonly noise: Noise
  /** The root mean square; 0 is a square wave of full scale. */
  readonly noiseDbfs: number
  readonly codec: CodecName
  /** The share of the packets that is lost. */
  readonly loss: number
}

const quiet = { quiet: [-75, -62], white: [-65, -42], brown: [-62, -38], babble: [-62, -45] } as const

export const draw = (chance: Random.Random): Line => {
  const noise = chance.of(noises)
  const [from, to] = quiet[noise]
  return {
    noise,
    noiseDbfs: chance.between(from, to),
    codec: chance.of(codecs),
    loss: chance.of([0, 0, 0, 0.01, 0.03])
  }
}

export const clip = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))

export const levelled = (sound: Int16Array, dbfs: number): Int16Array => {
  let energy = 0
  for (const each of sound) energy += each * each
  const gain = (32_768 * 10 ** (dbfs / 20)) / Math.sqrt(energy / Math.max(1, sound.length) + 1e-9)
  return sound.map((each) => clip(each * gain))
}

/** Makes steady noise, or the speech of other people around. */
export const noiseOf = (
  noise: Noise,
  dbfs: number,
  length: number,
  babble: Int16Array,
  chance: Random.Random
): Int16Array => {
  if (noise === "babble") {
    const from = Math.floor(chance.next() * babble.length)
    return levelled(
      new Int16Array(length).map((_, i) => babble[(from + i) % babble.length] ?? 0),
      dbfs
    )
  }
  let walk = 0
  return levelled(
    new Int16Array(length).map(() => {
      const step = (chance.next() + chance.next() + chance.next() - 1.5) * 1500
      walk = noise === "brown" ? 0.98 * walk + step : step
      return clip(walk)
    }),
    dbfs
  )
}

export const mixed = (sound: Int16Array, other: Int16Array, from = 0): Int16Array =>
  sound.map((each, i) => (i < from ? each : clip(each + (other[i - from] ?? 0))))

/** The sound as the detector gets it, at the rate of the codec; lost packets are concealed as in a call. */
export const carried = (
  sound: Int16Array,
  { codec: name, loss }: Line,
  chance: Random.Random
): { readonly sound: Int16Array; readonly rate: SampleRate } => {
  const codec = Codecs.table[name]
  const resampler = Resample.make(rate, codec.sampleRate)
  const sent = Resample.concat([resampler.process(sound), resampler.flush()])
  resampler.free()
  const [encoder, decoder] = [codec.encoder(null), codec.decoder()]
  const frame = codec.sampleRate / 50
  const frames = Math.floor(sent.length / frame)
  const out = new Int16Array(frames * frame)
  const octets = new Uint8Array(codec.frameOctets)
  const received = new Int16Array(6 * frame)
  let last = new Int16Array(frame)
  let lost = 0
  for (let i = 0; i < frames; i++) {
    const written = encoder.encode(sent.subarray(i * frame, (i + 1) * frame), octets, 0)
    const heard = out.subarray(i * frame, (i + 1) * frame)
    // Losses come in bursts: after a lost packet every third is lost too.
    if (chance.chance(lost > 0 ? Math.max(loss, loss > 0 ? 0.3 : 0) : loss)) {
      decoder.conceal(heard, { from: 0, framesBefore: lost, last, following: null })
      lost++
      continue
    }
    lost = 0
    decoder.decode(octets.subarray(0, written), received)
    heard.set(received.subarray(0, frame))
    last = heard.slice()
  }
  encoder.free()
  decoder.free()
  return { sound: out, rate: codec.sampleRate }
}
