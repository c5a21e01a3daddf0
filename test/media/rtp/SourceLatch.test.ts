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

  it.each([
    ["that skip a number", translated, 4, 1],
    ["that come twice", translated, 2, 1],
    ["of several streams", translated, 3, 2],
    ["of several ports", { ...translated, port: 7 }, 3, 1],
    ["of several hosts", { ...announced, port: translated.port }, 3, 1]
  ] as const)("does not learn from three packets %s", (_, from, n, ssrc) => {
    const latch = SourceLatch.make(announced)
    for (const first of [1, 2]) expect(latch.accept(translated, packet(first), 0)).toBe(false)
    expect(latch.accept(from, packet(n, ssrc), 0)).toBe(false)
    expect(latch.remote()).toEqual(announced)
    expect(latch.accept(announced, packet(9), 0)).toBe(true)
  })

  it("keeps to a source that is heard, whatever other ports of its host send between its packets", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    const beside = { ...translated, port: 666 }
    let sequenceNumber = 0
    for (let now = 20; now < 600_000; now += 1900) {
      for (let n = 0; n < 5; n++) expect(latch.accept(beside, packet(sequenceNumber++), now - 1)).toBe(false)
      expect(latch.accept(translated, packet(now), now)).toBe(true)
    }
    expect(latch.remote()).toEqual(translated)
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

  it("learns at once behind another announcement, and counts only packets behind it", () => {
    const latch = SourceLatch.make(announced)
    expect(latch.accept(announced, packet(1), 10)).toBe(true)
    latch.announce({ ...announced, port: 5000 })
    for (let n = 1; n <= 2; n++) expect(latch.accept(translated, packet(n), 20)).toBe(false)
    latch.announce({ ...announced, port: 6000 })
    for (let n = 3; n <= 4; n++) expect(latch.accept(translated, packet(n), 20)).toBe(false)
    expect(latch.accept(translated, packet(5), 20)).toBe(true)
  })

  it("keeps believing the host that it learned when the signalling comes from elsewhere", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    latch.announce({ ...announced, signallingAddress: null })
    expect(latch.acceptsControl(translated)).toBe(true)
    const moved = { ...translated, port: 62_000 }
    for (let n = 1; n <= 3; n++) latch.accept(moved, packet(n), 10_000)
    expect(latch.remote()).toEqual(moved)
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
