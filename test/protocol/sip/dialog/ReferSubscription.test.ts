import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as ReferNotify from "../../../../src/protocol/sip/dialog/ReferNotify.ts"
import * as ReferSubscription from "../../../../src/protocol/sip/dialog/ReferSubscription.ts"
import type { Header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

type Input = ReferSubscription.Input

const notified = (
  subscription: ReferSubscription.Notified["subscription"],
  status: number | null = null,
  expiresSecs: number | null = null
): Input => ({ type: "notified", notified: { subscription, status, expiresSecs } })

const run = (inputs: ReadonlyArray<readonly [at: number, input: Input]>) => {
  let state = ReferSubscription.start(3)
  const said: Array<string> = []
  for (const [at, input] of inputs) {
    const step = ReferSubscription.step(state, input, at)
    ;({ state } = step)
    for (const { status, type } of step.outputs) said.push(`${type} ${status}`)
  }
  return { said, state }
}

describe("a subscription of a REFER", () => {
  it("tells the progress of the referred request, and its end once", () => {
    const { said, state } = run([
      [0, { type: "accepted", status: 202 }],
      [10, notified("pending", 100)],
      [20, notified("active", 180)],
      [30, notified("active", 200)],
      [40, notified("terminated", 200)]
    ])
    expect(said).toEqual(["accepted 202", "progress 100", "progress 180", "finished 200"])
    expect(state.phase).toBe("terminated")
  })

  it("may be notified before the REFER is answered", () => {
    const { said, state } = run([
      [0, notified("active", 100, 60)],
      [10, { type: "accepted", status: 202 }]
    ])
    expect(said).toEqual(["progress 100", "accepted 202"])
    expect(state).toMatchObject({ phase: "active", deadline: 60_000 })
  })

  it("ends with the refusal of the REFER, and without an outcome when the dialog does", () => {
    expect(run([[0, { type: "refused", status: 603 }]]).said).toEqual(["finished 603"])
    expect(run([[0, { type: "dropped" }]]).said).toEqual(["finished null"])
  })

  it("ends when no NOTIFY comes in 64*T1, and when its time is over", () => {
    const { firstNotifyMs } = ReferSubscription
    const accepted = [0, { type: "accepted", status: 202 }] as const
    expect(run([accepted, [firstNotifyMs - 1, { type: "due" }]]).said).toEqual(["accepted 202"])
    expect(run([accepted, [firstNotifyMs, { type: "due" }]]).said).toEqual(["accepted 202", "finished null"])
    expect(run([accepted, [5, notified("active", 180, 60)], [60_005, { type: "due" }]]).said).toEqual([
      "accepted 202",
      "progress 180",
      "finished null"
    ])
    expect(run([[0, notified("active", null, 1e9)]]).state.deadline).toBe(ReferSubscription.longestSecs * 1_000)
    expect(run([[0, notified("active")]]).state.deadline).toBe(ReferSubscription.defaultSecs * 1_000)
  })

  const Inputs = Schema.Array(
    Schema.Union([
      Schema.Struct({ type: Schema.Literals(["due", "dropped"]) }),
      Schema.Struct({ type: Schema.Literal("accepted"), status: Schema.Literals([200, 202]) }),
      Schema.Struct({ type: Schema.Literal("refused"), status: Schema.NullOr(Schema.Literals([408, 603])) }),
      Schema.Struct({
        type: Schema.Literal("notified"),
        notified: Schema.Struct({
          subscription: Schema.Literals(["pending", "active", "terminated"]),
          status: Schema.NullOr(Schema.Literals([100, 180, 200, 486])),
          expiresSecs: Schema.NullOr(Schema.Literals([0, 60]))
        })
      })
    ])
  )
  it.prop("finishes at most once, tells nothing after that, and is over for good", [Inputs], ([inputs]) => {
    let state = ReferSubscription.start(1)
    let finished = 0
    inputs.forEach((input, at) => {
      const before = state
      const step = ReferSubscription.step(before, input, at * 20_000)
      ;({ state } = step)
      for (const { type } of step.outputs) {
        expect(finished).toBe(0)
        if (type === "finished") finished++
      }
      if (before.phase === "terminated") expect(step).toEqual({ state: before, outputs: [] })
      if (state.phase === "terminated") expect(finished).toBe(1)
    })
  })
})

describe("a NOTIFY", () => {
  const read = (headers: ReadonlyArray<Header>, body = "SIP/2.0 180 Ringing\r\n") =>
    ReferNotify.read({
      ...SipSample.request("NOTIFY", { headers }),
      body: new TextEncoder().encode(body)
    })
  const event = ["Event", "refer;id=93809823"] as const
  const active = ["Subscription-State", "active;expires=60"] as const
  const fragment = ["Content-Type", "message/sipfrag;version=2.0"] as const

  it("is read with its id, its state and the status line of its fragment", () => {
    expect(read([event, active, fragment])).toEqual({
      type: "notified",
      id: 93_809_823,
      notified: { subscription: "active", expiresSecs: 60, status: 180 }
    })
    expect(
      read(
        [
          ["Event", "Refer"],
          ["Subscription-State", "TERMINATED;reason=noresource"]
        ],
        ""
      )
    ).toEqual({
      type: "notified",
      id: null,
      notified: { subscription: "terminated", expiresSecs: null, status: null }
    })
  })

  it("of another event gets 489, with another body 415, and one that cannot be read 400", () => {
    const status = (headers: ReadonlyArray<Header>) => {
      const result = read(headers)
      return result.type === "refused" ? result.status : 200
    }
    expect(status([["Event", "presence"], active, fragment])).toBe(489)
    expect(status([event, active, ["Content-Type", "text/plain"]])).toBe(415)
    expect(status([active, fragment])).toBe(400)
    expect(status([event, fragment])).toBe(400)
    expect(status([["Event", "refer;id=x"], active, fragment])).toBe(400)
    expect(status([event, ["Subscription-State", "later"], fragment])).toBe(400)
    expect(status([event, ["Subscription-State", 'active;"'], fragment])).toBe(400)
  })
})
