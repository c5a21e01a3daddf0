import type { SampleRate } from "../SampleRate.ts"
import type { Codec, Decoder, Encoder, Loss } from "./Codec.ts"
import * as FadingRepetition from "./FadingRepetition.ts"
import * as Libopus from "./Libopus.ts"

/** Opus (RFC 6716) of one channel for speech, in RTP by RFC 7587: one frame of 20 ms in a packet. */

/** RFC 7587 section 4.1: the RTP clock of any Opus stream. */
const clockRate = 48_000
const unitsPerMs = clockRate / 1000
const frameMs = 20
/** RFC 6716 section 3.2.5: no packet lasts longer. */
const longestMs = 120
/** Longer packets are refused: six frames at the highest rate of RFC 6716 section 2.1.1 take no more. */
const mostOctets = 7680
/** Far above the size of a frame at our bit rate. */
const frameOctets = 400
/** RFC 7587 section 3.1.1: 16 to 20 kbit/s for wide-band speech, and some for the copies. */
const bitrate = 24_000
const leastBitrate = 6000
/** The complexity that costs half of the highest, and is hardly distinguishable from it on speech. */
const complexity = 5
/** libopus 1.6 API: a packet of this many octets or fewer need not be sent. */
const dtxOctets = 2
/** A longer loss makes no further difference to the decoder. */
const longestSkipMs = 60

/** Frame durations by the configuration number of the first octet, RFC 6716 section 3.1. */
const silkMs = [10, 20, 40, 60] as const
const hybridMs = [10, 20] as const
const celtMs = [2.5, 5, 10, 20] as const
const frameMsOf = (configuration: number): number =>
  (configuration < 12
    ? silkMs[configuration & 3]
    : configuration < 16
      ? hybridMs[configuration & 1]
      : celtMs[configuration & 3]) ?? 0

/** The number of frames in the packet, RFC 6716 section 3.2; 0: it is malformed. */
const framesOf = (first: number, second: number | undefined): number =>
  (first & 3) === 0 ? 1 : (first & 3) < 3 ? 2 : (second ?? 0) & 0x3f

const duration = (bytes: Uint8Array, start: number, end: number): number => {
  const first = bytes[start]
  if (first === undefined || start >= end || end - start > mostOctets) return 0
  const ms = frameMsOf(first >> 3) * framesOf(first, end - start > 1 ? bytes[start + 1] : undefined)
  return ms > longestMs ? 0 : ms * unitsPerMs
}

/**
 * Whether a packet of one frame has a copy of the one before it, RFC 6716 section 4.2.4: a bit after those for voice
 * activity, of which there is one for each 20 ms. A packet of several frames is assumed to have one.
 */
const hasCopy = (packet: Uint8Array): boolean => {
  const [first = 0, second = 0] = packet
  const configuration = first >> 3
  if (configuration >= 16) return false
  if ((first & 3) !== 0) return true
  return ((second >> (7 - Math.max(1, frameMsOf(configuration) / frameMs))) & 1) === 1
}

/** The least share of the power before the loss that a frame concealed by libopus must keep: -3 dB. */
const leastShare = 0.5

const powerOf = (samples: Int16Array, from: number): number => {
  let sum = 0
  for (let i = from; i < samples.length; i++) sum += (samples[i] ?? 0) ** 2
  return sum / (samples.length - from)
}

/** The parameters that a peer requires of its senders, RFC 7587 section 6.1. */
const wishesOf = (fmtp: string | null) => {
  const parameters = new Map(
    (fmtp ?? "").split(";").map((parameter) => {
      const [name = "", value = ""] = parameter.split("=")
      return [name.trim().toLowerCase(), Number(value)] as const
    })
  )
  const most = parameters.get("maxaveragebitrate") ?? bitrate
  return {
    hasFec: parameters.get("useinbandfec") === 1,
    hasDtx: parameters.get("usedtx") === 1,
    bitrate: most >= leastBitrate && most < bitrate ? most : bitrate
  }
}

