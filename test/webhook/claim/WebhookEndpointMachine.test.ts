import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as WebhookEndpointMachine from "../../../src/webhook/claim/WebhookEndpointMachine.ts"
import * as Ids from "../../support/Ids.ts"

type Claimed = WebhookEndpointMachine.Claimed
type Input = WebhookEndpointMachine.Input<Claimed>
type State = Parameters<typeof WebhookEndpointMachine.step<Claimed>>[0]

const workWaits: Input = { type: "work_waits" }
const row = (id: string, lane: string | null): WebhookEndpointMachine.Claimed => ({
  id: Ids.delivery(id),
  lane: lane === null ? null : Ids.call(lane)
})
const finished = (id: string): Input => ({ type: "attempt_finished", id: Ids.delivery(id) })
const claimed = (more: boolean, ...deliveries: ReadonlyArray<WebhookEndpointMachine.Claimed>): Input => ({
  type: "claimed",
  deliveries,
  more
})

const handedOver = (id: string, lane: string): Input => ({ type: "handed_over", delivery: row(id, lane) })

const run = (inputs: ReadonlyArray<Input>) => {
  let state: State = WebhookEndpointMachine.initial
  return inputs.map((input) => {
    const step = WebhookEndpointMachine.step(state, input)
    state = step.state
    return { ...step, idle: WebhookEndpointMachine.isIdle(state), free: WebhookEndpointMachine.freePlaces(state) }
  })
}
const last = (inputs: ReadonlyArray<Input>) => run(inputs).at(-1)

