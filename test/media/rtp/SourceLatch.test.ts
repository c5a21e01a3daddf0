import { describe, expect, it } from "@effect/vitest"
import * as SourceLatch from "../../../src/media/rtp/SourceLatch.ts"

const signallingAddress = "198.51.100.7"
const announced = { address: "192.0.2.1", port: 4000, signallingAddress }
const translated = { address: signallingAddress, port: 61_000 }
const stranger = { address: "203.0.113.9", port: 666 }
const packet = (sequenceNumber: number, ssrc = 1) => ({ sequenceNumber, ssrc })

describe("Symmetric RTP", () => {
  it("believes the announced address at its first packet", () => {
    const latch = SourceLatch.make(announced)
    expect(latch.accept({ ...announced }, packet(1), 0)).toBe(true)
    expect(latch.isTranslated()).toBe(false)
  })

  it.each([
    ["the signalling host", translated],
    ["another port of the announced host", { address: announced.address, port: 4010 }]
  ])("learns %s after three packets in a row", (_, from) => {
    const latch = SourceLatch.make(announced)
    expect([1, 2, 3].map((n) => latch.accept(from, packet(n), n))).toEqual([false, false, true])
    expect(latch.remote()).toEqual(from)
    expect(latch.isTranslated()).toBe(true)
  })

  it("never learns from another host: neither at first nor after any silence, nor with the SSRC of the peer", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 0; n < 10; n++) expect(latch.accept(stranger, packet(n), n)).toBe(false)
    latch.accept(announced, packet(1), 20)
    for (let n = 2; n < 12; n++) expect(latch.accept(stranger, packet(n), 60_000 + n)).toBe(false)
    expect(latch.remote()).toEqual(announced)
    expect(latch.strangers()).toBe(20)
  })

  it("believes the announced host alone while the signalling host is not known", () => {
    const latch = SourceLatch.make({ ...announced, signallingAddress: null })
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    expect(latch.strangers()).toBe(3)
    expect(latch.remote()).toMatchObject({ address: announced.address, port: announced.port })
  })

  it("does not learn from packets that are not in a row, or of several streams or ports", () => {
    const latch = SourceLatch.make(announced)
    const tries = [
      latch.accept(translated, packet(1), 0),
      latch.accept(translated, packet(3), 0),
      latch.accept(translated, packet(4, 2), 0),
      latch.accept({ ...translated, port: 7 }, packet(5, 2), 0),
      latch.accept(translated, packet(6, 2), 0)
    ]
    expect(tries).not.toContain(true)
    expect(latch.accept(announced, packet(9), 0)).toBe(true)
  })

  it("learns anew after 2 s of silence, not before", () => {
    const latch = SourceLatch.make(announced)
    latch.accept(announced, packet(1), 0)
    const later = SourceLatch.relearnAfterMs
    for (let n = 1; n <= 10; n++) expect(latch.accept(translated, packet(n, 8), later - 1)).toBe(false)
    for (let n = 11; n <= 13; n++) latch.accept(translated, packet(n, 8), later)
    expect(latch.remote()).toEqual(translated)
  })

  it("goes back to the announced address whenever that is heard", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n, 7), n)
    expect(latch.accept(announced, packet(9), 5)).toBe(true)
    expect(latch.remote()).toEqual(announced)
    expect(latch.accept(translated, packet(4, 7), 6)).toBe(false)
  })

  it("begins anew with another announcement, not with the same one", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    latch.announce({ ...announced })
    expect(latch.remote()).toEqual(translated)
    const moved = { ...stranger, signallingAddress: null }
    latch.announce(moved)
    expect(latch.remote()).toEqual(moved)
    expect(latch.accept(translated, packet(4), 5)).toBe(false)
  })

  it("learns from the host of the signalling as the last description has it", () => {
    const latch = SourceLatch.make({ ...announced, signallingAddress: null })
    latch.announce(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    expect(latch.remote()).toEqual(translated)
  })

  it("takes control packets from the same hosts, with any port", () => {
    const latch = SourceLatch.make(announced)
    expect(latch.acceptsControl({ ...translated, port: 1 })).toBe(true)
    expect(latch.acceptsControl({ ...announced, port: 2 })).toBe(true)
    expect(latch.acceptsControl(stranger)).toBe(false)
    expect(latch.strangers()).toBe(1)
  })
})
