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

function* frames(bytes: Uint8Array, start: number): Generator<Uint8Array, void> {
  const parser = new CodecParser("audio/flac", { enableFrameCRC32: false })
  for (let at = start; at < bytes.length; at += chunkOctets)
    for (const frame of iterable(parser.parseChunk(bytes.subarray(at, at + chunkOctets)))) yield frame[data]
  for (const frame of iterable(parser.flush())) yield frame[data]
}

/** The package declares its generators as iterators. */
const iterable = <A>(iterator: Iterator<A>): Iterable<A> => ({ [Symbol.iterator]: () => iterator })

/** In Ogg, each packet after those with metadata, which begin with other octets, is a frame. */
function* framesOf(packets: Iterator<Ogg.Packet>): Generator<Uint8Array, void> {
  for (const { bytes } of iterable(packets)) if (bytes[0] === 0xff) yield bytes
}

const open = async (next: Iterator<Uint8Array>): Promise<SoundSource.SoundSource> => {
  const decoder = new FLACDecoder()
  await decoder.ready
  // The package has no other way to decode without waiting.
  const codec = (decoder as unknown as Codec)._decoder
  return {
    next: () => {
      const frame = next.next()
      if (frame.done === true) return null
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
