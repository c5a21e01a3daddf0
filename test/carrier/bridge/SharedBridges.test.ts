import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as Bridges from "../../../src/carrier/bridge/Bridges.ts"
import type { LegReport } from "../../../src/carrier/Carrier.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { SharedBridges } from "../../../src/carrier/bridge/SharedBridges.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"
import * as Ids from "../../support/Ids.ts"

/** A carrier whose legs talk, with a record of the legs' reports and the requests to its media. */
const makeCarrier = (...names: ReadonlyArray<string>) => {
  const legs = new Set<LegId>(names.map(Ids.leg))
  const told: Array<string> = []
  const tell = (legId: LegId) => (report: LegReport) => {
    const of = "peerLegId" in report ? ` ${report.peerLegId}` : "reason" in report ? ` ${report.reason}` : ""
    told.push(`${legId} ${report.type}${of}`)
  }
  const options: Bridges.Options = {
    legOf: (legId) => (legs.has(legId) ? { isTalking: () => true, tell: tell(legId) } : null),
    join: (legId, peerLegId, settled) => {
      told.push(`join ${legId} ${peerLegId}`)
      settled(null)
    },
    part: (legId) => void told.push(`part ${legId}`),
    leaveRoom: () => undefined
  }
  return { legs, told, options }
}
const bridge = (leg: string, peer: string) => ({
  type: "bridge" as const,
  commandId: Ids.command(`${leg} ${peer}`),
  callId: Ids.call(`call of ${leg}`),
  legId: Ids.leg(leg),
  peerLegId: Ids.leg(peer),
  peerCallId: Ids.call(`call of ${peer}`)
})

describe("Carriers whose legs stand in one media plane", () => {
  it.effect("have bridges in common: each tells of its own legs, and its media join them", () =>
    Effect.gen(function* () {
      const shared = yield* SharedBridges
      const plane = {}
      const [sip, simulator] = [makeCarrier("a"), makeCarrier("b", "c")]
      const [ofSip, ofSimulator] = [sip, simulator].map(({ options }) => shared.add(plane, options))
      ofSip?.bridge(bridge("a", "b"))
      expect([sip.told, simulator.told]).toStrictEqual([["join a b", "a bridged b"], ["b bridged a"]])
      expect(ofSimulator?.facts(Ids.leg("b")).bridge?.peerLegId).toBe("a")
      // The other carrier takes a leg of this bridge for a third one.
      ofSimulator?.bridge(bridge("c", "b"))
      expect(sip.told.at(-1)).toBe("a unbridged b")
      expect(simulator.told.slice(1)).toStrictEqual([
        "part b",
        "b unbridged a",
        "join c b",
        "c bridged b",
        "b bridged c"
      ])
      simulator.legs.delete(Ids.leg("b"))
      ofSimulator?.ended(Ids.leg("b"))
      expect(simulator.told.at(-1)).toBe("c unbridged b")
    }).pipe(Effect.provide(SharedBridges.layer))
  )

  it.effect("those of another plane are not found", () =>
    Effect.gen(function* () {
      const shared = yield* SharedBridges
      const [here, there] = [makeCarrier("a"), makeCarrier("b")]
      shared.add({}, there.options)
      shared.add({}, here.options).bridge(bridge("a", "b"))
      expect(here.told).toStrictEqual(["a command_failed unknown_leg"])
    }).pipe(Effect.provide(SharedBridges.layer))
  )

  it.effect("meet, as a carrier meets itself; those whose media are elsewhere meet nobody else", () =>
    Effect.gen(function* () {
      const carrier = yield* Carrier
      const plane = {}
      const adapter = Sample.adapter(() => Effect.void)
      yield* carrier.register("sip", { ...adapter, plane })
      yield* carrier.register("simulator", { ...adapter, plane })
      yield* carrier.register("remote", adapter)
      yield* carrier.register("another", adapter)
      const meet = ([one, other]: readonly [string, string]) => carrier.meet(one, other)
      expect(
        (
          [
            ["sip", "simulator"],
            ["remote", "remote"]
          ] as const
        ).map(meet)
      ).toStrictEqual([true, true])
      expect(
        (
          [
            ["sip", "remote"],
            ["remote", "another"],
            ["away", "sip"]
          ] as const
        ).map(meet)
      ).toStrictEqual([false, false, false])
    }).pipe(Effect.scoped, Effect.provide(Carrier.layer))
  )
})
