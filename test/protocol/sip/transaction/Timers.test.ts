import { expect, it } from "@effect/vitest"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Timers from "../../../../src/protocol/sip/transaction/Timers.ts"

it("has the values of RFC 3261 table 4 over UDP", () => {
  expect(Timers.udp).toEqual({
    t1: 500,
    t2: 4_000,
    t4: 5_000,
    a: 500,
    b: 32_000,
    c: 180_001,
    d: 32_000,
    e: 500,
    f: 32_000,
    g: 500,
    h: 32_000,
    i: 5_000,
    j: 32_000,
    k: 5_000,
    l: 32_000,
    m: 32_000,
    trying: 200
  })
})

it("runs no timer of RFC 3261 table 4 that repeats or absorbs over a reliable transport", () => {
  const { t1, t2, t4, ...reliable } = Timers.reliable
  expect([t1, t2, t4]).toEqual([500, 4_000, 5_000])
  expect(reliable).toEqual({
    a: Infinity,
    b: 32_000,
    c: 180_001,
    d: 0,
    e: Infinity,
    f: 32_000,
    g: Infinity,
    h: 32_000,
    i: 0,
    j: 0,
    k: 0,
    l: 32_000,
    m: 32_000,
    trying: 200
  })
})

it.each(["udp", "tcp", "tls", "ws", "wss"] as const)("takes the timers of %s from the flow", (transport) => {
  const flow = { ...SipSample.flow({ address: "192.0.2.2", port: 5060 }), transport }
  expect(Timers.on(flow)).toBe(transport === "udp" ? Timers.udp : Timers.reliable)
})

it("derives from T1 and T4, keeps Timer D at 32 s or more, and lets one timer be named", () => {
  expect(Timers.make({ t1: 100, t4: 1_000, h: 7 })).toMatchObject({ a: 100, b: 6_400, d: 32_000, h: 7, k: 1_000 })
})

it("never retransmits without a pause", () => {
  expect(Timers.make({ t1: 0, t2: 0, e: 0 })).toMatchObject({ t1: 1, t2: 1, a: 1, e: 1, g: 1 })
})
