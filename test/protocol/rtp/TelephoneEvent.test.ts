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
