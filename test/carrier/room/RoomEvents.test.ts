import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Told } from "../../../src/carrier/CarrierEvent.ts"
import type { RoomEvent, RoomReport } from "../../../src/carrier/room/RoomEvent.ts"
import * as RoomEvents from "../../../src/carrier/room/RoomEvents.ts"
import * as Ids from "../../support/Ids.ts"

/** Outboxes whose events become durable when the test settles them. */
const make = () => {
  const telling: Array<readonly [ReadonlyArray<RoomEvent>, (told: Told) => void]> = []
  const told: Array<string> = []
  const events = RoomEvents.make((all, settled) => void telling.push([all, settled]))
  let n = 0
  return {
    events,
    told,
    tell: (report: RoomReport, room = "r") => {
      const event = { conferenceId: Ids.conference(room), at: 0, incarnation: "i", n: ++n, ...report }
      return events.tell(event, (answer) => void told.push(`${room} ${event.n} ${answer}`))
    },
    /** The events that are being reported become durable. */
    settle: (answer: Told = "committed") => {
      const now = telling.splice(0)
      for (const [, settled] of now) settled(answer)
      return now.flatMap(([all]) => all.map(({ n: number, type }) => `${number} ${type}`))
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

  it("is told together where it came while others were told, up to a bound, and the end by itself", () => {
    const use = make()
    for (let member = 0; member < 300; member++) use.tell(left(`${member}`))
    use.tell(speaks("m", true))
    use.tell(speaks("n", true))
    use.tell({ type: "over" })
    const sizes = []
    for (let settled = use.settle(); settled.length > 0; settled = use.settle()) sizes.push(settled.length)
    expect(sizes).toEqual([1, 128, 128, 43, 2, 1])
    expect(use.told).toEqual(Array.from({ length: 303 }, (_, index) => `r ${index + 1} committed`))
  })

  it("is told one by one where it could not be told together, so one event costs no other", () => {
    const use = make()
    for (const member of ["a", "b", "c", "d"]) use.tell(left(member))
    use.settle()
    expect(use.settle("fault")).toEqual(["2 member_left", "3 member_left", "4 member_left"])
    use.tell(left("e"))
    expect(use.settle()).toEqual(["2 member_left"])
    expect(use.settle("fault")).toEqual(["3 member_left"])
    expect(use.settle()).toEqual(["4 member_left"])
    expect(use.settle()).toEqual(["5 member_left"])
    expect(use.told).toEqual(["r 1 committed", "r 2 committed", "r 3 fault", "r 4 committed", "r 5 committed"])
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
