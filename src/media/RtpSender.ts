import * as G711 from "../audio/G711.ts"
import * as RtpPacket from "../rtp/RtpPacket.ts"
import { next } from "../rtp/SequenceNumber.ts"
import * as TelephoneEvent from "../rtp/TelephoneEvent.ts"
import type * as Frame from "./Frame.ts"
import type { PayloadTypes } from "./Protocol.ts"

/** Beginnings of the counters, random as RFC 3550 section 5.1 asks. */
export interface Origin {
  readonly ssrc: number
  readonly sequenceNumber: number
  readonly timestamp: number
}

/** What goes out and comes in, and under which numbers. */
export interface Encoding {
  readonly law: G711.Law
  readonly audio: PayloadTypes
  readonly telephoneEvent: PayloadTypes | null
}

/** RTP clock units in 20 ms. */
const clockUnits = 160

/** In octets: 20 ms of G.711. */
const longestPayload = 160

export type RtpSender = ReturnType<typeof make>

/** One outgoing stream: a packet for every frame of 20 ms, sound or a telephone event in its place. */
export const make = (origin: Origin) => {
  const ssrc = origin.ssrc >>> 0
  let sequenceNumber = origin.sequenceNumber & 0xffff
  let timestamp = origin.timestamp >>> 0
  let marker = true
  let train: ReadonlyArray<TelephoneEvent.TrainPacket> = []
  let trainStart = 0
  let packets = 0
  let octets = 0

  const bytes = new Uint8Array(RtpPacket.headerLength + longestPayload)
  const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc }

  /** Writes a packet over the last one; returns its length. */
  const packet = (payloadType: number, at: number, isMarked: boolean, payload: Uint8Array): number => {
    header.payloadType = payloadType
    header.marker = isMarked
    header.sequenceNumber = sequenceNumber
    header.timestamp = at
    RtpPacket.writeHeader(bytes, header)
    bytes.set(payload, RtpPacket.headerLength)
    sequenceNumber = next(sequenceNumber)
    packets = (packets + 1) >>> 0
    octets = (octets + payload.length) >>> 0
    return RtpPacket.headerLength + payload.length
  }

  const advance = (frames: number) => {
    timestamp = (timestamp + frames * clockUnits) >>> 0
  }

  return {
    ssrc,
    /** Holds the packet that `next` wrote last. */
    bytes,
    /** Writes the packet for the next 20 ms into `bytes`, over the last one; returns its length. */
    next: (frame: Frame.Frame, encoding: Encoding): number => {
      const at = timestamp
      advance(1)
      const [event, ...rest] = train
      if (event !== undefined && encoding.telephoneEvent !== null) {
        train = rest
        // Sound begins anew behind the event.
        marker = true
        const eventAt = (trainStart + event.timestampOffset) >>> 0
        return packet(encoding.telephoneEvent.send, eventAt, event.marker, event.payload)
      }
      const isMarked = marker
      marker = false
      return packet(encoding.audio.send, at, isMarked, G711.encode(encoding.law, frame.samples))
    },
    /** Time that passes without a packet: held, or the clock stood still. */
    skip: (frames: number): void => {
      advance(frames)
      marker = true
    },
    /** Begins a digit with the next packet, in place of one that is still being sent. */
    press: (digit: string, durationMs: number): void => {
      train = TelephoneEvent.train(digit, durationMs)
      trainStart = timestamp
    },
    /** For sender reports: the timestamp of this moment and what was sent, RFC 3550 section 6.4.1. */
    sent: () => ({ timestamp, packets, octets })
  }
}
