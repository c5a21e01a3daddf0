import * as PayloadQueue from "./PayloadQueue.ts"
import { endOf, type Queued } from "./PayloadQueue.ts"
import type { PayloadDecoder } from "./PayloadDecoder.ts"
import type { RtpPacket } from "../RtpPacket.ts"
import { timestampDistance } from "../SequenceNumber.ts"
import * as Slack from "./Slack.ts"
import * as StreamDecoder from "../StreamDecoder.ts"

/**
 * Plays what waits of one stream, in frames of 20 ms, and makes up what is missing.
 *
 * The delay adapts by slack, without statistics of the network. When nothing is left to play, the gap is concealed and
 * the playout point stands still: the delay grows by as much as the next packet is late. When more than a frame was left
 * over for a whole window, one frame is taken out, in a quiet moment if there is one. So it follows a sender whose clock
 * runs fast or slow, too.
 */
export interface Options extends PayloadQueue.Limits {
  /** Of RTP timestamps. */
  readonly clockRate: number
  /** Delay wanted at the start and after a pause. */
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly maxPacketMs: number
}

/** What `pull` gave: sound as sent, sound of which some is made up, or silence because there is no stream now. */
export type Pulled = "audio" | "concealed" | "idle"

export interface Counters {
  /** Frames of which at least a part was made up. */
  concealed: number
  /** Frames taken out to lower the delay. */
  removed: number
  /** Times the stream was started, by a first packet, a pause, another source or a jump of the timestamp. */
  starts: number
}

const frameMs = 20
/** The stream counts as paused after so many made-up frames in a row. */
const pauseFrames = 10

export const make = (options: Options, counters: Counters) => {
  const unitsOf = (ms: number) => (options.clockRate * ms) / 1000
  const frameUnits = unitsOf(frameMs)
  const payloads = PayloadQueue.make(options)
  const queue = payloads.waiting
  const decoder = StreamDecoder.make(frameUnits, unitsOf(options.maxPacketMs))
  /** Timestamp of what is to be played next; meaningless while not `playing`. */
  let playout = 0
  let playing = false
  let bufferingSince = 0
  /** Sound made up while the playout point stood still, in clock units. A gap behind it is shorter by as much. */
  let owed = 0
  /** A packet came too late although others waited: the delay is too short for how the network reorders. */
  let stretch = false
  let concealedInRow = 0
  const slack = Slack.make(frameUnits)
  /** Samples in a frame, as many as the last `pull` asked for. */
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

  /** Makes up `out` from `from` on; `gap` is what is missing up to the oldest packet, in clock units. */
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

  /** The oldest packet has been played, or never will be. */
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

  /** Clock units missing before the next queued packet, without those that were made up already. */
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

  /** Whether a whole frame waits at the playout point without a gap in it. */
  const hasFrame = (): boolean => {
    let end = playout
    for (const packet of queue) {
      if (timestampDistance(end, packet.timestamp) > 0) return false
      end = endOf(packet)
      if (timestampDistance(playout, end) >= frameUnits) return true
    }
    return false
  }

  /** Takes the next frame out, and fades `out` over into it. */
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

  /** Takes out what is too much behind the frame `out`, and fades it over into what then follows. */
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

  /** Samples in a row from the queue, up to a frame. */
  const fill = (out: Int16Array): number => {
    let at = 0
    while (at < frameSamples && queue.length > 0 && gapAhead() === 0) at += take(out, at)
    return at
  }

  /** From now on frames have another length. What is left of the packet that is being played is lost. */
  const resize = (samples: number) => {
    const head = queue[0]
    if (head !== undefined && decoder.isDecoded(head)) shift()
    frameSamples = samples
    decoder.resize(samples)
  }

  /** The next 20 ms, into a frame of the length that `resize` was told. */
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
      // The packet behind the gap is here, so what is missing is lost: the playout point moves on through the gap.
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

  /** Forgets what waits. */
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
    /** Another stream begins. */
    restart: (now: number): void => {
      clear()
      bufferingSince = now
      rest()
    },
    clear,
    /**
     * Goes on with `packets` where it would be had it played all the while, at `at`, which may be behind the end of them.
     * `before(playout)` are those in front of what is played next: a codec that remembers hears them.
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
        // What is played next is the beginning of a packet.
        if (ahead < 0) playout = packet.timestamp
        payloads.insert(packet, codec, packet.duration)
      }
      decoder.catchUp(before(playout))
    },
    rest,
    /** The timestamp that is played next; null: nothing is. */
    playout: (): number | null => (playing ? playout : null),
    /** That of the newest that waits or, when none does, `playout`. */
    newest: (): number | null => queue.at(-1)?.timestamp ?? (playing ? playout : null),
    /** The timestamp of what is played next, when that is the beginning of a packet and nothing is made up just now. */
    boundary: (): number | null => {
      const head = queue[0]
      if (!playing || stretch || owed > 0 || concealedInRow > 0) return null
      return head === undefined || timestampDistance(playout, head.timestamp) >= 0 ? playout : null
    },
    /** Sound that waits, in clock units. */
    depth: (): number => (playing ? Math.max(0, depth()) : 0)
  }
}

/** A packet that was kept. */
interface Resumed extends RtpPacket {
  readonly duration: number
}
