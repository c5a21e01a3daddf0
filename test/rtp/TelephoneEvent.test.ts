import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as TelephoneEvent from "../../src/rtp/TelephoneEvent.ts"
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
    assert.deepStrictEqual(TelephoneEvent.write(event), Uint8Array.of(11, 0xbf, 0xff, 0xff))
    assert.deepStrictEqual(TelephoneEvent.parse(TelephoneEvent.write(event)), Result.succeed(event))
    assert.isTrue(Result.isFailure(TelephoneEvent.parse(Uint8Array.of(1, 2, 3))))
  })

  it("sends growing durations, one marker and three ends", () => {
    const train = TelephoneEvent.train("#", 100, 8000)
    const payloads = train.map(({ payload }) => Result.getOrThrow(TelephoneEvent.parse(payload)))
    assert.deepStrictEqual(
      payloads.map(({ duration }) => duration),
      [160, 320, 480, 640, 800, 800, 800]
    )
    assert.deepStrictEqual(
      payloads.map(({ end }) => end),
      [false, false, false, false, true, true, true]
    )
    assert.deepStrictEqual(
      train.map(({ marker }) => marker),
      [true, false, false, false, false, false, false]
    )
    assert.deepStrictEqual(
      train.map(({ offsetMs }) => offsetMs),
      [0, 20, 40, 60, 80, 100, 120]
    )
    assert.isTrue(payloads.every(({ event }) => event === 11))
  })

  it("sends nothing for what is no digit", () => assert.deepStrictEqual(TelephoneEvent.train("x", 100, 8000), []))

  it("hears all sixteen digits once each, repeated ones too", () => {
    assert.strictEqual(hear(dial("0123456789*#ABCD5555", 100)), "0123456789*#ABCD5555")
  })

  it("hears a digit once when its start or its ends are lost", () => {
    const packets = dial("1123", 60)
    assert.strictEqual(hear(packets.filter(({ marker }) => !marker)), "1123")
    assert.strictEqual(hear(packets.filter(({ payload }) => ((payload[1] ?? 0) & 0x80) === 0)), "1123")
    assert.strictEqual(hear(packets.filter((_, i) => i % 5 === 4)), "1123")
  })

  it("hears a digit once when packets are doubled or swapped", () => {
    const packets = dial("77*", 80)
    assert.strictEqual(hear(packets.flatMap((packet) => [packet, packet])), "77*")
    const swapped = packets.map((packet, i) => packets[i % 2 === 0 ? i + 1 : i - 1] ?? packet)
    assert.strictEqual(hear(swapped), "77*")
    // The end of the first digit comes behind the start of the second.
    const late = packets.filter((_, i) => i !== 5)
    assert.strictEqual(hear([...late.slice(0, 8), ...packets.slice(5, 6), ...late.slice(8)]), "77*")
  })

  it("hears a digit of twenty seconds once, over its segments", () => {
    const packets = dial("5", 20_000)
    assert.strictEqual(new Set(packets.map(({ timestamp }) => timestamp)).size, 3)
    assert.strictEqual(hear(packets), "5")
  })

  it("hears a digit once from a sender that lets the timestamp run", () => {
    const packets = dial("88", 100).map((packet) => {
      const { duration } = Result.getOrThrow(TelephoneEvent.parse(packet.payload))
      return { ...packet, timestamp: (packet.timestamp + duration) >>> 0 }
    })
    assert.strictEqual(hear(packets), "88")
  })

  it("hears the digits of another source anew", () => {
    const packets = dial("4", 100)
    assert.strictEqual(hear([...packets, ...packets.map((packet) => ({ ...packet, ssrc: 8 }))]), "44")
  })

  it("ignores tones that are no digit", () => {
    const payload = TelephoneEvent.write({ event: 36, end: false, volume: 10, duration: 160 })
    assert.strictEqual(hear([{ at: 0, ssrc: 1, timestamp: 0, marker: true, payload }]), "")
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
