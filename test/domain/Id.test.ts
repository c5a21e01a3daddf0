import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Id from "../../src/domain/Id.ts"

const At = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 }))

describe("UUIDs that begin with their time (RFC 9562 section 5.7)", () => {
  it.prop("have the layout of version 7, and the time in their first 48 bits", [At, Schema.String], ([at, seed]) => {
    const id = Id.deriveTimeUuid(at, seed, "event", 1)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
    assert.isTrue(Id.isUuid(id))
    assert.strictEqual(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16), at)
  })

  it.prop("are the same whenever they are derived again, and others for others", [At, Schema.String], ([at, seed]) => {
    assert.strictEqual(Id.deriveTimeUuid(at, seed, "event", 1), Id.deriveTimeUuid(at, seed, "event", 1))
    assert.notStrictEqual(Id.deriveTimeUuid(at, seed, "event", 1), Id.deriveTimeUuid(at, seed, "event", 2))
    assert.notStrictEqual(Id.deriveTimeUuid(at, seed, "event", 1), Id.deriveTimeUuid(at, `${seed}.`, "event", 1))
  })

  it.prop("stand in the order of their times", [At, At], ([one, other]) => {
    if (one === other) return
    const [first, second] = [Id.deriveTimeUuid(one, "a", "event"), Id.deriveTimeUuid(other, "b", "event")]
    assert.strictEqual(first < second, one < other)
  })
})
