import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as FairQueue from "../../../src/domain/fair/FairQueue.ts"

interface Item {
  readonly holder: string
  readonly n: number
}

const queueOf = (places: number, capacity = 10_000) => FairQueue.make<Item>({ places, capacity })

const put = (queue: FairQueue.FairQueue<Item>, holder: string, count: number): ReadonlyArray<Item> => {
  const items = Array.from({ length: count }, (_, n) => ({ holder, n }))
  for (const item of items) expect(queue.add(holder, item)).toBe(true)
  return items
}

/** Gives out every free place. */
const fill = (queue: FairQueue.FairQueue<Item>): ReadonlyArray<Item> => {
  const started: Array<Item> = []
  for (let item = queue.next(); item !== null; item = queue.next()) started.push(item)
  return started
}

describe("A line before shared places", () => {
  it("gives one holder alone every place, in the order of its items", () => {
    const queue = queueOf(4)
    put(queue, "a", 6)
    expect(fill(queue).map(({ n }) => n)).toEqual([0, 1, 2, 3])
  })

  it("gives the next free place to one that comes late, whatever the first has in the line", () => {
    const queue = queueOf(4)
    put(queue, "loud", 1_000)
    fill(queue)
    put(queue, "quiet", 1)
    queue.end("loud", 1)
    expect(fill(queue)).toEqual([{ holder: "quiet", n: 0 }])
  })

  it("gives two that want all places half each", () => {
    const queue = queueOf(4)
    put(queue, "a", 100)
    fill(queue)
    put(queue, "b", 100)
    for (let ended = 0; ended < 2; ended++) {
      queue.end("a", 1)
      expect(fill(queue).map(({ holder }) => holder)).toEqual(["b"])
    }
    queue.end("a", 1)
    expect(fill(queue).map(({ holder }) => holder)).toEqual(["a"])
  })

  it("that spares places gives a holder half of what the others leave, so that a new one finds one at once", () => {
    const queue = FairQueue.make<Item>({ places: 8, capacity: 10_000, sparesPlaces: true })
    put(queue, "loud", 100)
    expect(fill(queue)).toHaveLength(5)
    put(queue, "quiet", 1)
    expect(fill(queue)).toEqual([{ holder: "quiet", n: 0 }])
    put(queue, "third", 100)
    expect(fill(queue).map(({ holder }) => holder)).toEqual(["third", "third"])
    queue.end("loud", 1)
    expect(fill(queue)).toEqual([])
    queue.end("quiet", 1)
    expect(fill(queue).map(({ holder }) => holder)).toEqual(["third"])
  })

  it("gives a holder no more places than each may have, and none while it rests", () => {
    const queue = FairQueue.make<Item>({ places: 8, capacity: 10_000, each: 2 })
    put(queue, "loud", 100)
    expect(fill(queue)).toHaveLength(2)
    put(queue, "quiet", 1)
    expect(fill(queue)).toEqual([{ holder: "quiet", n: 0 }])
    queue.rest("loud")
    queue.rest("loud")
    queue.end("loud", 1)
    expect(fill(queue)).toEqual([])
    queue.wake("loud")
    expect(fill(queue)).toEqual([])
    queue.wake("loud")
    expect(fill(queue)).toEqual([{ holder: "loud", n: 2 }])
  })

  it("gives one place by what was used: cheap work of one passes dear work of the other", () => {
    const queue = queueOf(1)
    put(queue, "dear", 100)
    put(queue, "cheap", 100)
    const order: Array<string> = []
    for (let turn = 0; turn < 22; turn++) {
      const item = queue.next()
      order.push(item?.holder ?? "")
      queue.end(item?.holder ?? "", item?.holder === "dear" ? 10 : 1)
    }
    expect(order.filter((holder) => holder === "dear").length).toBe(2)
  })

  it("lets nobody save up turns by staying away", () => {
    const queue = queueOf(1)
    put(queue, "old", 1_000)
    for (let turn = 0; turn < 500; turn++) queue.end(queue.next()?.holder ?? "", 1)
    put(queue, "new", 100)
    const order = Array.from({ length: 10 }, () => {
      const { holder } = queue.next() ?? { holder: "" }
      queue.end(holder, 1)
      return holder
    })
    expect(order.filter((holder) => holder === "old").length).toBeGreaterThanOrEqual(4)
  })

  it("refuses a holder that fills half of the room, and still takes another's", () => {
    const queue = queueOf(1, 100)
    let taken = 0
    while (queue.add("loud", { holder: "loud", n: taken })) taken++
    expect(taken).toBe(51)
    expect(queue.add("quiet", { holder: "quiet", n: 0 })).toBe(true)
  })

  it("forgets what left the line, and its holder", () => {
    const queue = queueOf(1)
    const [running, gone, stays] = put(queue, "a", 3)
    expect(fill(queue)).toEqual([running])
    queue.leave("a", gone ?? { holder: "a", n: -1 })
    queue.end("a", 1)
    expect(fill(queue)).toEqual([stays])
    expect([queue.waiting(), queue.running()]).toEqual([0, 1])
  })

  const Act = Schema.Struct({
    holder: Schema.Literals(["a", "b", "c"]),
    does: Schema.Literals(["add", "add", "end", "leave"]),
    cost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
  })

  it.prop(
    "never leaves a place free while something waits, loses nothing, and lets nobody have two places more than one that waits",
    {
      acts: Schema.Array(Act).check(Schema.isMinLength(30), Schema.isMaxLength(150)),
      places: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
    },
    ({ acts, places }) => {
      const queue = queueOf(places, 20)
      const line: Array<Item> = []
      const started: Array<Item> = []
      let n = 0
      for (const { cost, does, holder } of acts) {
        const running = started.find((item) => item.holder === holder)
        const waiting = line.find((item) => item.holder === holder)
        if (does === "add") {
          const item = { holder, n: n++ }
          if (queue.add(holder, item)) line.push(item)
        } else if (does === "end" && running !== undefined) {
          started.splice(started.indexOf(running), 1)
          queue.end(holder, cost)
        } else if (does === "leave" && waiting !== undefined) {
          line.splice(line.indexOf(waiting), 1)
          queue.leave(holder, waiting)
        }
        for (const item of fill(queue)) {
          const placesOf = (name: string) => started.filter((other) => other.holder === name).length
          // It is its holder's first item, and no holder of a waiting item has fewer places.
          expect(line.find((other) => other.holder === item.holder)).toBe(item)
          for (const other of line) expect(placesOf(item.holder)).toBeLessThanOrEqual(placesOf(other.holder))
          line.splice(line.indexOf(item), 1)
          started.push(item)
        }
        expect(queue.waiting()).toBe(line.length)
        expect(queue.running()).toBe(started.length)
        expect(started.length === places || line.length === 0).toBe(true)
      }
    },
    { arbitrary: { runs: 300 } }
  )
})
