import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as LiveEndpoints from "../../../src/webhook/claim/LiveEndpoints.ts"
import * as Ids from "../../support/Ids.ts"

const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

describe("places that tenants share, src/webhook/README.md#fan-out", () => {
  const [one, other, third] = ["one", "other", "third"].map(Ids.tenant)

  it("one tenant takes half of what the others leave, so each that comes finds some", () => {
    const shares = LiveEndpoints.makeShares(64)
    expect(shares.take(one ?? Ids.tenant(""), 100)).toBe(33)
    expect(shares.take(other ?? Ids.tenant(""), 100)).toBe(16)
    expect(shares.take(third ?? Ids.tenant(""), 100)).toBe(8)
    expect(shares.used()).toBe(57)
    shares.giveBack(one ?? Ids.tenant(""), 33)
    expect(shares.take(other ?? Ids.tenant(""), 100)).toBe(13)
    expect(shares.used()).toBe(37)
  })

  it.prop(
    "never more are taken than there are, whoever takes and gives back",
    { steps: Schema.Array(small) },
    ({ steps }) => {
      const shares = LiveEndpoints.makeShares(10)
      const held = new Map<string, number>()
      for (const step of steps) {
        const tenant = Ids.tenant(`${step % 3}`)
        if (step < 3) held.set(tenant, (held.get(tenant) ?? 0) + shares.take(tenant, 4))
        else {
          shares.giveBack(tenant, held.get(tenant) ?? 0)
          held.delete(tenant)
        }
        expect(shares.used()).toBe([...held.values()].reduce((sum, count) => sum + count, 0))
        expect(shares.used()).toBeLessThanOrEqual(10)
      }
    }
  )
})
