import * as PayloadQueue from "./PayloadQueue.ts"
import { endOf, type Queued } from "./PayloadQueue.ts"
import type { PayloadDecoder } from "./PayloadDecoder.ts"
import type { RtpPacket } from "../RtpPacket.ts"
import { timestampDistance } from "../SequenceNumber.ts"
import * as Slack from "./Slack.ts"
import * as StreamDecoder from "../StreamDecoder.ts"

/**
 * Plays the queued packets of one stream, in frames of 20 ms, and conceals missing ones.
 *
 * The delay adapts by slack, without statistics of the network. When the queue is empty, the gap is concealed and the
 * playout point does not move: the delay grows by as much as the next packet is late. When more than a frame was left
 * over for a whole window, one frame is removed, in a quiet moment if there is one. So playout also follows a sender
 * whose clock runs fast or slow.
 */
export interface Options extends PayloadQueue.Limits {
  /** The clock rate of RTP timestamps. */
  readonly clockRate: number
  /** The delay wanted at the start and after a pause. */
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly maxPacketMs: number
}

/** The kind of frame that `pull` gave: sound as sent, sound concealed at least in part, or silence without a stream. */
export type Pulled = "audio" | "concealed" | "idle"

export interface Counters {
  /** Frames that were concealed at least in part. */
  concealed: number
  /** Frames that were removed to lower the delay. */
  removed: number
  /** How often the stream was started: by a first packet, a pause, another source or a jump of the timestamp. */
  starts: number
}

const frameMs = 20
/** The stream counts as paused after this many concealed frames in a row. */
const pauseFrames = 10

