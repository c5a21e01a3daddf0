import type { CodecName } from "../../protocol/audio/codec/Codecs.ts"
import type { RtpPacket } from "../../protocol/rtp/RtpPacket.ts"
import type { Arrived } from "../FarEnd.ts"
import * as Frame from "../Frame.ts"

/** `inbound`: what the far end says. `outbound`: what it is given to hear. */
export type Track = "inbound" | "outbound"

/** Why a tap hears nothing more: its leg is closed, it threw, or it took too long again and again. */
export type TapEnd = "closed" | "failed" | "slow"

/**
 * Whoever listens on a leg: a recorder, a stream, a recognizer, a detector.
 *
 * It hears a frame of each track that it wants in every round of 20 ms, in order, silence included; a hole in the times
 * is time in which the plane stood still. A tap cannot change what others hear. One that throws, or is slow again and
 * again, is taken off and told so, and the leg goes on.
 */
export interface Tap {
  readonly wants: (track: Track) => boolean
  /**
   * `frame` is a copy that is lent for the call: what is kept is copied. `at` is its time on the clock of the plane, in
   * milliseconds.
   */
  readonly hear: (track: Track, frame: Frame.Frame, at: number) => void
  /**
   * For a tap that cannot wait until sound is played. It is called with each packet of the far end as it arrives
   * (`Arrived`), 40 ms and more before the sound is in a frame. It may not write into the packet.
   */
  readonly arrived?: Arrived
  /** Called once, when the tap is taken off without having asked for it. It hears nothing afterwards. */
  readonly ended: (reason: TapEnd) => void
}

/**
 * A tap may take so long for a frame or a packet; it is taken off when it took longer so many times in a row. Behind the
 * first time it is the work of the processor that counts: on a busy machine this thread waits for its turn, which is no
 * fault of the tap that it was about to call.
 */
export const limitMs = 2
export const maxLate = 3

/** Most taps on one leg. */
export const maxTaps = 16

interface Listening {
  readonly tap: Tap
  /** How often in a row it took too long, for each way in which it is called. */
  readonly late: Record<Track | "arrived", number>
  /** Whether it is still to be called. */
  isOn: boolean
}

export interface Options {
  /** Milliseconds of a clock that goes on while a tap is called. */
  readonly clock: () => number
  /** Milliseconds that a processor has worked for this thread, which costs more to ask; absent: as `clock`. */
  readonly cpuClock?: () => number
  /** Hears what a tap threw. */
  readonly onDefect: (error: unknown) => void
}

/** Where the packets of the leg come from. */
type Overhear = (arrived: Arrived | null) => void

export type Taps = ReturnType<typeof make>

/** The taps of one leg. */
export const make = ({ clock, cpuClock = clock, onDefect }: Options, overhear: Overhear) => {
  let taps: ReadonlyArray<Listening> = []
  let isClosed = false
  /**
   * What taps are lent: a copy of the frame, so that a tap that writes into it changes nothing for the leg or another
   * tap.
   */
  let copy = Frame.make(8000)

  const change = (next: ReadonlyArray<Listening>): void => {
    taps = next
    overhear(taps.some(({ tap }) => tap.arrived !== undefined) ? arrived : null)
  }
  const drop = (isGone: (listening: Listening) => boolean): void => {
    for (const listening of taps) if (isGone(listening)) listening.isOn = false
    change(taps.filter(({ isOn }) => isOn))
  }

  /** A tap that left, or whose leg was closed, while it was called has had its end. */
  const end = (ended: Listening, reason: TapEnd): void => {
    if (!ended.isOn) return
    drop((listening) => listening === ended)
    try {
      ended.tap.ended(reason)
    } catch (error) {
      onDefect(error)
    }
  }

  const failed = (listening: Listening, error: unknown): void => {
    onDefect(error)
    end(listening, "failed")
  }

  const watchOf = (listening: Listening, what: Track | "arrived") => (listening.late[what] === 0 ? clock : cpuClock)

  const took = (listening: Listening, what: Track | "arrived", ms: number): void => {
    listening.late[what] = ms > limitMs ? listening.late[what] + 1 : 0
    if (listening.late[what] >= maxLate) end(listening, "slow")
  }

  const arrived = (packet: RtpPacket, codec: CodecName, at: number): void => {
    for (const listening of taps) {
      if (!listening.isOn || listening.tap.arrived === undefined) continue
      const watch = watchOf(listening, "arrived")
      const began = watch()
      try {
        listening.tap.arrived(packet, codec, at)
      } catch (error) {
        failed(listening, error)
        continue
      }
      took(listening, "arrived", watch() - began)
    }
  }

  return {
    /** False when there are `maxTaps` already, or the leg is closed. */
    add: (tap: Tap): boolean => {
      if (isClosed || taps.length >= maxTaps) return false
      change([...taps, { tap, late: { inbound: 0, outbound: 0, arrived: 0 }, isOn: true }])
      return true
    },
    /** The tap asked for it, and is told nothing. */
    remove: (tap: Tap): void => drop((listening) => listening.tap === tap),
    give: (track: Track, frame: Frame.Frame, at: number): void => {
      // A tap that comes while another one hears begins with the next frame.
      for (const listening of taps) {
        const watch = watchOf(listening, track)
        const began = watch()
        try {
          if (!listening.isOn || !listening.tap.wants(track)) continue
          copy = Frame.at(frame.rate, copy)
          copy.samples.set(frame.samples)
          listening.tap.hear(track, copy, at)
        } catch (error) {
          failed(listening, error)
          continue
        }
        took(listening, track, watch() - began)
      }
    },
    isEmpty: (): boolean => taps.length === 0,
    close: (): void => {
      isClosed = true
      for (const listening of taps) end(listening, "closed")
    }
  }
}
