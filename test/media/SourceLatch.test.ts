import { assert, describe, expect, it } from "@effect/vitest"
import * as SourceLatch from "../../src/media/SourceLatch.ts"

const announced = { address: "192.0.2.1", port: 4000 }
const translated = { address: "198.51.100.7", port: 61_000 }
const stranger = { address: "203.0.113.9", port: 666 }
const packet = (sequenceNumber: number, ssrc = 1) => ({ sequenceNumber, ssrc })

describe("Symmetric RTP", () => {
  it("believes the announced address at its first packet", () => {
    const latch = SourceLatch.make(announced)
    assert.isTrue(latch.accept({ ...announced }, packet(1), 0))
    assert.isFalse(latch.isTranslated())
  })

  it("learns another address after three packets in a row", () => {
    const latch = SourceLatch.make(announced)
    assert.deepStrictEqual(
      [1, 2, 3].map((n) => latch.accept(translated, packet(n), n)),
      [false, false, true]
    )
    assert.deepStrictEqual(latch.remote(), translated)
    assert.isTrue(latch.isTranslated())
  })

  it("does not learn from packets that are not in a row, or of several streams or ports", () => {
    const latch = SourceLatch.make(announced)
    const tries = [
      latch.accept(stranger, packet(1), 0),
      latch.accept(stranger, packet(3), 0),
      latch.accept(stranger, packet(4, 2), 0),
      latch.accept({ ...stranger, port: 7 }, packet(5, 2), 0),
      latch.accept(stranger, packet(6, 2), 0)
    ]
    assert.notInclude(tries, true)
    assert.isTrue(latch.accept(announced, packet(9), 0))
  })

  it("drops and counts strangers once the peer is known", () => {
    const latch = SourceLatch.make(announced)
    latch.accept(announced, packet(1), 0)
    for (let n = 0; n < 10; n++) assert.isFalse(latch.accept(stranger, packet(n, 7), 100))
    assert.strictEqual(latch.strangers(), 10)
    assert.deepStrictEqual(latch.remote(), announced)
  })

  it("learns anew after 2 s of silence, but only the same host or the same stream", () => {
    const latch = SourceLatch.make(announced)
    latch.accept(announced, packet(1), 0)
    const later = SourceLatch.relearnAfterMs
    for (let n = 0; n < 10; n++) assert.isFalse(latch.accept(stranger, packet(n, 7), later))
    const sameHost = { ...announced, port: 4999 }
    assert.isFalse(latch.accept(sameHost, packet(1, 8), later - 1))
    for (let n = 1; n <= 3; n++) latch.accept(sameHost, packet(n, 8), later)
    assert.deepStrictEqual(latch.remote(), sameHost)
    for (let n = 50; n <= 52; n++) latch.accept(translated, packet(n, 8), 2 * later)
    assert.deepStrictEqual(latch.remote(), translated)
  })

  it("goes back to the announced address whenever that is heard", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(stranger, packet(n, 7), n)
    assert.isTrue(latch.accept(announced, packet(9), 5))
    assert.deepStrictEqual(latch.remote(), announced)
    assert.isFalse(latch.accept(stranger, packet(4, 7), 6))
  })

  it("begins anew with another announcement, not with the same one", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    latch.announce({ ...announced })
    assert.deepStrictEqual(latch.remote(), translated)
    latch.announce(stranger)
    assert.deepStrictEqual(latch.remote(), stranger)
    assert.isFalse(latch.accept(translated, packet(4), 5))
  })

  it("takes control packets from the hosts of the peer only", () => {
    const latch = SourceLatch.make(announced)
    for (let n = 1; n <= 3; n++) latch.accept(translated, packet(n), n)
    assert.isTrue(latch.acceptsControl({ ...translated, port: 1 }))
    assert.isTrue(latch.acceptsControl({ ...announced, port: 2 }))
    assert.isFalse(latch.acceptsControl(stranger))
  })

  it("keeps nothing of the address object that it is lent", () => {
    const latch = SourceLatch.make(announced)
    const lent = { address: "", port: 0 }
    const from = (address: typeof lent, n: number) => latch.accept(Object.assign(lent, address), packet(n), n)
    expect([from(stranger, 1), from(translated, 2), from(stranger, 3)]).toEqual([false, false, false])
    expect([from(translated, 4), from(translated, 5), from(translated, 6)]).toEqual([false, false, true])
    Object.assign(lent, stranger)
    expect(latch.remote()).toEqual(translated)
  })
})
