import type { Track } from "../mix/Tap.ts"
import * as Frame from "../Frame.ts"
import type { Media } from "./dialect/StreamDialect.ts"

/**
 * The messages to a stream's server, in order, until the network takes them, guide/streams.md#a-slow-server.
 *
 * At most two seconds of sound wait: more drops the oldest, and the timestamps show the gap. All other messages are
 * kept, and while `full` of them wait, no more is read of the server. A server is too slow when the queue was not empty
 * for ten seconds, or when more than `others` of the other messages wait.
 *
 * `handOver` sends what the network takes now. It is not called before the stream begins, so the first sound is kept up
 * to the same bound, and the timestamps begin with the first sound that is sent.
 */
const limits = { soundMs: 2000, others: 2000, full: 1000, behindMs: 10_000 }

/** Sound of a track in 20 ms: its place in the track and its payload in base64. */
interface Sound {
  readonly track: Track
  readonly positionMs: number
  readonly payload: string
}

/** Writes a message; `sequence` is its number. */
type Spell = (sequence: number) => string
type Entry = Sound | Spell

interface Sink {
  /** False: the network takes nothing now. */
  readonly takes: () => boolean
  /** False: it could not be sent. */
  readonly send: (text: string) => boolean
  readonly spell: (media: Media, sequence: number) => string
}

export const make = () => {
  let entries: Array<Entry> = []
  const waiting: Record<Track, number> = { inbound: 0, outbound: 0 }
  const chunks: Record<Track, number> = { inbound: 0, outbound: 0 }
  let others = 0
  let sequence = 0
  let droppedMs = 0
  /** Where the first sent sound begins; null: none was sent. */
  let startsAtMs: number | null = null
  let behindSince: number | null = null

  const dropOldest = (track: Track): void => {
    const index = entries.findIndex((entry) => typeof entry !== "function" && entry.track === track)
    entries.splice(index, 1)
    waiting[track]--
    droppedMs += Frame.frameMs
  }

  const textOf = (entry: Entry, spell: Sink["spell"]): string => {
    sequence++
    if (typeof entry === "function") {
      others--
      return entry(sequence)
    }
    const { payload, positionMs, track } = entry
    waiting[track]--
    chunks[track]++
    startsAtMs ??= positionMs
    // The other track may have begun earlier.
    const timestampMs = Math.max(0, positionMs - startsAtMs)
    return spell({ track, chunk: chunks[track], timestampMs, payload }, sequence)
  }

  return {
    sound: (track: Track, positionMs: number, payload: string): void => {
      if (waiting[track] * Frame.frameMs >= limits.soundMs) dropOldest(track)
      entries.push({ track, positionMs, payload })
      waiting[track]++
    },
    /** Returns the number for a message that does not wait. */
    number: (): number => ++sequence,
    /** Queues a message that is not sound. */
    say: (spell: Spell): void => {
      entries.push(spell)
      others++
    },
    handOver: (sink: Sink, now: number): void => {
      let at = 0
      for (; at < entries.length && sink.takes(); at++) {
        const entry = entries[at]
        if (entry === undefined || !sink.send(textOf(entry, sink.spell))) break
      }
      if (at > 0) entries = entries.slice(at)
      behindSince = entries.length === 0 ? null : (behindSince ?? now)
    },
    /** The server reads from now on. */
    resumed: (): void => void (behindSince = null),
    isTooSlow: (now: number): boolean =>
      others > limits.others || (behindSince !== null && now - behindSince >= limits.behindMs),
    /** The dropped sound of all tracks. */
    droppedMs: (): number => droppedMs,
    isFull: (): boolean => others >= limits.full,
    isEmpty: (): boolean => entries.length === 0
  }
}
