import type { PayloadDecoder } from "./PayloadDecoder.ts"
import * as PayloadQueue from "./PayloadQueue.ts"
import { endOf } from "./PayloadQueue.ts"
import type { RecentPackets } from "./RecentPackets.ts"
import * as RestingPlayout from "./RestingPlayout.ts"
import * as RtpPacket from "./RtpPacket.ts"
import { timestampDistance } from "./SequenceNumber.ts"
import * as StreamDecoder from "./StreamDecoder.ts"
import * as StreamSelection from "./StreamSelection.ts"

/**
 * Adaptive playout of one received stream, in frames of 20 ms.
 *
 * Packets go in as they arrive, in any order and of any length; `pull` takes 20 ms out at a time. The buffer keeps
 * payloads as they came and decodes each when its turn has come, so that a codec decodes in order and hears of losses.
 *
 * The delay adapts by slack, without statistics of the network. When nothing is left to play, the buffer conceals the
 * gap and its playout point stands still: the delay grows by as much as the next packet is late. When more than a frame
 * was left over for a whole window, the buffer takes one frame out, in a quiet moment if there is one. It follows a sender
 * whose clock runs fast or slow in the same way.
 *
 * While it is muted, nobody hears the stream: packets are not kept, nothing is decoded, and the playout point goes on by
 * the clock (`RestingPlayout`). Whoever kept the last packets gives them back when it is heard again.
 *
 * Bounds: at most `maxPackets` wait; one more takes the place of the farthest in the future, or is refused. Never more
 * than `maxDelayMs` of sound waits: the burst behind a stall is cut to the wanted delay. A packet of more than
 * `maxOctets` or `maxPacketMs` is refused. While it is muted, a second of sound more than time has passed is too much.
 *
 * Shapes: the timeline is that of RTP, in clock units. Samples are linear, at the rate that `pull` asks for, which need
 * not be the clock rate (G.722). Times are milliseconds of any steady clock.
 */
export interface Options {
  /** Of RTP timestamps. */
  readonly clockRate: number
  /** Delay wanted at the start and after a pause. */
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly maxPackets: number
  readonly maxOctets: number
  readonly maxPacketMs: number
}

export const defaults: Options = {
  clockRate: 8000,
  initialDelayMs: 40,
  maxDelayMs: 240,
  maxPackets: 64,
  maxOctets: 1920,
  maxPacketMs: 200
}

/** What became of a packet. */
export type Pushed = "queued" | "duplicate" | "late" | "overflow" | "doubtful"

/** What `pull` gave: sound as sent, sound of which some is made up, or silence because there is no stream now. */
export type Pulled = "audio" | "concealed" | "idle"

