import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Told } from "../../../src/carrier/CarrierEvent.ts"
import type { RoomEvent, RoomReport } from "../../../src/carrier/room/RoomEvent.ts"
import * as RoomEvents from "../../../src/carrier/room/RoomEvents.ts"
import * as Ids from "../../support/Ids.ts"

/** Outboxes whose events become durable when the test settles them. */
const make = () => {
  const telling: Array<readonly [RoomEvent, (told: Told) => void]> = []
  const told: Array<string> = []
  const events = RoomEvents.make((event, settled) => void telling.push([event, settled]))
  let n = 0
  return {
    events,
    told,
    tell: (report: RoomReport, room = "r") => {
      const event = { conferenceId: Ids.conference(room), at: 0, incarnation: "i", n: ++n, ...report }
      return events.tell(event, (answer) => void told.push(`${room} ${event.n} ${answer}`))
    },
    /** The event that is being reported becomes durable. */
    settle: (answer: Told = "committed") => {
      const now = telling.splice(0)
      for (const [, settled] of now) settled(answer)
      return now.map(([{ n: number, type }]) => `${number} ${type}`)
    }
  }
}

const speaks = (memberId: string, isSpeaking: boolean): RoomReport => ({
  type: "member_speaking",
  memberId: Ids.member(memberId),
  isSpeaking
})
const left = (memberId: string): RoomReport => ({ type: "member_left", memberId: Ids.member(memberId) })

describe("What rooms have to tell", () => {
  it("is told one after the other in each room, and each room by itself", () => {
    const use = make()
    use.tell({ type: "live" })
    use.tell(left("m"))
    use.tell({ type: "live" }, "s")
    let caughtUp = false
    use.events.caughtUp(Ids.conference("r"), () => void (caughtUp = true))
    expect(use.settle()).toEqual(["1 live", "3 live"])
    expect([caughtUp, use.events.size()]).toEqual([false, 1])
    expect(use.settle("unknown")).toEqual(["2 member_left"])
    expect([caughtUp, use.events.size()]).toEqual([true, 0])
    expect(use.told).toEqual(["r 1 committed", "s 3 committed", "r 2 unknown"])
  })

  it("of a member's speaking is its last state, behind what waits already", () => {
    const use = make()
    use.tell({ type: "live" })
    use.tell(speaks("m", true))
    use.tell(speaks("n", true))
    use.tell(speaks("m", false))
    use.tell(left("m"))
    use.tell(speaks("n", false))
    const all = []
    for (let settled = use.settle(); settled.length > 0; settled = use.settle()) all.push(...settled)
    expect(all).toEqual(["1 live", "4 member_speaking", "5 member_left", "6 member_speaking"])
  })

  it("has a bound, beyond which only the end is told", () => {
    const use = make()
    for (let count = 0; count < RoomEvents.maxWaiting; count++) expect(use.tell(left(`${count}`))).toBe(true)
    expect([use.tell(left("m")), use.tell(speaks("m", true)), use.tell({ type: "over" })]).toEqual([false, false, true])
  })

  const members = ["a", "b", "c"] as const
  const Act = Schema.Union([
    Schema.Struct({ type: Schema.Literal("speak"), member: Schema.Literals(members), isSpeaking: Schema.Boolean }),
    Schema.Struct({ type: Schema.Literal("live") }),
    Schema.Struct({ type: Schema.Literal("settle") })
  ])
  it.prop(
    "keeps its order, and no more of speaking than there are members",
    [Schema.Array(Act)],
    ([acts]) => {
      const use = make()
      const lives: Array<number> = []
      const told: Array<string> = []
      acts.forEach((act, index) => {
        if (act.type === "settle") return void told.push(...use.settle())
        if (act.type === "live") {
          lives.push(index)
          return void use.tell({ type: "live" })
        }
        return void use.tell(speaks(act.member, act.isSpeaking))
      })
      let rest = 0
      for (let settled = use.settle(); settled.length > 0; settled = use.settle()) {
        told.push(...settled)
        rest += settled.filter((each) => each.endsWith("member_speaking")).length
      }
      const numbers = told.map((each) => Number(each.split(" ")[0]))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(told.filter((each) => each.endsWith("live")).length).toBe(lives.length)
      expect(rest).toBeLessThanOrEqual(members.length + 1)
    },
    { arbitrary: { runs: 300 } }
  )
})
