import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Lives from "../../../src/money/account/Lives.ts"
import * as Ids from "../../support/Ids.ts"

const Change = Schema.Struct({
  id: Schema.Literals(["a", "b", "c", "d"]),
  live: Schema.NullOr(
    Schema.Struct({
      places: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
      reservedCents: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })),
      heard: Schema.Int
    })
  )
})

describe("What lives at an account", () => {
  it.prop("has the sums of its members, whatever came, was replaced and went", [Schema.Array(Change)], ([changes]) => {
    let lives = Lives.empty
    const members = new Map<string, Lives.Live>()
    for (const { id, live } of changes) {
      const callId = Ids.call(id)
      lives = live === null ? Lives.remove(lives, callId) : Lives.set(lives, callId, live)
      if (live === null) members.delete(callId)
      else members.set(callId, live)
    }
    const all = [...members.values()]
    expect(Lives.ids(lives).toSorted()).toStrictEqual([...members.keys()].toSorted())
    expect(lives.places).toBe(all.reduce((sum, { places }) => sum + places, 0))
    expect(lives.reservedCents).toBe(all.reduce((sum, { reservedCents }) => sum + reservedCents, 0))
  })
})
