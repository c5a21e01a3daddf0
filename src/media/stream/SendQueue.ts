import type { Track } from "../mix/Tap.ts"
import * as Frame from "../Frame.ts"
import type { Media } from "./dialect/Dialect.ts"

/**
 * What waits for a stream's server to take it, in order, guide/streams.md#a-slow-server.
 *
 * Of sound no more than two seconds wait: one more drops the oldest, and its time is missing in the timestamps. All else
 * is kept. A server is too slow when something has waited for ten seconds without a break, or more than sound waits
 * than may.
 *
 * `handOver` gives what the network takes now. Before the stream begins it is not called, so what came first is kept up
 * to the same bound, and the timestamps begin with the first that is told.
 */
export const limits = { soundMs: 2000, others: 2000, behindMs: 10_000 }

/** Sound of a track, as it was told: its place in the track and its payload in base64. */
interface Sound {
  readonly track: Track
  readonly positionMs: number
  readonly payload: string
}

/** Spells a message; `sequence` is its number. */
type Spell = (sequence: number) => string
type Entry = Sound | Spell

interface Sink {
  /** False: it takes nothing now. */
  readonly takes: () => boolean
  /** False: it could not be sent. */
  readonly send: (text: string) => boolean
  readonly spell: (media: Media, sequence: number) => string
}

export type SendQueue = ReturnType<typeof make>

export const make = () => {
  let entries: Array<Entry> = []
  const waiting: Record<Track, number> = { inbound: 0, outbound: 0 }
  const chunks: Record<Track, number> = { inbound: 0, outbound: 0 }
  let others = 0
  let sequence = 0
  let droppedMs = 0
  /** Where the first sound that is told begins; null: none was. */
  let beginsAtMs: number | null = null
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
    beginsAtMs ??= positionMs
    // The other track may have begun earlier.
    const timestampMs = Math.max(0, positionMs - beginsAtMs)
    return spell({ track, chunk: chunks[track], timestampMs, payload }, sequence)
  }

  return {
    sound: (track: Track, positionMs: number, payload: string): void => {
      if (waiting[track] * Frame.frameMs >= limits.soundMs) dropOldest(track)
      entries.push({ track, positionMs, payload })
      waiting[track]++
    },
    /** The number of a message that does not wait. */
    number: (): number => ++sequence,
    /** What is no sound. */
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
    isTooSlow: (now: number): boolean =>
      others > limits.others || (behindSince !== null && now - behindSince >= limits.behindMs),
    /** Sound that was dropped, of all tracks. */
    droppedMs: (): number => droppedMs,
    isEmpty: (): boolean => entries.length === 0
  }
}
