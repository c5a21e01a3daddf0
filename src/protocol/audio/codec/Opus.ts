import type { SampleRate } from "../SampleRate.ts"
import type { Codec, Decoder, Encoder, Loss } from "./Codec.ts"
import * as FadingRepetition from "./FadingRepetition.ts"
import * as Libopus from "./Libopus.ts"

/** Opus (RFC 6716) of one channel for speech, in RTP as RFC 7587 has it: one frame of 20 ms in a packet. */

/** RFC 7587 section 4.1: the RTP clock of any Opus stream. */
const clockRate = 48_000
const unitsPerMs = clockRate / 1000
const frameMs = 20
/** RFC 6716 section 3.2.5: no packet lasts longer. */
const longestMs = 120
/** Longer packets are refused: six frames at the highest rate that RFC 6716 section 2.1.1 knows come to no more. */
const mostOctets = 7680
/** Far above what a frame takes at our rate. */
const frameOctets = 400
/** RFC 7587 section 3.1.1: 16 to 20 kbit/s for wide-band speech, and some for the copies. */
const bitrate = 24_000
const leastBitrate = 6000
/** The step of quality that costs half of the highest, and is hardly told from it on speech. */
const complexity = 5
/** libopus 1.6 API: a packet of so few octets need not be sent. */
const dtxOctets = 2
/** When this is lost at once, more makes no difference to the decoder. */
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

/** How many frames the packet says it has, RFC 6716 section 3.2; 0: it is malformed. */
const framesOf = (first: number, second: number | undefined): number =>
  (first & 3) === 0 ? 1 : (first & 3) < 3 ? 2 : (second ?? 0) & 0x3f

const duration = (bytes: Uint8Array, start: number, end: number): number => {
  const first = bytes[start]
  if (first === undefined || start >= end || end - start > mostOctets) return 0
  const ms = frameMsOf(first >> 3) * framesOf(first, end - start > 1 ? bytes[start + 1] : undefined)
  return ms > longestMs ? 0 : ms * unitsPerMs
}

/**
 * Whether a packet of one frame has a copy of the one before it, RFC 6716 section 4.2.4: a bit behind those for voice, of
 * which there is one for each 20 ms. A packet of several frames is taken to have one.
 */
const hasCopy = (packet: Uint8Array): boolean => {
  const [first = 0, second = 0] = packet
  const configuration = first >> 3
  if (configuration >= 16) return false
  if ((first & 3) !== 0) return true
  return ((second >> (7 - Math.max(1, frameMsOf(configuration) / frameMs))) & 1) === 1
}

/** What a frame that libopus made up may lose of the power of what was heard before it: 3 dB. */
const leastShare = 0.5

const powerOf = (samples: Int16Array, from: number): number => {
  let sum = 0
  for (let i = from; i < samples.length; i++) sum += (samples[i] ?? 0) ** 2
  return sum / (samples.length - from)
}

/** What a peer asks of those who send to it, RFC 7587 section 6.1. */
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
    // Copies of lost frames take their share of the bits, so there are as many as are needed.
    reported: (loss) => coder.set("lossPercent", Math.round(100 * Math.min(1, Math.max(0, loss)))),
    free: coder.free
  }
}

const decoder = (sampleRate: SampleRate): Decoder => {
  const samplesPerMs = sampleRate / 1000
  const frameSamples = frameMs * samplesPerMs
  /** Sound is made up in multiples of it. */
  const stepSamples = 2.5 * samplesPerMs
  const coder = Libopus.decoder(sampleRate, longestMs * samplesPerMs, mostOctets)
  /** Sound that was made up since the last packet, in clock units. */
  let madeUp = 0
  const repeat = FadingRepetition.make()
  /** This loss is filled with what was heard: libopus falls in steady sound by up to 16 dB within its first frame. */
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
      // What is malformed behind its first octets is as good as lost.
      const count = made >= 0 ? made : makeUp(wanted, null)
      madeUp = 0
      return copy(Math.min(count, out.length), out, 0)
    },
    conceal: (out, loss: Loss) => {
      const { following, framesBefore, from, last } = loss
      // The state of libopus passes over what it did not make up when the next packet comes.
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
      // libopus fades from what it made up into what comes.
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

/** Opus whose samples have this rate, on our side; the peer need not know. */
export const codec = (sampleRate: SampleRate): Codec => ({
  encoding: "opus",
  clockRate,
  // RFC 7587 section 7: always two in a description, whatever is sent.
  channels: 2,
  payloadType: null,
  fmtp: `maxplaybackrate=${sampleRate};sprop-maxcapturerate=${sampleRate};useinbandfec=1`,
  sampleRate,
  frameOctets,
  isStateless: false,
  isPlain: false,
  // Our estimate: ITU-T G.113 has no figures. Copies and a decoder that goes on bear losses as the best codecs there.
  impairment: { ie: 0, bpl: 20 },
  encoder: (fmtp) => encoder(sampleRate, fmtp),
  decoder: () => decoder(sampleRate)
})
