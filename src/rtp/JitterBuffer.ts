import { next, timestampDistance } from "./SequenceNumber.ts"

/**
 * Adaptive playout of one received stream, in frames of 20 ms.
 *
 * Packets go in as they arrive, in any order and of any length; `pull` takes 20 ms out at a time. The delay adapts by
 * slack, without statistics of the network: when nothing is left, the loss is concealed and the playout point stands
 * still, so that the delay grows by what came late; when over a whole window more than a frame was always left over,
 * one frame is taken out, in a quiet moment if there is one. A sender whose clock runs fast or slow is followed in the
 * same way.
 *
 * Bounds: at most `maxPackets` wait (the farthest in the future is refused), and never more than `maxDelayMs` of sound
 * (a burst behind a stall is cut to the wanted delay).
 *
 * Shapes: samples are linear PCM at `clockRate`; times in milliseconds of any steady clock; timestamps as in RTP.
 */
export interface Options {
  /** RTP clock rate, equal to the sample rate; 8000 for G.711. */
  readonly clockRate: number
  /** Delay wanted at the start and after a pause. */
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly maxPackets: number
}

export const defaults: Options = { clockRate: 8000, initialDelayMs: 40, maxDelayMs: 240, maxPackets: 64 }

export interface Packet {
  readonly ssrc: number
  readonly sequenceNumber: number
  readonly timestamp: number
  /** Decoded; kept, not copied. */
  readonly samples: Int16Array
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
/** Concealment fades from full level to silence over so many frames, and is then idle after `pauseFrames`. */
const fadeFrames = 3
const pauseFrames = 10
/** A window of slack, in frames: 4 s. */
const windowFrames = 200
/** A duplicate is known as one for so many packets; a power of two. */
const recentPackets = 128
/** Another source is followed when the present one has been silent for so long. */
const sourceSilenceMs = 60
/** Below this mean amplitude a frame is a quiet moment: about -46 dBFS. */
const quiet = 160

export type JitterBuffer = ReturnType<typeof make>

export const make = (options: Options = defaults) => {
  const frameSamples = (options.clockRate * frameMs) / 1000
  const samplesOf = (ms: number) => (options.clockRate * ms) / 1000
  /** A distance of more than a second is no jitter but a new timeline. */
  const jump = options.clockRate

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
  /** By timestamp, oldest first. */
  let queue: Array<Packet> = []
  let ssrc = -1
  let heardAt = Number.NEGATIVE_INFINITY
  let candidate: Packet | null = null
  /** Timestamp of the next sample to play; meaningless while not `playing`. */
  let playout = 0
  let playing = false
  let bufferingSince = 0
  /** Samples made up while the playout point stood still: a gap in the timeline is first paid from these. */
  let owed = 0
  /** A packet came too late although others waited: the delay is too short for this reordering. */
  let stretch = false
  let concealedInRow = 0
  let slack = Number.POSITIVE_INFINITY
  let windowLeft = windowFrames
  /** Sequence numbers seen lately, each in the slot of its low bits: tells a duplicate from a late packet. */
  const seen = new Int32Array(recentPackets).fill(-1)
  /** The last frame of real sound, which concealment repeats. */
  const last = new Int16Array(frameSamples)

  const endOf = (packet: Packet) => packet.timestamp + packet.samples.length
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

  const follow = (packet: Packet, now: number) => {
    queue = []
    ssrc = packet.ssrc
    candidate = null
    bufferingSince = now
    seen.fill(-1)
    rest()
  }

  /** Whether the packet belongs to the present stream; the second of two in a row makes its stream the present one. */
  const accepted = (packet: Packet, now: number): boolean => {
    if (ssrc === -1) {
      follow(packet, now)
      return true
    }
    const newest = queue.at(-1)
    // With nothing queued and nothing playing there is no timeline to be far from: a pause may be of any length.
    const reference = newest?.timestamp ?? (playing ? playout : packet.timestamp)
    const near = Math.abs(timestampDistance(reference, packet.timestamp)) <= jump
    if (packet.ssrc === ssrc && near) {
      candidate = null
      return true
    }
    const confirmed =
      candidate !== null &&
      candidate.ssrc === packet.ssrc &&
      next(candidate.sequenceNumber) === packet.sequenceNumber &&
      Math.abs(timestampDistance(candidate.timestamp, packet.timestamp)) <= jump
    if (confirmed && (packet.ssrc === ssrc || now - heardAt >= sourceSilenceMs)) {
      follow(packet, now)
      return true
    }
    candidate = packet
    return false
  }

  const drop = (why: Exclude<Pushed, "queued">): Pushed => {
    counters[why]++
    return why
  }

  const push = (packet: Packet, now: number): Pushed => {
    if (packet.samples.length === 0) return drop("late")
    if (!accepted(packet, now)) return drop("doubtful")
    heardAt = now
    const slot = packet.sequenceNumber % recentPackets
    if (seen[slot] === packet.sequenceNumber) return drop("duplicate")
    seen[slot] = packet.sequenceNumber
    if (playing && timestampDistance(playout, endOf(packet)) <= 0) {
      stretch = queue.length > 0
      return drop("late")
    }
    if (!playing && queue.length === 0) bufferingSince = now
    let at = queue.length
    for (; at > 0; at--) {
      const before = queue[at - 1]
      if (before === undefined) break
      const ahead = timestampDistance(before.timestamp, packet.timestamp)
      if (ahead === 0) return drop("duplicate")
      if (ahead > 0) break
    }
    if (queue.length >= options.maxPackets) {
      if (at === queue.length) return drop("overflow")
      queue.pop()
      counters.overflow++
    }
    queue.splice(at, 0, packet)
    counters.queued++
    return "queued"
  }

  /** Fills `out` from `from` on with the last sound, fading. */
  const conceal = (out: Int16Array, from: number) => {
    for (let i = from; i < frameSamples; i++) {
      const gain = Math.max(0, 1 - (concealedInRow + i / frameSamples) / fadeFrames)
      out[i] = (last[i] ?? 0) * gain
    }
  }

  const concealFrame = (out: Int16Array): Pulled => {
    conceal(out, 0)
    concealedInRow++
    counters.concealed++
    return "concealed"
  }

  /** Copies samples at the playout point into `out` from `at`; returns how many. */
  const take = (out: Int16Array, at: number): number => {
    const head = queue[0]
    if (head === undefined) return 0
    const offset = timestampDistance(head.timestamp, playout)
    const count = Math.min(frameSamples - at, head.samples.length - offset)
    if (count > 0) out.set(head.samples.subarray(offset, offset + count), at)
    if (offset + count >= head.samples.length) queue.shift()
    playout = (playout + Math.max(0, count)) >>> 0
    return Math.max(0, count)
  }

  /** Samples missing before the next queued packet, after those that were already made up are paid. */
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
    if (timestampDistance(head.timestamp, endOf(newest)) < samplesOf(wanted) && now - bufferingSince < wanted)
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
      if (timestampDistance(playout, end) >= frameSamples) return true
    }
    return false
  }

  /** Takes out what is too much behind the frame `out`, which is faded over into what follows. */
  const shorten = (out: Int16Array): void => {
    const left = depth()
    if (left > samplesOf(options.maxDelayMs)) {
      const cut = left - samplesOf(options.initialDelayMs)
      playout = (playout + cut) >>> 0
      counters.removed += Math.round(cut / frameSamples)
      while (queue[0] !== undefined && timestampDistance(playout, endOf(queue[0])) <= 0) queue.shift()
      return openWindow()
    }
    slack = Math.min(slack, left)
    windowLeft--
    if (windowLeft > 0 || slack < frameSamples * 1.5) {
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

  /**
   * Writes the next 20 ms into `out` (`clockRate` / 50 samples). To be called every 20 ms; a tick that was missed is not
   * made up for: the stream is then behind, and is shortened by itself.
   */
  const pull = (out: Int16Array, now: number): Pulled => {
    if (!playing && !start(now)) {
      out.fill(0)
      return "idle"
    }
    if (stretch) {
      stretch = false
      openWindow()
      if (depth() < samplesOf(options.maxDelayMs) - frameSamples) return concealFrame(out)
    }
    if (queue.length === 0) {
      openWindow()
      owed += frameSamples
      if (concealedInRow >= pauseFrames) {
        rest()
        out.fill(0)
        return "idle"
      }
      return concealFrame(out)
    }
    const filled = fill(out)
    if (filled === 0) {
      // Lost: what comes next is already here. The playout point moves on through the gap.
      const step = Math.min(frameSamples, gapAhead())
      playout = (playout + step) >>> 0
      return concealFrame(out)
    }
    if (filled < frameSamples) {
      if (queue.length === 0) owed += frameSamples - filled
      else playout = (playout + Math.min(frameSamples - filled, gapAhead())) >>> 0
      concealedInRow = 0
      conceal(out, filled)
      counters.concealed++
      concealedInRow = 1
      return "concealed"
    }
    if (concealedInRow > 0) {
      fadeIn(out, Math.max(0, 1 - concealedInRow / fadeFrames))
      concealedInRow = 0
    }
    owed = 0
    last.set(out)
    shorten(out)
    return "audio"
  }

  return {
    push,
    pull,
    /** Sound that waits, in milliseconds. */
    depthMs: (): number => (playing ? Math.max(0, depth()) : 0) / (options.clockRate / 1000),
    counters: counters as Readonly<Counters>
  }
}

const meanAmplitude = (frame: Int16Array) => {
  let sum = 0
  for (const sample of frame) sum += Math.abs(sample)
  return sum / frame.length
}

/** Raises the first quarter of a frame from `gain` to full level, so that sound behind a concealment does not click. */
const fadeIn = (frame: Int16Array, gain: number) => {
  const length = frame.length >> 2
  for (let i = 0; i < length; i++) frame[i] = (frame[i] ?? 0) * (gain + (1 - gain) * (i / length))
}
