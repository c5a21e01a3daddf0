import type { Encoder } from "../../protocol/audio/codec/Codec.ts"
import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import * as RtpPacket from "../../protocol/rtp/RtpPacket.ts"
import { distance, next, timestampDistance } from "../../protocol/rtp/SequenceNumber.ts"
import * as TelephoneEvent from "../../protocol/rtp/TelephoneEvent.ts"
import * as Frame from "../Frame.ts"
import type { RtpRemote } from "../plane/Protocol.ts"

/** The first values of the counters, random as RFC 3550 section 5.1 requires. */
interface Origin {
  readonly ssrc: number
  readonly sequenceNumber: number
  readonly timestamp: number
}

/** The codec, the payload types of both directions, and the length of packets. */
export type Encoding = Pick<RtpRemote, "codec" | "fmtp" | "audio" | "telephoneEvent" | "ptimeMs">

const framesPerSecond = 50
const frameMs = 1000 / framesPerSecond
/** Longer payloads would be fragmented on many ways. Only L16 reaches it, with 40 ms. */
const mostOctets = 1280

export type RtpSender = ReturnType<typeof make>

/**
 * One outgoing stream: frames of 20 ms of sound in packets as long as the peer wants (`Encoding.ptimeMs`), or telephone
 * events in their place, one for each frame.
 *
 * Where the length is no multiple of 20 ms, packets leave with the frame that completes them, two at once for 10 ms.
 * A codec whose payloads cannot be cut or joined (Opus) has one frame in a packet whatever the peer wants.
 */