export interface Counters {
  queued: number
  duplicate: number
  late: number
  overflow: number
  /** Packets of another source or far from the present timestamp, dropped until a second one confirmed them. */
  doubtful: number
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
/** What a codec that remembers has to hear until it sounds as if it had heard all. */
const historyMs = 60
/** A window of slack, in frames: 4 s. */
const windowFrames = 200
/** Below this mean amplitude a frame is a quiet moment: about -46 dBFS. */
const quiet = 160

export type JitterBuffer = ReturnType<typeof make>

export const make = (options: Options = defaults) => {
  const unitsOf = (ms: number) => (options.clockRate * ms) / 1000
  const frameUnits = unitsOf(frameMs)

  const counters: Counters = {
    queued: 0,
    duplicate: 0,
    late: 0,
    overflow: 0,
    doubtful: 0,
    concealed: 0,
    removed: 0,
    starts: 0
  }
  const payloads = PayloadQueue.make(options)
  const queue = payloads.waiting
  const decoder = StreamDecoder.make(frameUnits, unitsOf(options.maxPacketMs))
  // A distance of more than a second is no jitter but a new timeline.
  const selection = StreamSelection.make(options.clockRate)
  /** Timestamp of what is to be played next; meaningless while not `playing`. */
  let playout = 0
  let playing = false
  let bufferingSince = 0
  /** Sound made up while the playout point stood still, in clock units. A gap behind it is shorter by as much. */
  let owed = 0
  /** A packet came too late although others waited: the delay is too short for how the network reorders. */
  let stretch = false
  let concealedInRow = 0
  let slack = Number.POSITIVE_INFINITY
  let windowLeft = windowFrames
  /** Samples in a frame, as many as the last `pull` asked for. */
  let frameSamples = 0
  const resting = RestingPlayout.make(options.clockRate)
  let isMuted = false
  /** The newest timestamp that came while it was muted. */
  let newestAtRest = 0

  const depth = () => {
    const newest = queue.at(-1)
    return newest === undefined ? 0 : timestampDistance(playout, endOf(newest))
  }

  const openWindow = () => {
    slack = Number.POSITIVE_INFINITY
    windowLeft = windowFrames
  }

  const rest = () => {
    playing = false
    owed = 0
    stretch = false
    openWindow()
  }

  const drop = (why: Exclude<Pushed, "queued">): Pushed => {
    counters[why]++
    return why
  }

  const reference = (): number | null =>
    isMuted && playing ? newestAtRest : (queue.at(-1)?.timestamp ?? (playing ? playout : null))

  const pushAtRest = (packet: RtpPacket.RtpPacket, duration: number, now: number): Pushed => {
    const { payloadEnd, payloadStart, timestamp } = packet
    if (payloadEnd - payloadStart > options.maxOctets) return drop("overflow")
    if (!playing) {
      playing = true
      newestAtRest = timestamp
      resting.begin((timestamp - unitsOf(options.initialDelayMs)) >>> 0, now)
    }
    if (!resting.arrived(timestamp, duration, now)) return drop("overflow")
    if (timestampDistance(newestAtRest, timestamp) > 0) newestAtRest = timestamp
    counters.queued++
    return "queued"
  }

  /** The packet is lent for the call. */
  const push = (packet: RtpPacket.RtpPacket, codec: PayloadDecoder, now: number): Pushed => {
    const duration = codec.duration(packet.bytes, packet.payloadStart, packet.payloadEnd)
    if (duration <= 0) return drop("late")
    if (duration > unitsOf(options.maxPacketMs)) return drop("overflow")
    const verdict = selection.accept(packet, reference(), now)
    if (verdict === "doubtful" || verdict === "duplicate") return drop(verdict)
    if (verdict === "new") {
      payloads.clear()
      decoder.restart()
      bufferingSince = now
      rest()
    }
    if (isMuted) return pushAtRest(packet, duration, now)
    if (playing && timestampDistance(playout, packet.timestamp + duration) <= 0) {
      stretch = queue.length > 0
      return drop("late")
    }
    if (!playing && queue.length === 0) bufferingSince = now
    const inserted = payloads.insert(packet, codec, duration)
    if (inserted === "duplicate" || inserted === "overflow") return drop(inserted)
    if (inserted === "queued_for_another") {
      counters.overflow++
      decoder.forget()
    }
    counters.queued++
    return "queued"
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

  /** Takes out what is too much behind the frame `out`, and fades it over into what then follows. */
  const shorten = (out: Int16Array): void => {
    const left = depth()
    if (left > unitsOf(options.maxDelayMs)) {
      const cut = left - unitsOf(options.initialDelayMs)
      playout = (playout + cut) >>> 0
      counters.removed += Math.round(cut / frameUnits)
      while (queue[0] !== undefined && timestampDistance(playout, endOf(queue[0])) <= 0) shift()
      return openWindow()
    }
    slack = Math.min(slack, left)
    windowLeft--
    if (windowLeft > 0 || slack < frameUnits * 1.5) {
      if (windowLeft <= 0) openWindow()
      return
    }
    // Up to half a window more is given to find a quiet moment.
    if (windowLeft > -windowFrames / 2 && meanAmplitude(out) > quiet) return
    if (!hasFrame()) return
    const removed = new Int16Array(frameSamples)
    fill(removed)
    for (let i = 0; i < frameSamples; i++) {
      const weight = i / frameSamples
      out[i] = (out[i] ?? 0) * (1 - weight) + (removed[i] ?? 0) * weight
    }
    counters.removed++
    openWindow()
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

  /**
   * Writes the next 20 ms into `out`, whose length tells the rate; the codecs decode at that rate now. Call it every 20 ms.
   * A call that was missed is not made up for: more sound waits then, and the buffer shortens it by itself.
   */
  const pull = (out: Int16Array, now: number): Pulled => {
    if (out.length !== frameSamples) resize(out.length)
    if (isMuted) return "audio"
    if (!playing && !start(now)) {
      out.fill(0)
      return "idle"
    }
    if (stretch) {
      stretch = false
      openWindow()
      if (depth() < unitsOf(options.maxDelayMs) - frameUnits) return concealFrame(out)
    }
    if (queue.length === 0) {
      openWindow()
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
      decoder.fadeIn(out)
      concealedInRow = 0
    }
    owed = 0
    decoder.heard(out)
    shorten(out)
    return "audio"
  }

  const mute = (now: number): void => {
    if (playing) {
      newestAtRest = reference() ?? playout
      resting.begin(playout, now)
    }
    isMuted = true
    payloads.clear()
    decoder.restart()
  }

  const unmute = (recent: RecentPackets, codec: PayloadDecoder | null, now: number): void => {
    isMuted = false
    const wasPlaying = playing
    rest()
    const packets = recent.ordered()
    const newest = packets.at(-1)
    if (!wasPlaying || codec === null || newest === undefined) return
    const end = newest.timestamp + newest.duration
    playout = resting.at(now)
    const missing = timestampDistance(end, playout)
    if (missing >= pauseFrames * frameUnits) return
    playing = true
    owed = Math.max(0, missing)
    concealedInRow = Math.floor(owed / frameUnits)
    if (missing > 0) playout = end >>> 0
    if (-missing > unitsOf(options.maxDelayMs)) playout = (end - unitsOf(options.initialDelayMs)) >>> 0
    for (const packet of packets) {
      const ahead = timestampDistance(playout, packet.timestamp)
      if (ahead + packet.duration <= 0) continue
      // What is played next is the beginning of a packet.
      if (ahead < 0) playout = packet.timestamp
      payloads.insert(packet, codec, packet.duration)
    }
    decoder.catchUp(
      recent.run(unitsOf(historyMs), playout).map((packet) => ({
        timestamp: packet.timestamp,
        duration: packet.duration,
        decoder: codec,
        payload: RtpPacket.payloadOf(packet)
      }))
    )
  }

  return {
    push,
    pull,
    /** The timestamp of what is played next, when that is the beginning of a packet and nothing is made up just now. */
    boundary: (): number | null => {
      const head = queue[0]
      if (!playing || stretch || owed > 0 || concealedInRow > 0) return null
      return head === undefined || timestampDistance(playout, head.timestamp) >= 0 ? playout : null
    },
    /** From now on nobody hears what is pulled: `pull` leaves its frame as it is. What waits is dropped. */
    mute,
    /**
     * From now on it is heard again. `recent` are the last packets that came, of one source and one codec; null: there is
     * none. The sound goes on where it would be, had it been heard all the while.
     */
    unmute,
    /** Sound that waits, in milliseconds. */
    depthMs: (): number => (playing && !isMuted ? Math.max(0, depth()) : 0) / (options.clockRate / 1000),
    counters: counters as Readonly<Counters>
  }
}

const meanAmplitude = (frame: Int16Array) => {
  let sum = 0
  for (const sample of frame) sum += Math.abs(sample)
  return sum / frame.length
}
