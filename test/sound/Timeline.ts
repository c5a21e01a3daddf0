import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as SequenceNumber from "../../src/protocol/rtp/SequenceNumber.ts"
import type { Heard } from "./Phone.ts"

/** Sound with its time: `fromMs` is when its first packet came. */
export interface Sound {
  readonly rate: number
  readonly samples: Int16Array
  readonly fromMs: number
}

/** Returns the packets in the order in which they were sent, without digits and repetitions. */
const inOrder = (packets: ReadonlyArray<Heard>): ReadonlyArray<Heard> => {
  const [first] = packets
  if (first === undefined) return []
  const place = ({ sequence }: Heard) => SequenceNumber.distance(first.sequence, sequence)
  const sound = packets.filter(({ codec }) => codec !== null)
  return [...new Map(sound.map((packet) => [packet.sequence, packet])).values()].toSorted((a, b) => place(a) - place(b))
}

/**
 * The sound that a phone would play without a jitter buffer: each packet is at the place of its timestamp, and gaps are
 * silent. All packets are of one codec.
 */
export const of = (packets: ReadonlyArray<Heard>): Sound => {
  const ordered = inOrder(packets)
  const [first] = ordered
  if (first?.codec === null || first === undefined) return { rate: 8000, samples: new Int16Array(0), fromMs: 0 }
  if (ordered.some(({ codec }) => codec !== first.codec)) throw new Error("the codec changes")
  const { clockRate, decoder: make, sampleRate } = Codecs.table[first.codec]
  const decoder = make()
  const pieces = ordered.map(({ payload, timestamp }) => {
    const out = new Int16Array(sampleRate / 5)
    const count = decoder.decode(payload, out)
    const units = SequenceNumber.timestampDistance(first.timestamp, timestamp)
    return { at: Math.round((units * sampleRate) / clockRate), samples: out.subarray(0, count) }
  })
  decoder.free()
  const samples = new Int16Array(Math.max(0, ...pieces.map((piece) => piece.at + piece.samples.length)))
  for (const piece of pieces) samples.set(piece.samples, piece.at)
  return { rate: sampleRate, samples, fromMs: Math.min(...ordered.map(({ atMs }) => atMs)) }
}

/** How much later than its place each packet came, relative to the earliest; in ms. */
export const lateness = (packets: ReadonlyArray<Heard>): ReadonlyArray<number> => {
  const [first] = packets
  if (first?.codec === null || first === undefined) return []
  const { clockRate } = Codecs.table[first.codec]
  const ahead = packets.map(
    ({ atMs, timestamp }) => atMs - (SequenceNumber.timestampDistance(first.timestamp, timestamp) * 1000) / clockRate
  )
  const least = Math.min(...ahead)
  return ahead.map((ms) => ms - least)
}

/** A packet that is later than this reaches a jitter buffer that may be empty by then. */
const inTimeMs = 20

/**
 * How long, in all, no packet came in this time although one was due every 20 ms: in a stream without pauses, the
 * machine stood still then.
 */
export const stood = (packets: ReadonlyArray<Heard>, fromMs: number, toMs: number): number => {
  const gaps = packets.map(({ atMs }, i) => ({ endMs: atMs, ms: atMs - (packets[i - 1]?.atMs ?? atMs) - 20 }))
  const within = gaps.filter(({ endMs, ms }) => ms > inTimeMs && endMs > fromMs && endMs - ms < toMs)
  return within.reduce((sum, { ms }) => sum + ms, 0)
}

/** The sound from `fromMs` to `toMs`, counted from its beginning. */
export const part = ({ rate, samples, ...sound }: Sound, fromMs: number, toMs = Infinity): Sound => ({
  rate,
  samples: samples.slice((fromMs * rate) / 1000, toMs === Infinity ? undefined : (toMs * rate) / 1000),
  fromMs: sound.fromMs + fromMs
})
