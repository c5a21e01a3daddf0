import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Bridges from "../../../src/carrier/bridge/Bridges.ts"
import type { LegReport } from "../../../src/carrier/Carrier.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"

const word = (report: LegReport): string => {
  switch (report.type) {
    case "bridged":
      return `bridged ${report.peerLegId}`
    case "unbridged":
      return `unbridged ${report.peerLegId}${report.peerEnded ? " ended" : ""}`
    case "command_failed":
      return `failed ${report.commandId} ${report.reason}`
    default:
      return report.type
  }
}

/** Bridges over media that answer when the test lets them. */
const make = () => {
  const told = new Map<LegId, Array<string>>()
  const gone = new Set<LegId>()
  const asked: Array<(refusal: string | null) => void> = []
  /** The joined legs in the media, which carry out their requests in order. */
  const media = new Map<LegId, LegId>()
  const part = (leg: LegId) => {
    const peer = media.get(leg)
    media.delete(leg)
    if (peer !== undefined) media.delete(peer)
  }
  const bridges = Bridges.make({
    legOf: (legId) => {
      if (gone.has(legId)) return null
      return {
        isTalking: () => true,
        tell: (report) => told.set(legId, [...(told.get(legId) ?? []), word(report)])
      }
    },
    join: (leg, peer, settled) => {
      const refusal = gone.has(leg) || gone.has(peer) ? "unknown_leg" : null
      if (refusal === null) {
        expect([media.has(leg), media.has(peer)], "neither is joined any more").toEqual([false, false])
        media.set(leg, peer)
        media.set(peer, leg)
      }
      asked.push((forced) => {
        if (forced !== null && media.get(leg) === peer) part(leg)
        settled(forced ?? refusal)
      })
    },
    part,
    leaveRoom: () => undefined
  })
  let commands = 0
  return {
    media,
    told: (leg: string) => told.get(Ids.leg(leg)) ?? [],
    bridge: (leg: string, peer: string) => {
      const commandId = Ids.command(`${++commands}`)
      const [legId, peerLegId] = [Ids.leg(leg), Ids.leg(peer)]
      const calls = { callId: Ids.call(`call ${leg}`), peerCallId: Ids.call(`call ${peer}`) }
      bridges.bridge({ type: "bridge", commandId, legId, peerLegId, ...calls })
    },
    unbridge: (leg: string) => bridges.unbridge(Ids.leg(leg)),
    end: (leg: string) => {
      if (gone.has(Ids.leg(leg))) return
      gone.add(Ids.leg(leg))
      part(Ids.leg(leg))
      bridges.ended(Ids.leg(leg))
    },
    /** The media answer the oldest request. */
    answer: (refusal: string | null = null) => asked.shift()?.(refusal),
    facts: (leg: string) => bridges.facts(Ids.leg(leg)).bridge ?? null,
    commands: () => commands
  }
}

describe("Bridges", () => {
  it("stand when the media say so, with the calls of both", () => {
    const use = make()
    use.bridge("a", "b")
    expect([use.told("a"), use.facts("a")]).toEqual([[], null])
    use.answer()
    expect([use.told("a"), use.told("b")]).toEqual([["bridged b"], ["bridged a"]])
    expect([use.facts("a"), use.facts("b")]).toEqual([
      { peerLegId: "b", peerCallId: "call b" },
      { peerLegId: "a", peerCallId: "call a" }
    ])
  })

  it("that are ended before the media answer have failed, and are never told as standing", () => {
    const use = make()
    use.bridge("a", "b")
    use.bridge("b", "a")
    use.unbridge("b")
    expect([use.told("a"), use.told("b")]).toEqual([["failed 1 unbridged"], ["failed 2 unbridged"]])
    use.answer()
    expect([use.told("a"), use.told("b"), use.facts("a")]).toEqual([
      ["failed 1 unbridged"],
      ["failed 2 unbridged"],
      null
    ])
  })

  it("take a leg out of its bridge, whichever side asks", () => {
    const use = make()
    use.bridge("a", "b")
    use.answer()
    use.bridge("c", "b")
    use.answer()
    expect(use.told("a")).toEqual(["bridged b", "unbridged b"])
    expect(use.told("b")).toEqual(["bridged a", "unbridged a", "bridged c"])
    expect(use.told("c")).toEqual(["bridged b"])
  })

  it("that the media refuse have failed for everybody who asked", () => {
    const use = make()
    use.bridge("a", "b")
    use.bridge("b", "a")
    use.answer("other_thread")
    expect([use.told("a"), use.told("b")]).toEqual([["failed 1 other_thread"], ["failed 2 other_thread"]])
    expect(use.facts("a")).toBeNull()
  })

  it("whose other leg ends while the media are asked have failed", () => {
    const use = make()
    use.bridge("a", "b")
    use.end("b")
    use.answer()
    expect([use.told("a"), use.told("b")]).toEqual([["failed 1 unknown_leg"], []])
  })

  const legs = ["a", "b", "c", "d"] as const
  const Leg = Schema.Literals(legs)
  const Act = Schema.Union([
    Schema.Struct({ type: Schema.Literal("bridge"), leg: Leg, peer: Leg }),
    Schema.Struct({ type: Schema.Literals(["unbridge", "end"]), leg: Leg }),
    Schema.Struct({ type: Schema.Literals(["answer", "refuse"]) })
  ])

  it.prop(
    "tell both legs the same story, whatever is asked in whatever order",
    [Schema.Array(Act)],
    ([acts]) => {
      const use = make()
      const ended = new Set<string>()
      for (const act of acts)
        switch (act.type) {
          case "bridge":
            if (!ended.has(act.leg)) use.bridge(act.leg, act.peer)
            break
          case "unbridge":
            use.unbridge(act.leg)
            break
          case "end":
            ended.add(act.leg)
            use.end(act.leg)
            break
          case "answer":
            use.answer()
            break
          case "refuse":
            use.answer("other_thread")
        }
      for (let left = 0; left < acts.length; left++) use.answer()
      /** The peer of each leg, by the leg's reports. */
      const standing = legs.map((leg) => {
        let peer: string | null = null
        for (const said of use.told(leg)) {
          const [what, other = ""] = said.split(" ")
          if (what === "bridged") {
            expect(peer === null || peer === other, "told of one bridge at a time").toBe(true)
            peer = other
          } else if (what === "unbridged") {
            expect(peer).toBe(other)
            peer = null
          }
        }
        return ended.has(leg) ? null : peer
      })
      expect(legs.map((leg) => (ended.has(leg) ? null : (use.facts(leg)?.peerLegId ?? null)))).toEqual(standing)
      standing.forEach((peer, at) => {
        if (peer !== null) expect(standing[legs.findIndex((leg) => leg === peer)]).toBe(legs[at])
      })
      for (const leg of legs) {
        const failed = use.told(leg).filter((said) => said.startsWith("failed"))
        expect(new Set(failed.map((said) => said.split(" ")[1])).size).toBe(failed.length)
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
