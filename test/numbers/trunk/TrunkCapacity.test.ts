import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { defaultSettings, limitsOf, type RouteRow } from "../../../src/numbers/trunk/ConnectionView.ts"
import * as TrunkCapacity from "../../../src/numbers/trunk/TrunkCapacity.ts"
import * as Ids from "../../support/Ids.ts"
import * as Random from "../../support/Random.ts"

const routeId = Ids.route("r")
const call = (name: string, direction: "inbound" | "outbound" = "outbound") => ({
  occupant: Ids.call(name),
  routeId,
  direction
})

describe("the room of a trunk (guide/connections.md#limits)", () => {
  it("has as many calls as its limit says, in both directions together, and room again when one leaves", () => {
    const capacity = TrunkCapacity.make()
    const settings = { ...defaultSettings, maxCalls: 2 }
    expect(capacity.enter(call("a"), settings, 0)).toBe("in")
    expect(capacity.enter(call("b", "inbound"), settings, 0)).toBe("in")
    expect(capacity.enter(call("b", "inbound"), settings, 0)).toBe("in")
    expect(capacity.enter(call("c"), settings, 0)).toBe("calls")
    capacity.leave(Ids.call("a"))
    capacity.leave(Ids.call("a"))
    expect(capacity.count(routeId)).toBe(1)
    expect(capacity.enter(call("c"), settings, 0)).toBe("in")
  })

  it("lets a second's worth of calls in at once and then one after the other, each direction by itself", () => {
    const capacity = TrunkCapacity.make()
    const settings = { ...defaultSettings, outboundCps: 3, inboundCps: 1 }
    const seen = [0, 0, 0, 0, 333, 334, 334, 1_000].map((now, at) => capacity.enter(call(`o${at}`), settings, now))
    expect(seen).toEqual(["in", "in", "in", "rate", "rate", "in", "rate", "in"])
    expect([0, 0, 1_000].map((now, at) => capacity.enter(call(`i${at}`, "inbound"), settings, now))).toEqual([
      "in",
      "rate",
      "in"
    ])
  })

  it("counts the calls that an earlier process let in, whatever the limit is now", () => {
    const capacity = TrunkCapacity.make()
    capacity.resume(Ids.call("a"), routeId)
    capacity.resume(Ids.call("a"), routeId)
    expect(capacity.enter(call("b"), { ...defaultSettings, maxCalls: 1 }, 0)).toBe("calls")
  })

  it("bounds what a SIP trunk places where the operator set nothing, and nothing of what we place or simulate", () => {
    const row = (settings: Partial<RouteRow>): RouteRow => ({
      ...defaultSettings,
      id: routeId,
      tenantId: Ids.tenant("t"),
      name: "r",
      isDefault: true,
      status: "active",
      createdAt: 0,
      adapter: "sip",
      host: "192.0.2.1",
      port: 5060,
      username: null,
      password: null,
      numberPlan: null,
      ...settings
    })
    const letIn = (settings: Partial<RouteRow>, direction: "inbound" | "outbound", apartMs: number) => {
      const capacity = TrunkCapacity.make()
      const limits = limitsOf(row(settings), direction)
      return Array.from({ length: 5_000 }, (_, n) =>
        capacity.enter(call(`${n}`, direction), limits, n * apartMs)
      ).filter((outcome) => outcome === "in").length
    }
    expect(letIn({}, "inbound", 0)).toBe(100)
    expect(letIn({}, "inbound", 10)).toBe(1_000)
    expect(letIn({ inboundCps: 10_000, maxCalls: 100_000 }, "inbound", 1)).toBe(5_000)
    expect(letIn({}, "outbound", 0)).toBe(5_000)
    expect(letIn({ adapter: "simulator" }, "inbound", 0)).toBe(5_000)
  })

  it.prop("never lets in more than the limits, and forgets everybody who left", { seed: Schema.Int }, ({ seed }) => {
    const random = Random.make(seed)
    const capacity = TrunkCapacity.make()
    const settings = { ...defaultSettings, maxCalls: 1 + random.below(5), outboundCps: 1 + random.below(20) }
    const inside = new Set<string>()
    const entered: Array<number> = []
    let now = 0
    for (let step = 0; step < 150; step++) {
      now += random.below(200)
      if (random.below(3) > 0) {
        if (capacity.enter(call(`c${step}`), settings, now) === "in") {
          inside.add(`c${step}`)
          entered.push(now)
        }
      } else {
        const [first] = inside
        if (first !== undefined) capacity.leave(Ids.call(first))
        if (first !== undefined) inside.delete(first)
      }
      expect(inside.size).toBeLessThanOrEqual(settings.maxCalls)
      expect(capacity.count(routeId)).toBe(inside.size)
    }
    // A second admits its rate plus the content of the bucket before it.
    for (const from of entered) {
      const within = entered.filter((at) => at >= from && at < from + 1_000).length
      expect(within).toBeLessThanOrEqual(2 * settings.outboundCps)
    }
    for (const each of inside) capacity.leave(Ids.call(each))
    expect(capacity.counts().size).toBe(0)
  })
})
