import * as AdaptivePlayout from "./AdaptivePlayout.ts"
import type { PayloadDecoder } from "./PayloadDecoder.ts"
import type { RecentPackets } from "../RecentPackets.ts"
import * as RestingPlayout from "./RestingPlayout.ts"
import * as RtpPacket from "../RtpPacket.ts"
import { timestampDistance } from "../SequenceNumber.ts"
import * as StreamSelection from "../StreamSelection.ts"

/**
 * Playout of one received stream, in frames of 20 ms.
 *
 * Packets are pushed as they arrive, in any order and of any length; `pull` takes 20 ms at a time. The buffer keeps
 * encoded payloads and decodes each in its turn, so that a codec decodes in order and is notified of losses.
 * `AdaptivePlayout` adapts the delay.
 *
 * While the buffer is muted, nothing listens to the stream: packets are not kept or decoded, and the playout point
 * advances by the clock (`RestingPlayout`). The caller keeps the last packets and passes them to `unmute`.
 *
 * Bounds: at most `maxPackets` wait; one more replaces the one farthest in the future, or is refused. At most
 * `maxDelayMs` of sound waits: the burst after a stall is cut to the wanted delay. A packet of more than `maxOctets` or
 * `maxPacketMs` is refused. While it is muted, packets are refused when their sound exceeds the time that has passed by
 * more than a second.
 *
 * Shapes: the timeline is that of RTP, in clock units. Samples are linear, at the rate of the frames to `pull`, which
 * need not be the clock rate (G.722). Times are milliseconds of any steady clock.
 */
type Options = AdaptivePlayout.Options

export const defaults: Options = {
  clockRate: 8000,
  initialDelayMs: 40,
  maxDelayMs: 240,
  maxPackets: 64,
  maxOctets: 1920,
  maxPacketMs: 200
}

/** The outcome of a packet. */
type Pushed = "queued" | "duplicate" | "late" | "overflow" | "doubtful"

export type { Pulled } from "./AdaptivePlayout.ts"

interface Counters extends AdaptivePlayout.Counters {
  queued: number
  duplicate: number
  late: number
  overflow: number
  /** Packets of another source or far from the present timestamp, dropped until a second one confirmed them. */
  doubtful: number
}

/** How much sound a codec with state must get until its output is the same as with all of it. */
const historyMs = 60

export type JitterBuffer = ReturnType<typeof make>

export const make = (options: Options = defaults) => {
  const unitsOf = (ms: number) => (options.clockRate * ms) / 1000
  const longestUnits = unitsOf(options.maxPacketMs)
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
  // A distance of more than a second is a new timeline, not jitter.
  const selection = StreamSelection.make(options.clockRate)
  const heard = AdaptivePlayout.make(options, counters)
  const resting = RestingPlayout.make(options.clockRate)
  let isMuted = false
  /** The newest timestamp that came while it was muted; null: there is no stream. */
  let newestAtRest: number | null = null

  const drop = (why: Exclude<Pushed, "queued">): Pushed => {
    counters[why]++
    return why
  }

  const pushAtRest = (packet: RtpPacket.RtpPacket, duration: number, now: number): Pushed => {
    const { payloadEnd, payloadStart, timestamp } = packet
    if (payloadEnd - payloadStart > options.maxOctets) return drop("overflow")
    if (newestAtRest === null) resting.start((timestamp - unitsOf(options.initialDelayMs)) >>> 0, now)
    if (!resting.arrived(timestamp, duration, now)) return drop("overflow")
    if (newestAtRest === null || timestampDistance(newestAtRest, timestamp) > 0) newestAtRest = timestamp
    counters.queued++
    return "queued"
  }

  return {
    /** Takes a packet, lent for the call. `duration` is that of its sound by its codec, in clock units. */
    push: (
      packet: RtpPacket.RtpPacket,
      codec: PayloadDecoder,
      now: number,
      duration = codec.duration(packet.bytes, packet.payloadStart, packet.payloadEnd)
    ): Pushed => {
      if (duration <= 0) return drop("late")
      if (duration > longestUnits) return drop("overflow")
      const verdict = selection.accept(packet, isMuted ? newestAtRest : heard.newest(), now)
      if (verdict === "doubtful" || verdict === "duplicate") return drop(verdict)
      if (verdict === "new") {
        heard.restart(now)
        newestAtRest = null
      }
      if (isMuted) return pushAtRest(packet, duration, now)
      const inserted = heard.insert(packet, codec, duration, now)
      if (inserted !== "queued" && inserted !== "queued_for_another") return drop(inserted)
      if (inserted === "queued_for_another") counters.overflow++
      counters.queued++
      return "queued"
    },
    /**
     * Writes the next 20 ms into `out`, whose length determines the rate at which the codecs decode now. Call it every
     * 20 ms. A missed call is not made up for: more sound waits then, and the buffer shortens it by itself.
     */
    pull: (out: Int16Array, now: number): AdaptivePlayout.Pulled => {
      heard.resize(out.length)
      return isMuted ? "audio" : heard.pull(out, now)
    },
    boundary: heard.boundary,
    /** Mutes the stream, which nothing listens to: `pull` leaves its frame as it is. Waiting packets are dropped. */
    mute: (now: number): void => {
      const playout = heard.playout()
      newestAtRest = playout === null ? null : heard.newest()
      if (playout !== null) resting.start(playout, now)
      isMuted = true
      heard.clear()
      heard.rest()
    },
    /**
     * Ends muting. `recent` are the last received packets, of one source and one codec; a null codec: there are none.
     * The sound resumes where it would be if it had been played all the while.
     */
    unmute: (recent: RecentPackets, codec: PayloadDecoder | null, now: number): void => {
      isMuted = false
      if (newestAtRest === null || codec === null) return
      heard.resume(recent.ordered(), codec, resting.at(now), (playout) =>
        recent.run(unitsOf(historyMs), playout).map((packet) => ({
          timestamp: packet.timestamp,
          duration: packet.duration,
          decoder: codec,
          payload: RtpPacket.payloadOf(packet)
        }))
      )
    },
    /** The sound that waits, in milliseconds. */
    depthMs: (): number => heard.depth() / (options.clockRate / 1000),
    counters: counters as Readonly<Counters>
  }
}
