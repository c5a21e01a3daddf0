import { Result } from "effect"
import { timestampDistance } from "./SequenceNumber.ts"

/**
 * The payload of a named telephone event, RFC 4733 section 2.3.
 *
 * `duration` is in timestamp units since the event (or its present segment) began, at most 65535; `volume` in -dBm0, 0
 * to 63.
 */
interface TelephoneEvent {
  readonly event: number
  readonly end: boolean
  readonly volume: number
  readonly duration: number
}

/** The sixteen DTMF digits in the order of their event codes, section 3.2. */
const digits = "0123456789*#ABCD"

/** The digit of an event code, or `null` for a tone that is not a digit. */
const digitOf = (event: number): string | null => digits[event] ?? null

/** The event code of a digit, or `null`; lower-case letters count as upper-case ones. */
const eventOf = (digit: string): number | null => {
  const event = digit.length === 1 ? digits.indexOf(digit.toUpperCase()) : -1
  return event < 0 ? null : event
}

/** Reads the payload of a packet. Of several events, which section 2.5.1.5 forbids for tones, the first is read. */
export const parse = (payload: Uint8Array): Result.Result<TelephoneEvent, "too_short"> => {
  const [event, flags, high, low] = payload
  if (event === undefined || flags === undefined || high === undefined || low === undefined)
    return Result.fail("too_short")
  return Result.succeed({ event, end: (flags & 0x80) !== 0, volume: flags & 0x3f, duration: (high << 8) | low })
}

/** Four octets; the reserved bit is zero. */
export const write = ({ duration, end, event, volume }: TelephoneEvent): Uint8Array => {
  const cut = Math.min(0xffff, duration)
  return Uint8Array.of(event & 0xff, (end ? 0x80 : 0) | (volume & 0x3f), cut >> 8, cut & 0xff)
}

/** How long after its last packet an event may be continued under another timestamp; see `receiver`. */
const longestGapMs = 60
/** The same time in units of 8000 Hz. At a higher rate it is a shorter time, and mostly the arrival decides. */
const longestGapUnits = longestGapMs * 8
/** A step back by more clock units than this (10 s at 8000 Hz) means that the sender began a new timeline. */
const restartUnits = 10 * 8000

/**
 * Reads the digits from the event packets of a stream, each exactly once, and at its first packet that arrives.
 *
 * The timestamp identifies an event (section 2.5.1.2): repeated end packets, lost starts and lost ends need no special
 * case. A segment of a long event (section 2.5.1.3: no marker, beginning where the last one reached 65535) continues
 * the event. So does a packet of a sender that lets the timestamp run, during an event or in its repeated ends: same
 * code, no marker, no shorter duration, at most 60 ms later by its arrival or its timestamp, and an end if one was
 * seen. A press of the same key that follows begins with a marker, or without an end. Packets older than the present
 * event are ignored.
 */
export const receiver = () => {
  let ssrc = -1
  /** The newest timestamp, and the first of the present event or segment. */
  let timestamp = 0
  let startedAt = 0
  /** The first timestamp of the present event with all its segments. */
  let pressedAt = 0
  /** The timestamps of the event, or segment, and of the press that the last packet belongs to. */
  let belongsTo = 0
  let pressOf = 0
  let isHeld = false
  let current: TelephoneEvent | null = null
  let heardAt = 0

  const isSegment = (event: TelephoneEvent, marker: boolean, step: number): boolean =>
    step === 0xffff && !marker && current?.end === false && event.event === current.event

  const continues = (event: TelephoneEvent, marker: boolean, step: number, now: number): boolean =>
    step > 0 &&
    !marker &&
    event.event === current?.event &&
    (event.end || !current.end) &&
    event.duration >= current.duration &&
    (step <= longestGapUnits || now - heardAt <= longestGapMs)

  return {
    /** Returns the digit that begins with this packet, or `null`. `now` is in milliseconds. */
    receive(
      packet: {
        readonly ssrc: number
        readonly timestamp: number
        readonly marker: boolean
        readonly payload: Uint8Array
      },
      now: number
    ): string | null {
      belongsTo = packet.timestamp
      pressOf = packet.timestamp
      isHeld = false
      const parsed = parse(packet.payload)
      if (Result.isFailure(parsed)) return null
      const event = parsed.success
      let isNew = true
      if (current !== null && packet.ssrc === ssrc) {
        const step = timestampDistance(timestamp, packet.timestamp)
        if (step <= 0 && step > -restartUnits) {
          if (timestampDistance(startedAt, packet.timestamp) >= 0) belongsTo = startedAt
          if (timestampDistance(pressedAt, packet.timestamp) >= 0) pressOf = pressedAt
          if (step < 0) return null
        }
        if (step === 0) {
          // Reordered packets must not revoke an end that was seen, nor a duration.
          current = { ...current, end: current.end || event.end, duration: Math.max(current.duration, event.duration) }
          heardAt = now
          isHeld = digitOf(current.event) !== null
          return null
        }
        const isContinued = continues(event, packet.marker, step, now)
        isNew = !isContinued && !isSegment(event, packet.marker, step)
        if (isContinued) belongsTo = startedAt
        if (!isNew) pressOf = pressedAt
      }
      ssrc = packet.ssrc
      timestamp = packet.timestamp
      startedAt = belongsTo
      pressedAt = pressOf
      current = event
      heardAt = now
      const digit = digitOf(event.event)
      isHeld = !isNew && digit !== null
      return isNew ? digit : null
    },
    /** Whether the last packet was a further one of the digit that began last, repeated ends included. */
    isHeld: (): boolean => isHeld,
    /** As `eventTimestamp`, but all segments of a long event have that of its first one. */
    pressTimestamp: (): number => pressOf,
    /**
     * The timestamp that the last packet should have had, which all packets of its event share. It differs from the
     * packet's where a sender lets the timestamp run.
     */
    eventTimestamp: (): number => belongsTo
  }
}

/** One packet of a digit; `timestampOffset` is added to the timestamp at which the digit begins. */
export interface TrainPacket {
  /** When it is due, from the beginning of the digit. */
  readonly offsetMs: number
  readonly marker: boolean
  readonly timestampOffset: number
  readonly payload: Uint8Array
}

const packetMs = 20
const endPackets = 3
const defaultVolume = 10

/**
 * The packets of one digit in a stream of this clock rate, RFC 4733 section 2.5.1: one every 20 ms with growing
 * duration, the marker on the first, the end three times. An event longer than 65535 units, 8.19 s at 8000 Hz, is sent
 * in segments.
 *
 * `durationMs` is rounded up to whole packets. `eventRate` is the clock rate of durations, if the events were described
 * with another one than the stream's. Empty for a code that is not a digit.
 */
export const train = (
  digit: string,
  durationMs: number,
  clockRate: number,
  eventRate = clockRate
): ReadonlyArray<TrainPacket> => {
  const event = eventOf(digit)
  if (event === null) return []
  const steps = Math.max(1, Math.ceil(durationMs / packetMs))
  const packets: Array<TrainPacket> = []
  let segment = 0
  const add = (step: number, index: number, end: boolean) => {
    const reached = (step * packetMs * eventRate) / 1000
    if (reached - segment > 0xffff) segment += 0xffff
    packets.push({
      offsetMs: index * packetMs,
      marker: index === 0,
      timestampOffset: Math.round((segment * clockRate) / eventRate),
      payload: write({ event, end, volume: defaultVolume, duration: reached - segment })
    })
  }
  for (let step = 1; step < steps; step++) add(step, step - 1, false)
  for (let i = 0; i < endPackets; i++) add(steps, steps - 1 + i, true)
  return packets
}
