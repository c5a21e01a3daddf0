import { FLACDecoder } from "@wasm-audio-decoders/flac"
import CodecParser, { data } from "codec-parser"
import * as Ogg from "./Ogg.ts"
import * as SoundSource from "./SoundSource.ts"

/** FLAC files (RFC 9639), on their own or in Ogg. */

const marker = [0x66, 0x4c, 0x61, 0x43]

/** Whether bytes from `start` on begin like a FLAC file. */
export const isFlac = (bytes: Uint8Array, start = 0): boolean => marker.every((octet, i) => bytes[start + i] === octet)

/** Whether the first packet of an Ogg stream is the head of FLAC in Ogg, RFC 9639 section 10.1. */
export const isHead = (packet: Uint8Array): boolean => packet[0] === 0x7f && isFlac(packet, 9) && packet.length > 13

/** The codec of the package, whose public methods return promises of what is there at once. */
interface Codec {
  readonly _decoder: {
    readonly decodeFrames: (frames: ReadonlyArray<Uint8Array>) => {
      readonly channelData: ReadonlyArray<Float32Array>
      readonly samplesDecoded: number
      readonly sampleRate: number
    }
  }
}

/** How many octets are searched for frames at once: a frame of silence has a few octets and up to 65,535 samples. */
const chunkOctets = 1024

/**
 * The header of a frame (RFC 9639 section 9.1), which follows the file: only with the next header does the parser
 * know the end of a frame. Its own end of a file (`flush`) takes the sum of all that is left at each mark in it, which
 * can be minutes of work.
 */
const nextHeader = [0xff, 0xf8, 0x69, 0x18, 0, 0, 0xbf]
const terminator = Uint8Array.from([...nextHeader, ...Array.from({ length: 64 }, () => 0)])

/**
 * Where the metadata end (RFC 9639 section 8), which can look like frames: a picture has any octets. If they do not end
 * in the file, their lengths are wrong, and the frames are searched for in all of it.
 */
const metadataEnd = (bytes: Uint8Array, start: number): number => {
  let at = start + marker.length
  for (let isLast = false; !isLast && at < bytes.length;) {
    const [first = 0, high = 0, middle = 0, low = 0] = bytes.subarray(at, at + 4)
    isLast = (first & 0x80) !== 0
    at += 4 + (high << 16) + (middle << 8) + low
  }
  return at < bytes.length ? at : start
}

/** The frames of a file, and null after each stretch that was searched for them. */
function* frames(bytes: Uint8Array, start: number): Generator<Uint8Array | null, void> {
  const parser = new CodecParser("audio/flac", { enableFrameCRC32: false })
  for (let at = metadataEnd(bytes, start); at < bytes.length; at += chunkOctets) {
    for (const frame of iterable(parser.parseChunk(bytes.subarray(at, at + chunkOctets)))) yield frame[data]
    yield null
  }
  for (const frame of iterable(parser.parseChunk(terminator))) yield frame[data]
}

/** The package declares its generators as iterators. */
const iterable = <A>(iterator: Iterator<A>): Iterable<A> => ({ [Symbol.iterator]: () => iterator })

/** In Ogg, each packet after those with metadata, which begin with other octets, is a frame. */
function* framesOf(packets: Iterator<Ogg.Packet>): Generator<Uint8Array | null, void> {
  for (const { bytes } of iterable(packets)) yield bytes[0] === 0xff ? bytes : null
}

const nothing = { sampleRate: 0, samples: new Int16Array(0) }

const open = async (next: Iterator<Uint8Array | null>): Promise<SoundSource.SoundSource> => {
  const decoder = new FLACDecoder()
  await decoder.ready
  // The package has no other way to decode without waiting.
  const codec = (decoder as unknown as Codec)._decoder
  return {
    next: () => {
      const frame = next.next()
      if (frame.done === true) return null
      if (frame.value === null) return nothing
      const { channelData, sampleRate, samplesDecoded } = codec.decodeFrames([frame.value])
      return { sampleRate, samples: SoundSource.mono(channelData, samplesDecoded) }
    },
    free: () => decoder.free()
  }
}

/** Decodes a file frame by frame. */
export const ofFile = (bytes: Uint8Array, start: number): Promise<SoundSource.SoundSource> => open(frames(bytes, start))

/** Decodes a stream of an Ogg file, whose head was read. */
export const ofOgg = (packets: Iterator<Ogg.Packet>): Promise<SoundSource.SoundSource> => open(framesOf(packets))
