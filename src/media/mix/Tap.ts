import type { CodecName } from "../../protocol/audio/codec/Codecs.ts"
import type { RtpPacket } from "../../protocol/rtp/RtpPacket.ts"
import type { Arrived } from "../FarEnd.ts"
import * as Frame from "../Frame.ts"

/** `inbound`: the sound of the far end. `outbound`: the sound that is sent to it. */
export type Track = "inbound" | "outbound"

/** Why a tap receives no more sound: its leg is closed, it threw, or it took too long again and again. */
export type TapEnd = "closed" | "failed" | "slow"

/**
 * A listener on a leg: a recorder, a stream, a recognizer, a detector.
 *
 * It hears a frame of each track that it wants in every round of 20 ms, in order, silence included. A gap in the times
 * is time in which the plane stood still. A tap cannot change the sound for others. One that throws, or is slow again
 * and again, is removed and notified, and the leg continues.
 */
export interface Tap {
  readonly wants: (track: Track) => boolean
  /**
   * `frame` is a copy that is lent for the call: a tap copies the samples it keeps. `at` is its time on the clock of
   * the plane, in milliseconds.
   */
  readonly hear: (track: Track, frame: Frame.Frame, at: number) => void
  /**
   * Present for a tap that cannot wait until sound is played out. It is called with each packet of the far end as it
   * arrives (`Arrived`), 40 ms and more before the sound is in a frame. It may not write into the packet.
   */
  readonly arrived?: Arrived
  /** Called once when the tap is removed without its own request. It hears nothing afterwards. */
  readonly ended: (reason: TapEnd) => void
}

/**
 * The time a tap may take for a frame or a packet, in milliseconds; it is removed after `maxLate` times in a row that
 * took longer. After the first time only CPU time counts: on a busy machine this thread waits for its turn, which is no
 * fault of the tap.
 */
export const limitMs = 2
export const maxLate = 3

/** The most taps on one leg. */
export const maxTaps = 16

interface Listening {
  readonly tap: Tap
  /** How often in a row it took too long, for each of its callbacks. */
  readonly late: Record<Track | "arrived", number>
  /** Whether it is still to be called. */
  isOn: boolean
}

export interface Options {
  /** Milliseconds of a clock that advances while a tap is called. */
  readonly clock: () => number
  /** The CPU time of this thread in milliseconds, which costs more to read; absent: as `clock`. */
  readonly cpuClock?: () => number
  /** Takes the error that a tap threw. */
  readonly onDefect: (error: unknown) => void
}

/** Sets the observer of the leg's packets. */
type Overhear = (arrived: Arrived | null) => void

export type Taps = ReturnType<typeof make>

/** The taps of one leg. */
export const make = ({ clock, cpuClock = clock, onDefect }: Options, overhear: Overhear) => {
  let taps: ReadonlyArray<Listening> = []
  let isClosed = false
  /** The copy of the frame that taps are lent, so that a tap that writes into it changes nothing for others. */
  let copy = Frame.make(8000)

  const change = (next: ReadonlyArray<Listening>): void => {
    taps = next
    overhear(taps.some(({ tap }) => tap.arrived !== undefined) ? arrived : null)
  }
  const drop = (isGone: (listening: Listening) => boolean): void => {
    for (const listening of taps) if (isGone(listening)) listening.isOn = false
    change(taps.filter(({ isOn }) => isOn))
  }

  /** Does nothing for a tap that was removed, or whose leg was closed, during its callback: it has had its end. */
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
    /** Removes a tap at its own request, without `ended`. */
    remove: (tap: Tap): void => drop((listening) => listening.tap === tap),
    give: (track: Track, frame: Frame.Frame, at: number): void => {
      // A tap that is added during this loop begins with the next frame.
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