export const make = (options: Options, counters: Counters) => {
  const unitsOf = (ms: number) => (options.clockRate * ms) / 1000
  const frameUnits = unitsOf(frameMs)
  const payloads = PayloadQueue.make(options)
  const queue = payloads.waiting
  const decoder = StreamDecoder.make(frameUnits, unitsOf(options.maxPacketMs))
  /** The timestamp that is played next; meaningless while not `playing`. */
  let playout = 0
  let playing = false
  let bufferingSince = 0
  /** The sound concealed while the playout point did not move, in clock units. The next gap is shorter by as much. */
  let owed = 0
  /** Whether a packet came too late although others waited: the delay is too short for the network's reordering. */
  let stretch = false
  let concealedInRow = 0
  const slack = Slack.make(frameUnits)
  /** The samples in a frame, set by the last `pull`. */
  let frameSamples = 0

  const depth = () => {
    const newest = queue.at(-1)
    return newest === undefined ? 0 : timestampDistance(playout, endOf(newest))
  }

  const rest = () => {
    playing = false
    owed = 0
    stretch = false
    slack.forget()
  }

  /** The packet is lent for the call. */
  const insert = (
    packet: RtpPacket,
    codec: PayloadDecoder,
    duration: number,
    now: number
  ): PayloadQueue.Inserted | "late" => {
    if (playing && timestampDistance(playout, packet.timestamp + duration) <= 0) {
      stretch = queue.length > 0
      return "late"
    }
    if (!playing && queue.length === 0) bufferingSince = now
    const inserted = payloads.insert(packet, codec, duration)
    if (inserted === "queued_for_another") decoder.forget()
    return inserted
  }

  /** Conceals `out` from `from` on; `gap` is the missing sound before the oldest packet, in clock units. */
  const conceal = (out: Int16Array, from: number, gap = 0) => {
    const head = queue[0]
    const isLast = gap > 0 && gap <= decoder.unitsIn(frameSamples - from)
    decoder.conceal(out, from, concealedInRow, isLast && head !== undefined ? head : null)
    counters.concealed++
  }

  const concealFrame = (out: Int16Array, gap = 0): Pulled => {
    conceal(out, 0, gap)
    concealedInRow++
    return "concealed"
  }

  /** Removes the oldest packet, which has been played, or never will be. */
  const shift = () => {
    decoder.forget()
    payloads.shift()
  }

  /** Copies samples at the playout point into `out` from `at`; returns how many. */
  const take = (out: Int16Array, at: number): number => {
    const head = queue[0]
    if (head === undefined) return 0
    const offset = timestampDistance(head.timestamp, playout)
    const count = decoder.read(head, offset, out, at, frameSamples - at)
    playout = (playout + decoder.unitsIn(count)) >>> 0
    if (count === 0 || timestampDistance(playout, endOf(head)) <= 0) shift()
    return count
  }

  /** The clock units missing before the next queued packet, without those that were concealed already. */
  const gapAhead = (): number => {
    const head = queue[0]
    if (head === undefined) return 0
    let gap = timestampDistance(playout, head.timestamp)
    if (gap <= 0) return 0
    const paid = Math.min(gap, owed)
    playout = (playout + paid) >>> 0
    owed -= paid
    gap -= paid
    return gap
  }

  const start = (now: number): boolean => {
    const head = queue[0]
    const newest = queue.at(-1)
    if (head === undefined || newest === undefined) return false
    const wanted = options.initialDelayMs
    if (timestampDistance(head.timestamp, endOf(newest)) < unitsOf(wanted) && now - bufferingSince < wanted)
      return false
    playing = true
    playout = head.timestamp
    concealedInRow = 0
    counters.starts++
    return true
  }

  /** Whether a whole frame without a gap waits at the playout point. */
  const hasFrame = (): boolean => {
    let end = playout
    for (const packet of queue) {
      if (timestampDistance(end, packet.timestamp) > 0) return false
      end = endOf(packet)
      if (timestampDistance(playout, end) >= frameUnits) return true
    }
    return false
  }

  /** Removes the next frame, and fades `out` over into it. */
  const removeNext = (out: Int16Array): void => {
    const removed = new Int16Array(frameSamples)
    fill(removed)
    for (let i = 0; i < frameSamples; i++) {
      const weight = i / frameSamples
      out[i] = (out[i] ?? 0) * (1 - weight) + (removed[i] ?? 0) * weight
    }
    counters.removed++
    slack.forget()
  }

  /** Removes excess sound after the frame `out`, and fades `out` over into the sound that then follows. */
  const shorten = (out: Int16Array): void => {
    const left = depth()
    if (left > unitsOf(options.maxDelayMs)) {
      const cut = left - unitsOf(options.initialDelayMs) - frameUnits
      playout = (playout + cut) >>> 0
      counters.removed += Math.round(cut / frameUnits)
      while (queue[0] !== undefined && timestampDistance(playout, endOf(queue[0])) <= 0) shift()
    } else if (!slack.isTooMuch(left, out)) return
    if (hasFrame()) removeNext(out)
  }

  /** Copies contiguous samples from the queue, up to a frame. */
  const fill = (out: Int16Array): number => {
    let at = 0
    while (at < frameSamples && queue.length > 0 && gapAhead() === 0) at += take(out, at)
    return at
  }

  /** Changes the length of frames. The rest of the packet that is being played is lost. */
  const resize = (samples: number) => {
    const head = queue[0]
    if (head !== undefined && decoder.isDecoded(head)) shift()
    frameSamples = samples
    decoder.resize(samples)
  }

  /** Writes the next 20 ms into a frame of the length that `resize` set. */
  const pull = (out: Int16Array, now: number): Pulled => {
    if (!playing && !start(now)) {
      out.fill(0)
      return "idle"
    }
    if (stretch) {
      stretch = false
      slack.forget()
      if (depth() < unitsOf(options.maxDelayMs) - frameUnits) return concealFrame(out)
    }
    if (queue.length === 0) {
      slack.forget()
      owed += frameUnits
      if (concealedInRow >= pauseFrames) {
        rest()
        out.fill(0)
        return "idle"
      }
      return concealFrame(out)
    }
    const filled = fill(out)
    if (filled === 0) {
      // The packet after the gap has arrived, so the missing sound is lost: the playout point moves through the gap.
      const gap = gapAhead()
      playout = (playout + Math.min(frameUnits, gap)) >>> 0
      return concealFrame(out, gap)
    }
    if (filled < frameSamples) {
      const missing = decoder.unitsIn(frameSamples - filled)
      const gap = gapAhead()
      if (queue.length === 0) owed += missing
      else playout = (playout + Math.min(missing, gap)) >>> 0
      concealedInRow = 0
      conceal(out, filled, gap)
      concealedInRow = 1
      return "concealed"
    }
    if (concealedInRow > 0) {
      decoder.join(out, concealedInRow)
      concealedInRow = 0
    }
    owed = 0
    decoder.heard(out)
    shorten(out)
    return "audio"
  }

  /** Drops all queued packets. */
  const clear = (): void => {
    payloads.clear()
    decoder.restart()
  }

  return {
    insert,
    pull,
    resize: (samples: number): void => {
      if (samples !== frameSamples) resize(samples)
    },
    /** Begins another stream. */
    restart: (now: number): void => {
      clear()
      bufferingSince = now
      rest()
    },
    clear,
    /**
     * Resumes with `packets` at the timestamp `at`, where it would be if it had played all the while; that may be after
     * their end. `before(playout)` returns the packets before the playout point, which feed a codec with state.
     */
    resume: (
      packets: ReadonlyArray<Resumed>,
      codec: PayloadDecoder,
      at: number,
      before: (playout: number) => ReadonlyArray<Queued>
    ): void => {
      rest()
      const newest = packets.at(-1)
      if (newest === undefined) return
      const end = newest.timestamp + newest.duration
      const missing = timestampDistance(end, at)
      if (missing >= pauseFrames * frameUnits) return
      playing = true
      playout = missing > 0 ? end >>> 0 : at
      owed = Math.max(0, missing)
      concealedInRow = Math.floor(owed / frameUnits)
      if (-missing > unitsOf(options.maxDelayMs)) playout = (end - unitsOf(options.initialDelayMs)) >>> 0
      for (const packet of packets) {
        const ahead = timestampDistance(playout, packet.timestamp)
        if (ahead + packet.duration <= 0) continue
        // Playout resumes at the beginning of a packet.
        if (ahead < 0) playout = packet.timestamp
        payloads.insert(packet, codec, packet.duration)
      }
      decoder.catchUp(before(playout))
    },
    rest,
    /** The timestamp that is played next; null: nothing is played. */
    playout: (): number | null => (playing ? playout : null),
    /** The newest queued timestamp, or `playout` if none is queued. */
    newest: (): number | null => queue.at(-1)?.timestamp ?? (playing ? playout : null),
    /** The timestamp that is played next, if a packet begins there and no concealment is under way. */
    boundary: (): number | null => {
      const head = queue[0]
      if (!playing || stretch || owed > 0 || concealedInRow > 0) return null
      return head === undefined || timestampDistance(playout, head.timestamp) >= 0 ? playout : null
    },
    /** The sound that waits, in clock units. */
    depth: (): number => (playing ? Math.max(0, depth()) : 0)
  }
}

/** A packet that was kept while playout rested. */
interface Resumed extends RtpPacket {
  readonly duration: number
}
