import { createSocket } from "node:dgram"
import { once } from "node:events"
import type { Encoder } from "../../src/protocol/audio/codec/Codec.ts"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as RtpPacket from "../../src/protocol/rtp/RtpPacket.ts"
import * as RtpSample from "../protocol/rtp/RtpSample.ts"
import type { Format } from "./Description.ts"
import * as Description from "./Description.ts"
import type { Heard, Voice } from "./Phone.ts"

export type Line = Awaited<ReturnType<typeof open>>

const frameMs = 20
/** The payload type of comfort noise, RFC 3389, and its level: -70 dBov. */
const comfortNoiseType = 13
const comfortNoiseLevel = 70

/**
 * The RTP of one phone in one call: a frame of its tone every 20 ms while it talks, and all packets that it receives.
 */
export const open = async (codecs: ReadonlyArray<Codecs.CodecName>) => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1")
  await once(socket, "listening")
  // An error is ignored, because the far end's port is closed after a call.
  socket.on("error", () => undefined)
  const { port } = socket.address()
  let offered = Description.formatsOf(codecs)
  let agreed: ReadonlyArray<Format> = []
  let remotePort = 0
  let speaking: { readonly format: Format; readonly encoder: Encoder } | null = null
  let voice: Voice | null = null
  let isPaused = false
  let isClosed = false
  let loseEvery = 0
  let silentUntil = 0
  let dueMs = 0
  let lateMs = 0
  let [sequence, timestamp, sent, marker] = [1000, 5000, 0, true]
  const heard: Array<Heard> = []

  socket.on("message", (bytes: Uint8Array) => {
    const { payload, payloadType, ...packet } = RtpSample.parse(bytes)
    heard.push({
      atMs: performance.timeOrigin + performance.now(),
      codec: agreed.find((format) => format.payloadType === payloadType)?.codec ?? null,
      marker: packet.marker,
      sequence: packet.sequenceNumber,
      timestamp: packet.timestamp,
      payload
    })
  })

  const speak = (codec: Codecs.CodecName): void => {
    const format = agreed.find((each) => each.codec === codec)
    if (format === undefined || speaking?.format.codec === codec) return
    speaking?.encoder.free()
    speaking = { format, encoder: Codecs.table[codec].encoder(null) }
  }

  const send = (payloadType: number, payload: Uint8Array): void => {
    const bytes = new Uint8Array(RtpPacket.headerLength + payload.length)
    const header = { payloadType, marker, sequenceNumber: sequence, timestamp: timestamp >>> 0, ssrc: port }
    RtpPacket.writeHeader(bytes, header)
    bytes.set(payload, RtpPacket.headerLength)
    sequence = (sequence + 1) & 0xffff
    marker = false
    sent++
    if (loseEvery === 0 || sent % loseEvery !== 0) socket.send(bytes, remotePort, "127.0.0.1")
  }

  const sendFrame = ({ dbfs, hz }: Voice): void => {
    if (speaking === null) return
    const { clockRate, frameOctets, sampleRate } = Codecs.table[speaking.format.codec]
    const payload = new Uint8Array(frameOctets)
    const samples = Tone.sine(hz, dbfs, frameMs, sampleRate)
    // A talkspurt fades in, because no person begins to speak instantly.
    if (marker) samples.forEach((sample, i) => void (samples[i] = (sample * i) / samples.length))
    const length = speaking.encoder.encode(samples, payload, 0)
    if (dueMs < silentUntil) marker = true
    else if (length > 0) send(speaking.format.payloadType, payload.subarray(0, length))
    timestamp += (clockRate * frameMs) / 1000
  }

  return {
    port,
    formats: (): ReadonlyArray<Format> => (agreed.length === 0 ? offered : agreed),
    /** Returns the formats of an offer of these codecs. */
    offering: (next: ReadonlyArray<Codecs.CodecName>): ReadonlyArray<Format> => {
      offered = Description.formatsOf(next)
      return offered
    },
    /** Agrees on the formats that both sides have, in the far end's order, and returns them. */
    agree: (far: NonNullable<ReturnType<typeof Description.read>>): ReadonlyArray<Format> => {
      const common = far.formats.filter(({ codec }) => offered.some((own) => own.codec === codec))
      remotePort = far.port
      // Packets in earlier formats may still be under way.
      agreed = [
        ...common,
        ...agreed.filter(({ payloadType }) => common.every((each) => each.payloadType !== payloadType))
      ]
      const [first] = common
      if (first !== undefined) speak(first.codec)
      return common
    },
    speak,
    talk: (next: Voice): void => {
      if (voice === null) dueMs = performance.timeOrigin + performance.now()
      voice = next
    },
    pause: (held: boolean): void => {
      isPaused = held
      marker = true
    },
    silent: (ms: number, comfortNoise: boolean): void => {
      if (comfortNoise) send(comfortNoiseType, Uint8Array.of(comfortNoiseLevel))
      silentUntil = dueMs + ms
    },
    lose: (every: number): void => {
      loseEvery = every
    },
    sendDue: (now: number): void => {
      if (isClosed || voice === null) return
      if (now - dueMs > frameMs) lateMs += now - dueMs
      for (; dueMs <= now; dueMs += frameMs) if (!isPaused) sendFrame(voice)
    },
    heard: (): ReadonlyArray<Heard> => heard,
    /** The total lateness of its own packets, of those that were late by more than a packet; in ms. */
    lateMs: (): number => lateMs,
    close: (): void => {
      if (isClosed) return
      isClosed = true
      speaking?.encoder.free()
      speaking = null
      socket.close()
    }
  }
}