const encoder = (sampleRate: SampleRate, fmtp: string | null): Encoder => {
  const wishes = wishesOf(fmtp)
  const coder = Libopus.encoder(sampleRate, (sampleRate * frameMs) / 1000, frameOctets)
  coder.set("bitrate", wishes.bitrate)
  coder.set("complexity", complexity)
  coder.set("fec", wishes.hasFec ? 1 : 0)
  coder.set("dtx", wishes.hasDtx ? 1 : 0)
  return {
    encode: (samples, out, at) => {
      const length = coder.encode(samples)
      if (length < 0) throw new Error(`libopus: ${length}`)
      if (wishes.hasDtx && length <= dtxOctets) return 0
      const octets = coder.octets()
      for (let i = 0; i < length; i++) out[at + i] = octets[i] ?? 0
      return length
    },
    // Copies of lost frames take a share of the bits, so their number follows the loss.
    reported: (loss) => coder.set("lossPercent", Math.round(100 * Math.min(1, Math.max(0, loss)))),
    free: coder.free
  }
}

const decoder = (sampleRate: SampleRate): Decoder => {
  const samplesPerMs = sampleRate / 1000
  const frameSamples = frameMs * samplesPerMs
  /** Concealed sound is a multiple of this. */
  const stepSamples = 2.5 * samplesPerMs
  const coder = Libopus.decoder(sampleRate, longestMs * samplesPerMs, mostOctets)
  /** The sound that was concealed since the last packet, in clock units. */
  let madeUp = 0
  const repeat = FadingRepetition.make()
  /** Whether this loss repeats the sound before it: in steady sound libopus falls by up to 16 dB within a frame. */
  let repeats = false

  const makeUp = (samples: number, following: Uint8Array | null): number => {
    const made = Math.max(0, coder.conceal(Math.ceil(samples / stepSamples) * stepSamples, following))
    madeUp += (made / samplesPerMs) * unitsPerMs
    return made
  }

  const copy = (count: number, out: Int16Array, from: number): number => {
    const samples = coder.samples()
    for (let i = 0; i < count; i++) out[from + i] = samples[i] ?? 0
    return count
  }

  return {
    duration,
    decode: (payload, out) => {
      const units = duration(payload, 0, payload.length)
      const wanted = (units / unitsPerMs) * samplesPerMs
      const made = units === 0 ? -1 : coder.decode(payload)
      // A packet that is malformed after its first octets is treated as lost.
      const count = made >= 0 ? made : makeUp(wanted, null)
      madeUp = 0
      return copy(Math.min(count, out.length), out, 0)
    },
    conceal: (out, loss: Loss) => {
      const { following, framesBefore, from, last } = loss
      // libopus is not called: its state skips the sound that it did not conceal when the next packet comes.
      if (framesBefore > 0 && repeats) return repeat(out, loss)
      const missing = out.length - from
      const count = Math.min(missing, makeUp(missing, following))
      copy(count, out, from)
      out.fill(0, from + count)
      repeats =
        framesBefore === 0 &&
        (following === null || !hasCopy(following)) &&
        powerOf(out, from) < leastShare * powerOf(last, 0)
      if (repeats) return repeat(out, loss)
      // libopus fades from its concealed sound into the next packet's.
      return 1
    },
    skip: (units) => {
      const missing = Math.min(longestSkipMs, (units - madeUp) / unitsPerMs)
      for (let ms = missing; ms > 0; ms -= frameMs) makeUp(frameSamples, null)
    },
    reset: () => {
      madeUp = 0
      coder.reset()
    },
    free: coder.free
  }
}

/** Opus with samples of this rate on our side, which the peer need not know. */
export const codec = (sampleRate: SampleRate): Codec => ({
  encoding: "opus",
  clockRate,
  // RFC 7587 section 7: a description always states two.
  channels: 2,
  payloadType: null,
  fmtp: `maxplaybackrate=${sampleRate};sprop-maxcapturerate=${sampleRate};useinbandfec=1`,
  sampleRate,
  frameOctets,
  isStateless: false,
  isPlain: false,
  // These are our estimate, because ITU-T G.113 has no figures: with copies and a decoder that conceals by itself, it
  // is between G.729A (19) and G.711 with concealment (25.1).
  impairment: { ie: 0, bpl: 20 },
  encoder: (fmtp) => encoder(sampleRate, fmtp),
  decoder: () => decoder(sampleRate)
})