describe("a webhook endpoint, src/webhook/README.md#fan-out", () => {
  it("claims for all its places when work waits", () => {
    expect(last([workWaits])?.claim).toStrictEqual({ capacity: 16, after: "", underWay: [] })
  })

  it("asks for one claim at a time, and again when work came meanwhile", () => {
    const steps = run([workWaits, workWaits, claimed(false)])
    expect(steps[1]?.claim).toBeNull()
    expect(steps[2]?.claim).not.toBeNull()
  })

  it("attempts what it claimed, and asks next for lanes behind the last one that was served", () => {
    const steps = run([workWaits, claimed(false, row("1", "call a"), row("2", null)), workWaits])
    expect(steps[1]?.attempts.map(({ id }) => id)).toStrictEqual(["1", "2"])
    expect(steps[2]?.claim).toStrictEqual({
      capacity: 14,
      after: Ids.call("call a"),
      underWay: ["1", "2"].map(Ids.delivery)
    })
  })

  it("does not look again while what was left behind waits for a busy lane", () => {
    expect(last([workWaits, claimed(true, row("1", "a"))])?.claim).toBeNull()
  })

  it("may stop when what was left behind could not be claimed, for that may be gone", () => {
    expect(last([workWaits, claimed(true)])?.idle).toBe(true)
  })

  it("looks again as soon as a place or a lane is free and something was left behind", () => {
    const after = last([workWaits, claimed(true, row("1", "a")), finished("1")])
    expect(after?.claim).toStrictEqual({ capacity: 16, after: "a", underWay: [] })
  })

  it("looks again when the lane became free while the claim was out", () => {
    const first = [workWaits, claimed(false, row("1", "a"))]
    expect(last([...first, workWaits, finished("1"), claimed(true)])?.claim).not.toBeNull()
  })

  it("claims nothing while every place is taken", () => {
    const full = Array.from({ length: 16 }, (_, index) => row(`${index}`, `${index}`))
    const steps = run([workWaits, claimed(true, ...full), workWaits, finished("3")])
    expect(steps[2]?.claim).toBeNull()
    expect(steps[3]?.claim?.capacity).toBe(1)
  })

  it("begins what a commit hands over at once, and asks for no claim", () => {
    const steps = run([handedOver("1", "a"), handedOver("2", "b"), finished("1"), finished("2")])
    expect(steps.map(({ attempts, claim, free }) => [attempts.map(({ id }) => id), claim, free])).toStrictEqual([
      [["1"], null, 15],
      [["2"], null, 14],
      [[], null, 15],
      [[], null, 16]
    ])
  })

  it("has no place free while a claim is out, and keeps what is handed over beyond its places for the next one", () => {
    const full = Array.from({ length: 16 }, (_, index) => row(`${index}`, `${index}`))
    const steps = run([
      workWaits,
      handedOver("x", "x"),
      claimed(false, ...full),
      finished("x"),
      finished("3"),
      workWaits
    ])
    expect(steps[0]?.free).toBe(0)
    expect(steps[1]?.attempts.map(({ id }) => id)).toStrictEqual(["x"])
    expect(steps[2]?.attempts.length).toBe(15)
    expect(steps[3]?.attempts.map(({ id }) => id)).toStrictEqual(["15"])
    expect(steps.map(({ idle }) => idle)).not.toContain(true)
    expect(steps[5]?.claim).toMatchObject({ capacity: 1 })
  })

  it("is idle only when nothing is claimed, known to wait, or under way", () => {
    const steps = run([workWaits, claimed(false, row("1", "a")), finished("1")])
    expect(steps.map(({ idle }) => idle)).toStrictEqual([false, false, true])
  })

  /** Answers the claims from a table of rows as the claim statement does. */
  const deliverAll = (lanes: ReadonlyArray<number>, choices: ReadonlyArray<number>) => {
    const rows = lanes.map((lane, index) => row(`${index}`, `${lane}`))
    const queue = [...rows]
    const order: Array<WebhookEndpointMachine.Claimed> = []
    const underWay: Array<string> = []
    let state: State = WebhookEndpointMachine.initial
    let mostUnderWay = 0
    const handle = (input: Input): void => {
      const step = WebhookEndpointMachine.step(state, input)
      state = step.state
      for (const { id } of step.attempts) {
        const row = rows[Number(id)]
        if (row === undefined) throw new Error("an attempt at what does not exist")
        expect(underWay.some((other) => rows[Number(other)]?.lane === row.lane)).toBe(false)
        underWay.push(id)
        order.push(row)
      }
      mostUnderWay = Math.max(mostUnderWay, underWay.length)
      if (step.claim === null) return
      const { capacity } = step.claim
      const taken: Array<WebhookEndpointMachine.Claimed> = []
      const heads = new Set<string | null>(underWay.map((id) => rows[Number(id)]?.lane ?? null))
      for (const row of queue) {
        if (taken.length < capacity && !heads.has(row.lane)) taken.push(row)
        heads.add(row.lane)
      }
      for (const row of taken) queue.splice(queue.indexOf(row), 1)
      handle(claimed(queue.length > 0, ...taken))
    }
    handle(workWaits)
    for (let turn = 0; underWay.length > 0; turn++) {
      const [id] = underWay.splice((choices[turn % choices.length] ?? 0) % underWay.length, 1)
      if (id !== undefined) handle(finished(id))
    }
    return { order, left: queue.length, mostUnderWay, idle: WebhookEndpointMachine.isIdle(state) }
  }

  const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
  it.prop(
    "everything is attempted once, in the order of its lane, at most 16 at a time, whatever finishes first",
    { lanes: Schema.Array(small), choices: Schema.Array(small) },
    ({ choices, lanes }) => {
      const { idle, left, mostUnderWay, order } = deliverAll(lanes, choices.length === 0 ? [0] : choices)
      expect(left).toBe(0)
      expect(order.length).toBe(lanes.length)
      expect(mostUnderWay).toBeLessThanOrEqual(16)
      expect(idle).toBe(true)
      const byLane = Map.groupBy(order, ({ lane }) => lane)
      for (const rows of byLane.values())
        expect(rows.map(({ id }) => Number(id))).toStrictEqual(rows.map(({ id }) => Number(id)).sort((a, b) => a - b))
    },
    { arbitrary: { runs: 300 } }
  )
})
