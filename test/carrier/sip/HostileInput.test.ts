import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import type { SipMessage } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as Netem from "../../support/network/Netem.ts"
import * as Rig from "./Rig.ts"

const base = {
  uri: "sip:+12025550150@192.0.2.1",
  sentBy: "192.0.2.2:5062",
  branch: "z9hG4bKhostile",
  from: "<sip:+4930123456@192.0.2.2>;tag=bob",
  to: "<sip:+12025550150@192.0.2.1>",
  callId: "hostile",
  cseq: 1,
  contact: "<sip:bob@192.0.2.2:5062>"
}

/** Changes, removes, doubles or moves one byte or a stretch of them. */
const mutated = (bytes: Uint8Array, random: () => number): Uint8Array => {
  const pick = (below: number) => Math.floor(random() * below)
  const out = [...bytes]
  for (let times = 1 + pick(4); times > 0; times--) {
    const at = pick(out.length)
    const length = 1 + pick(12)
    switch (pick(4)) {
      case 0:
        out[at] = pick(256)
        break
      case 1:
        out.splice(at, length)
        break
      case 2:
        out.splice(at, 0, ...out.slice(at, at + length))
        break
      case 3:
        out.splice(pick(out.length), 0, ...out.splice(at, length))
    }
  }
  return Uint8Array.from(out)
}

describe("the SIP port", () => {
  it.effect("outlives 10,000 random and mutated datagrams, and still takes a call", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("hostile")
      yield* rig.command(Rig.dial)
      const dialled = Rig.requestOf(rig.sent(), "INVITE")
      const invite = Requests.make({ ...base, method: "INVITE", body: Rig.sdpBody() })
      const samples: ReadonlyArray<SipMessage> = [
        invite,
        Requests.cancel(invite),
        Requests.make({ ...base, method: "BYE", to: `${base.to};tag=x` }),
        Requests.make({ ...base, method: "OPTIONS" }),
        Requests.make({ ...base, method: "ACK" }),
        Rig.reply(dialled, 180),
        Rig.reply(dialled, 183, { body: Rig.sdpBody() }),
        Rig.reply(dialled, 200, { body: Rig.sdpBody() })
      ]
      const written = samples.map(SipWriter.write)
      const random = Netem.random(4)
      for (let round = 0; round < 10_000; round++) {
        const sample = written[Math.floor(random() * written.length)] ?? new Uint8Array()
        const bytes =
          round % 4 === 0
            ? Uint8Array.from({ length: Math.floor(random() * 600) }, () => Math.floor(random() * 256))
            : mutated(sample, random)
        rig.deliverBytes(bytes)
        if (round % 500 === 0) yield* Rig.pass(1_000)
      }
      yield* Rig.pass(120_000)
      expect(yield* rig.stats).toMatchObject({ faults: 0, received: 10_000 })
      rig.sent()
      yield* rig.deliver(Requests.make({ ...base, method: "OPTIONS", branch: "z9hG4bKafter", callId: "after" }))
      expect(Rig.names(rig.sent())).toEqual(["200"])
    })
  )

  it.effect("keeps its legs and transactions within their bounds under a flood of calls", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("flood")
      const peers = Array.from({ length: 20 }, (_, at) => ({ address: `192.0.2.${100 + at}`, port: 5062 }))
      yield* rig.know(peers.map(({ address }) => address))
      for (let call = 0; call < 20_000; call++)
        rig.deliverBytes(
          SipWriter.write(
            Requests.make({
              ...base,
              method: "INVITE",
              branch: `z9hG4bKf${call}`,
              callId: `f${call}`,
              body: Rig.sdpBody()
            })
          ),
          peers[Math.floor(call / 1_000)]
        )
      const stats = yield* rig.stats
      expect(stats.legs).toBeGreaterThan(4_900)
      expect(stats.legs).toBeLessThanOrEqual(5_000)
      expect(stats.transactions).toBeLessThanOrEqual(40_000)
      expect(Rig.names(rig.sent()).filter((name) => name === "503")).toHaveLength(20_000 - stats.legs)
    })
  )
})