export const make = (origin: Origin) => {
  const ssrc = origin.ssrc >>> 0
  let sequenceNumber = origin.sequenceNumber & 0xffff
  let timestamp = origin.timestamp >>> 0
  let marker = true
  let train: ReadonlyArray<TelephoneEvent.TrainPacket> = []
  let sentOfTrain = 0
  let trainStart = 0
  let packets = 0
  let octets = 0

  /** The codec in use; the first one is that of the first frame. */
  let codec: Codecs.CodecName = "PCMU"
  let fmtp: string | null = null
  let encoder: Encoder | null = null

  /** The continuation of the forwarded sound of another source, to which the next frame is joined. */
  let before: Frame.Sound | null = null
  let joined = Frame.make(8000)

  /** A packet, and after its payload the sound of the next one. */
  const bytes = new Uint8Array(RtpPacket.headerLength + mostOctets + Codecs.longestFrameOctets)
  /** The octets of sound in `bytes`, of which the first `written` belong to the packet that was written last. */
  let waiting = 0
  let written = 0
  const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc }

  /** Writes the header of a packet whose payload lies in `bytes` already; returns the length of both. */
  const packet = (payloadType: number, at: number, isMarked: boolean, payloadLength: number): number => {
    header.payloadType = payloadType
    header.marker = isMarked
    header.sequenceNumber = sequenceNumber
    header.timestamp = at
    RtpPacket.writeHeader(bytes, header)
    sequenceNumber = next(sequenceNumber)
    packets = (packets + 1) >>> 0
    octets = (octets + payloadLength) >>> 0
    return RtpPacket.headerLength + payloadLength
  }

  /** A codec of another clock rate continues from the same timestamp, RFC 7160 section 4.1. */
  const advance = (frames: number) => {
    timestamp = (timestamp + (frames * Codecs.table[codec].clockRate) / framesPerSecond) >>> 0
  }

  /** Drops the sound that waits for the end of its packet. */
  const forget = (): void => {
    waiting = 0
    written = 0
  }

  const skip = (frames: number): void => {
    forget()
    advance(frames)
    marker = true
  }

  /** Moves the sound that still waits over the packet that was written, which has been sent. */
  const moveUp = (): void => {
    if (waiting > written)
      bytes.copyWithin(RtpPacket.headerLength, RtpPacket.headerLength + written, RtpPacket.headerLength + waiting)
    waiting -= written
    written = 0
  }

  /** Makes a packet of the first octets that wait. `timestamp` is the end of all that wait. */
  const packetOf = (octets: number, { audio }: Encoding): number => {
    const { clockRate, frameOctets, isPlain } = Codecs.table[codec]
    const frames = isPlain ? waiting / frameOctets : 1
    const at = (timestamp - (frames * clockRate) / framesPerSecond) >>> 0
    const isMarked = marker
    marker = false
    written = octets
    return packet(audio.send, at, isMarked, octets)
  }

  /** Writes the next packet if its sound is complete; 0: it is not. */
  const complete = (encoding: Encoding): number => {
    if (waiting === 0) return 0
    const { frameOctets, isPlain } = Codecs.table[codec]
    if (!isPlain) return packetOf(waiting, encoding)
    const octets = Math.min(mostOctets, (frameOctets * encoding.ptimeMs) / frameMs)
    return waiting < octets ? 0 : packetOf(octets, encoding)
  }

  const joinedTo = (sound: Frame.Sound, frame: Frame.Frame): Int16Array => {
    if (sound.rate !== frame.rate) return frame.samples
    joined = Frame.at(frame.rate, joined)
    joined.samples.set(frame.samples)
    Splice.join(sound.samples, joined.samples)
    return joined.samples
  }

  const encoderOf = (encoding: Encoding): Encoder => {
    if (encoder !== null && encoding.codec === codec && encoding.fmtp === fmtp) return encoder
    encoder?.free()
    // Sound of the former codec cannot share a packet with that of the next one.
    forget()
    codec = encoding.codec
    fmtp = encoding.fmtp
    encoder = Codecs.table[codec].encoder(fmtp)
    return encoder
  }

  /** Writes the payload of a frame after the sound that waits, joined to `sound` if given; returns its length. */
  const encoded = (by: Encoder, sound: Frame.Sound | null, frame: Frame.Frame): number => {
    const at = RtpPacket.headerLength + waiting
    if (sound !== null) return by.encode(joinedTo(sound, frame), bytes, at)
    if (frame.payloads === undefined || !Codecs.table[codec].isStateless) return by.encode(frame.samples, bytes, at)
    return frame.payloads.write(codec, by, frame.samples, bytes, at)
  }

  return {
    ssrc,
    /** Holds the packet that `next` wrote last. */
    bytes,
    /**
     * Takes the next 20 ms, and writes the packet that they complete into `bytes`, over the last one. Returns its
     * length; 0: none is due, because its sound is not complete, or the peer wants no packets of silence. `more` writes
     * the packets that are due after it.
     */
    next: (frame: Frame.Frame, encoding: Encoding): number => {
      const present = encoderOf(encoding)
      moveUp()
      advance(1)
      const sound = before
      before = null
      const event = train[sentOfTrain]
      if (event !== undefined && encoding.telephoneEvent !== null) {
        sentOfTrain++
        forget()
        // Sound begins anew after the event.
        marker = true
        const eventAt = (trainStart + event.timestampOffset) >>> 0
        bytes.set(event.payload, RtpPacket.headerLength)
        return packet(encoding.telephoneEvent.send, eventAt, event.marker, event.payload.length)
      }
      const octets = encoded(present, sound, frame)
      // Sound after unsent silence is marked.
      if (octets === 0) marker = true
      waiting += octets
      return complete(encoding)
    },
    /** Writes the next packet if one is due; 0: none is. */
    more: (encoding: Encoding): number => {
      moveUp()
      return complete(encoding)
    },
    /** Writes the sound that waits as a shorter packet, because no sound follows it; 0: none waits. */
    flush: (encoding: Encoding): number => {
      moveUp()
      return waiting === 0 || encoding.codec !== codec ? 0 : packetOf(waiting, encoding)
    },
    /** Lets time pass without a packet, because the clock stood still. */
    skip,
    /** Passes a frame that is not sent because the leg is held. A digit under way ends: later it is useless. */
    hold: (): void => {
      skip(1)
      train = []
      before = null
    },
    /** Begins a digit with the next packet, and drops one that is still being sent. */
    press: (digit: string, durationMs: number, { codec, telephoneEvent }: Encoding): void => {
      const { clockRate } = Codecs.table[codec]
      train = TelephoneEvent.train(digit, durationMs, clockRate, telephoneEvent?.clockRate)
      sentOfTrain = 0
      trainStart = timestamp
    },
    /** Takes the share of packets that the peer reports as lost, 0 to 1. */
    reported: (loss: number): void => encoder?.reported(loss),
    /** The number and the timestamp of the next packet. */
    nextSequenceNumber: (): number => sequenceNumber,
    nextTimestamp: (): number => timestamp,
    /** Accounts for forwarded packets: `number` is the last one's, `end` the timestamp at the end of their sound. */
    passed: (number: number, end: number, payloadOctets: number, count: number): void => {
      if (distance(sequenceNumber, next(number)) > 0) sequenceNumber = next(number)
      if (timestampDistance(timestamp, end) > 0) timestamp = end
      marker = false
      before = null
      packets = (packets + count) >>> 0
      octets = (octets + payloadOctets) >>> 0
    },
    /** Ends a forwarded event that is no longer forwarded: its end is sent three times, in the next packets. */
    finish: (payload: Uint8Array, at: number): void => {
      train = [0, 20, 40].map((offsetMs) => ({ offsetMs, marker: false, timestampOffset: 0, payload }))
      sentOfTrain = 0
      trainStart = at
    },
    /**
     * Feeds the encoder with the forwarded sound that the peer has heard, so that its state continues from there, and
     * joins the next frame to it.
     */
    prime: (heard: Frame.Sound, encoding: Encoding): void => {
      const { encode } = encoderOf(encoding)
      const { rate, samples: sound } = heard
      if (rate !== Codecs.table[codec].sampleRate) return
      before = Splice.extend(heard)
      const length = rate / framesPerSecond
      for (let at = sound.length % length; at < sound.length; at += length)
        encode(sound.subarray(at, at + length), bytes, RtpPacket.headerLength)
    },
    /** The figures for sender reports: the timestamp of this moment and the totals sent, RFC 3550 section 6.4.1. */
    sent: () => ({ timestamp, packets, octets }),
    close: (): void => {
      forget()
      encoder?.free()
      encoder = null
    }
  }
}
