import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Qualification from "../../../../src/carrier/sip/trunk/Qualification.ts"
import { header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

describe("what a trunk answers to OPTIONS (guide/connections.md#is-it-there)", () => {
  const after = (...statuses: ReadonlyArray<number | null>) =>
    statuses.reduce(
      (state, status, at) => Qualification.step(state, { status, rttMs: 7 }, at + 1),
      Qualification.start(0)
    )

  for (const status of [200, 401, 404, 405, 407, 481, 486, 500, 603])
    it(`shows that it is there: ${status}`, () =>
      expect(after(status)).toMatchObject({ state: "reachable", lastStatus: status, rttMs: 7 }))

  for (const status of [null, 408, 503])
    it(`shows that it is away, when it is said twice: ${status ?? "nothing"}`, () => {
      expect(after(status)).toMatchObject({ state: "unknown", lastStatus: status })
      expect(after(200, status)).toMatchObject({ state: "reachable", since: 1 })
      expect(after(200, status, status)).toMatchObject({ state: "unreachable", since: 3, lastStatus: status })
      expect(after(200, status, 200, status)).toMatchObject({ state: "reachable", since: 1 })
      expect(after(status, status, 404)).toMatchObject({ state: "reachable", since: 3 })
    })
})

describe("a trunk", () => {
  const other = { ...Rig.trunk, routeId: Ids.route("svc_route_2") }

  it.effect("is asked by OPTIONS soon and again about every half minute, once for all routes to it", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("qualified")
      rig.qualified = [Rig.trunk, other]
      yield* Rig.pass(7_000)
      const sent = rig.sent()
      expect(new Set(Rig.names(sent))).toEqual(new Set(["OPTIONS"]))
      // The first request is repeated until there is an answer.
      expect(new Set(sent.map(({ message }) => header(message, "Via"))).size).toBe(1)
      const question = Rig.requestOf(sent, "OPTIONS")
      expect(question.uri).toBe("sip:192.0.2.2:5062")
      expect(header(question, "Contact")).toBe("<sip:192.0.2.1:5060>")
      expect(rig.states.of(Rig.trunk.routeId)).toMatchObject({ state: "unknown" })
      yield* Rig.pass(0)
      yield* rig.deliver(Rig.reply(question, 401))
      expect(rig.states.of(Rig.trunk.routeId)).toMatchObject({ state: "reachable", lastStatus: 401 })
      expect(rig.states.of(other.routeId)).toMatchObject({ state: "reachable" })
      const asked: Array<number> = []
      for (let second = 1; second <= 200; second++) {
        yield* Rig.pass(1_000)
        const [first] = rig.sent()
        if (first?.message.type !== "request") continue
        asked.push(second)
        yield* rig.deliver(Rig.reply(first.message, 200))
      }
      const waits = asked.map((second, at) => second - (asked[at - 1] ?? 0)).slice(1)
      expect(waits.length).toBeGreaterThan(4)
      for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(22)
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(39)
      expect(new Set(waits).size).toBeGreaterThan(1)
    })
  )

  it.effect(
    "is unreachable when it answers nothing, a call to it is tried all the same, and it is forgotten with its route",
    () =>
      Effect.gen(function* () {
        const rig = yield* Rig.make("silent")
        rig.qualified = [Rig.trunk]
        yield* Rig.pass(20_000)
        expect(rig.states.of(Rig.trunk.routeId)).toMatchObject({ state: "unknown", lastStatus: null })
        yield* Rig.pass(50_000)
        expect(rig.states.of(Rig.trunk.routeId)).toMatchObject({ state: "unreachable" })
        rig.sent()
        yield* rig.command(Rig.dial)
        expect(Rig.names(rig.sent())).toContain("INVITE")
        rig.qualified = []
        yield* Rig.pass(6_000)
        expect(rig.states.of(Rig.trunk.routeId)).toBe(null)
        rig.sent()
        yield* Rig.pass(120_000)
        expect(Rig.names(rig.sent()).filter((name) => name === "OPTIONS")).toEqual([])
      })
  )
})
