import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Id from "../../src/domain/Id.ts"

const At = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 }))

describe("UUIDs that begin with their time (RFC 9562 section 5.7)", () => {
  it.prop("have the layout of version 7, and the time in their first 48 bits", [At, Schema.String], ([at, seed]) => {
    const id = Id.deriveTimeUuid(at, seed, "event", 1)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
    expect(Id.isUuid(id)).toBe(true)
    expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(at)
  })

  it.prop("are the same whenever they are derived again, and others for others", [At, Schema.String], ([at, seed]) => {
    expect(Id.deriveTimeUuid(at, seed, "event", 1)).toBe(Id.deriveTimeUuid(at, seed, "event", 1))
    expect(Id.deriveTimeUuid(at, seed, "event", 1)).not.toBe(Id.deriveTimeUuid(at, seed, "event", 2))
    expect(Id.deriveTimeUuid(at, seed, "event", 1)).not.toBe(Id.deriveTimeUuid(at, `${seed}.`, "event", 1))
  })

  it.prop("stand in the order of their times", [At, At], ([one, other]) => {
    if (one === other) return
    const [first, second] = [Id.deriveTimeUuid(one, "a", "event"), Id.deriveTimeUuid(other, "b", "event")]
    expect(first < second).toBe(one < other)
  })
})

describe("Ids", () => {
  it("are told apart by the compiler, and are plain text", () => {
    const close = (call: Id.CallId) => call
    const [call, leg] = [Id.derive("seed", "call"), Id.derive("seed", "leg")]
    expect(close(call)).toMatch(Id.pattern("call"))
    // @ts-expect-error a leg is no call
    close(leg)
    // @ts-expect-error any text is no call
    close("svc_call_1")
  })

  it("of what was stored are read unchecked, those of a request in their one spelling only", () => {
    expect(Schema.decodeUnknownSync(Id.CallId)("call 1 of long ago")).toBe("call 1 of long ago")
    expect(Schema.is(Id.spelled("call"))("call 1 of long ago")).toBe(false)
    expect(Schema.is(Id.spelled("call"))(Id.derive("seed", "call"))).toBe(true)
  })
})
