import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as TelephoneEvent from "../../../src/protocol/rtp/TelephoneEvent.ts"
import { random } from "./RandomBytes.ts"

interface Sent {
  readonly at: number
  readonly ssrc: number
  readonly timestamp: number
  readonly marker: boolean
  readonly payload: Uint8Array
}

/** Packets of digits, each of `durationMs` with 100 ms between them. */
const dial = (digits: string, durationMs: number): Array<Sent> =>
  digits.split("").flatMap((digit, i) => {
    const start = i * (durationMs + 100)
    return TelephoneEvent.train(digit, durationMs, 8000).map(({ marker, offsetMs, payload, timestampOffset }) => ({
      at: start + offsetMs,
      ssrc: 7,
      timestamp: (0xffff_f000 + start * 8 + timestampOffset) >>> 0,
      marker,
      payload
    }))
  })

const hear = (packets: ReadonlyArray<Sent>) => {
  const receiver = TelephoneEvent.receiver()
  return packets.map((packet) => receiver.receive(packet, packet.at) ?? "").join("")
}

describe("Telephone events, RFC 4733", () => {
  it("writes four octets and reads them", () => {
    const event = { event: 11, end: true, volume: 63, duration: 65_535 }
    expect(TelephoneEvent.write(event)).toStrictEqual(Uint8Array.of(11, 0xbf, 0xff, 0xff))
    expect(TelephoneEvent.parse(TelephoneEvent.write(event))).toStrictEqual(Result.succeed(event))
    expect(Result.isFailure(TelephoneEvent.parse(Uint8Array.of(1, 2, 3)))).toBe(true)
  })

  it("sends growing durations, one marker and three ends", () => {
    const train = TelephoneEvent.train("#", 100, 8000)
    const payloads = train.map(({ payload }) => Result.getOrThrow(TelephoneEvent.parse(payload)))
    expect(payloads.map(({ duration }) => duration)).toStrictEqual([160, 320, 480, 640, 800, 800, 800])
    expect(payloads.map(({ end }) => end)).toStrictEqual([false, false, false, false, true, true, true])
    expect(train.map(({ marker }) => marker)).toStrictEqual([true, false, false, false, false, false, false])
    expect(train.map(({ offsetMs }) => offsetMs)).toStrictEqual([0, 20, 40, 60, 80, 100, 120])
    expect(payloads.every(({ event }) => event === 11)).toBe(true)
  })

  it("counts durations at the rate of the events where the stream has another one", () => {
    const durations = TelephoneEvent.train("1", 60, 48_000, 8000).map(({ payload, timestampOffset }) => {
      const event = TelephoneEvent.parse(payload)
      return [Result.isSuccess(event) ? event.success.duration : null, timestampOffset]
    })
    expect(durations).toStrictEqual([160, 320, 480, 480, 480].map((duration) => [duration, 0]))
    const [, segment] = new Set(TelephoneEvent.train("1", 9000, 48_000, 8000).map((each) => each.timestampOffset))
    expect(segment).toBe(0xffff * 6)
  })

  it("sends nothing for what is no digit", () => expect(TelephoneEvent.train("x", 100, 8000)).toStrictEqual([]))

  it("hears all sixteen digits once each, repeated ones too", () => {
    expect(hear(dial("0123456789*#ABCD5555", 100))).toBe("0123456789*#ABCD5555")
  })

  it("hears a digit once when its start or its ends are lost", () => {
    const packets = dial("1123", 60)
    expect(hear(packets.filter(({ marker }) => !marker))).toBe("1123")
    expect(hear(packets.filter(({ payload }) => ((payload[1] ?? 0) & 0x80) === 0))).toBe("1123")
    expect(hear(packets.filter((_, i) => i % 5 === 4))).toBe("1123")
  })

  it("hears a digit once when packets are doubled or swapped", () => {
    const packets = dial("77*", 80)
    expect(hear(packets.flatMap((packet) => [packet, packet]))).toBe("77*")
    const swapped = packets.map((packet, i) => packets[i % 2 === 0 ? i + 1 : i - 1] ?? packet)
    expect(hear(swapped)).toBe("77*")
    // The end of the first digit comes after the start of the second.
    const late = packets.filter((_, i) => i !== 5)
    expect(hear([...late.slice(0, 8), ...packets.slice(5, 6), ...late.slice(8)])).toBe("77*")
  })

  it("hears a digit of twenty seconds once, over its segments", () => {
    const packets = dial("5", 20_000)
    expect(new Set(packets.map(({ timestamp }) => timestamp)).size).toBe(3)
    expect(hear(packets)).toBe("5")
  })

  it("hears a digit once from a sender that lets the timestamp run", () => {
    const packets = dial("88", 100).map((packet) => {
      const { duration } = Result.getOrThrow(TelephoneEvent.parse(packet.payload))
      return { ...packet, timestamp: (packet.timestamp + duration) >>> 0 }
    })
    expect(hear(packets)).toBe("88")
  })

  /** The packets of digits, each changed by its event and its place among the ends (0 to 2; -1 before them). */
  const changed = (digits: string, change: (packet: Sent, duration: number, end: number) => Sent) => {
    let end = -1
    return dial(digits, 100).map((packet) => {
      const event = Result.getOrThrow(TelephoneEvent.parse(packet.payload))
      end = event.end ? end + 1 : -1
      return change(packet, event.duration, end)
    })
  }
  const later = (packet: Sent, units: number): Sent => ({ ...packet, timestamp: (packet.timestamp + units) >>> 0 })
  const duration = (packet: Sent, units: number): Sent => {
    const { payload } = packet
    return { ...packet, payload: Uint8Array.of(payload[0] ?? 0, payload[1] ?? 0, units >> 8, units & 0xff) }
  }
  const oddSenders: ReadonlyArray<readonly [string, (digits: string) => Array<Sent>]> = [
    [
      "that gives each end a new timestamp",
      (digits) => changed(digits, (p, _, end) => later(p, Math.max(0, end) * 160))
    ],
    ["whose first end has a new timestamp, too", (digits) => changed(digits, (p, _, end) => later(p, (end + 1) * 160))],
    [
      "whose ends still grow",
      (digits) => changed(digits, (p, d, end) => duration(later(p, Math.max(0, end) * 160), d + Math.max(0, end) * 160))
    ],
    [
      "whose timestamp runs on through the ends",
      (digits) => changed(digits, (p, d, end) => later(p, d + Math.max(0, end) * 160))
    ],
    [
      "whose timestamp runs, and whose durations are all the same",
      (digits) => changed(digits, (p, d, end) => duration(later(p, d + Math.max(0, end) * 160), 160))
    ]
  ]

  it.each(oddSenders)("hears one digit for one press from a sender %s", (_, dialled) => {
    expect(hear(dialled("1234"))).toBe("1234")
    expect(hear(dialled("5555"))).toBe("5555")
    // The ends are late by different times, or come all at once.
    const jittered = (ms: number) => dialled("1223").map((each, i) => ({ ...each, at: each.at + (i % 3) * ms }))
    expect(hear(jittered(45))).toBe("1223")
    expect(hear(dialled("12").map((each) => ({ ...each, at: 5 })))).toBe("12")
  })

  it.each(oddSenders)("gives all packets of a press its first timestamp, from a sender %s", (_, dialled) => {
    const receiver = TelephoneEvent.receiver()
    const packets = dialled("11")
    const swapped = packets.map((packet, i) => (i % 7 === 5 ? packets[i + 1] : i % 7 === 6 ? packets[i - 1] : packet))
    for (const order of [packets, swapped.flatMap((packet) => packet ?? [])]) {
      const timestamps = order.map((packet) => {
        receiver.receive({ ...packet, ssrc: order === packets ? 1 : 2 }, packet.at)
        return receiver.eventTimestamp()
      })
      const [first, second] = [packets[0]?.timestamp, packets[7]?.timestamp]
      expect(timestamps).toEqual(packets.map((_, i) => (i < 7 ? first : second)))
    }
  })

  it("gives all segments of a press its first timestamp as that of the press, reordered packets included", () => {
    const receiver = TelephoneEvent.receiver()
    const packets = dial("55", 18_000)
    const half = packets.length / 2
    const swapped = packets.map((packet, i) => packets[i % 2 === 0 ? i + 1 : i - 1] ?? packet)
    const timestamps = swapped.map((packet) => {
      receiver.receive(packet, packet.at)
      return receiver.pressTimestamp()
    })
    expect(timestamps).toEqual(swapped.map((packet) => packets[packets.indexOf(packet) < half ? 0 : half]?.timestamp))
  })

  it("says of each packet after the first of a digit that the key is held, and of no other event", () => {
    const receiver = TelephoneEvent.receiver()
    const isHeld = (packet: Sent) => {
      receiver.receive(packet, packet.at)
      return receiver.isHeld()
    }
    const packets = dial("55", 18_000)
    expect(packets.map(isHeld)).toEqual(packets.map(({ marker }) => !marker))
    const flash = TelephoneEvent.write({ event: 16, end: false, volume: 10, duration: 160 })
    const flashes = [0, 20, 40].map((at) => ({ at, ssrc: 7, timestamp: 99, marker: at === 0, payload: flash }))
    expect(flashes.map(isHeld)).toEqual([false, false, false])
  })

  it("leaves a packet that cannot be read its own timestamp", () => {
    const receiver = TelephoneEvent.receiver()
    for (const packet of dial("1", 100)) receiver.receive({ ...packet, ssrc: 1 }, packet.at)
    receiver.receive({ ssrc: 1, timestamp: 77_777, marker: false, payload: Uint8Array.of(1, 0) }, 500)
    expect(receiver.eventTimestamp()).toBe(77_777)
  })

  it("takes an end with a new timestamp for a press of its own after a pause, or of another key", () => {
    const press = (at: number, event: number, units: number): Sent => ({
      at,
      ssrc: 7,
      timestamp: at * 8,
      marker: false,
      payload: TelephoneEvent.write({ event, end: true, volume: 10, duration: units })
    })
    expect(hear([press(0, 1, 800), press(61, 1, 800)])).toBe("11")
    expect(hear([press(0, 1, 800), press(60, 1, 800)])).toBe("1")
    expect(hear([press(0, 1, 800), press(20, 2, 800)])).toBe("12")
    expect(hear([press(0, 1, 800), press(20, 1, 640)])).toBe("11")
    expect(hear([press(0, 1, 800), { ...press(20, 1, 800), marker: true }])).toBe("11")
  })

  it("hears the digits of another source anew", () => {
    const packets = dial("4", 100)
    expect(hear([...packets, ...packets.map((packet) => ({ ...packet, ssrc: 8 }))])).toBe("44")
  })

  it("ignores tones that are no digit", () => {
    const payload = TelephoneEvent.write({ event: 36, end: false, volume: 10, duration: 160 })
    expect(hear([{ at: 0, ssrc: 1, timestamp: 0, marker: true, payload }])).toBe("")
  })

  it("never throws on random payloads", () => {
    const next = random(3)
    const receiver = TelephoneEvent.receiver()
    for (let i = 0; i < 10_000; i++) {
      const payload = Uint8Array.from({ length: Math.floor(next() * 8) }, () => Math.floor(next() * 256))
      const timestamp = Math.floor(next() * 2 ** 32)
      receiver.receive({ ssrc: 1, timestamp, marker: next() < 0.5, payload }, i)
    }
  })
})
