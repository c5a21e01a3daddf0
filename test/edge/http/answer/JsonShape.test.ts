import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as JsonShape from "../../../../src/edge/http/answer/JsonShape.ts"

const fault = (text: string, bounds?: JsonShape.Bounds) => JsonShape.fault(Buffer.from(text), bounds)

const depthOf = (value: Schema.Json): number =>
  typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))

/** Counts values as the service does: one for each bracket and each comma. */
const valuesOf = (value: Schema.Json): number => {
  if (typeof value !== "object" || value === null) return 0
  const inner: ReadonlyArray<Schema.Json> = Object.values(value)
  return 1 + Math.max(0, inner.length - 1) + inner.reduce<number>((sum, one) => sum + valuesOf(one), 0)
}

describe("The shape of a JSON text", () => {
  it.prop(
    "is refused exactly beyond its depth and its number of values, whatever its strings hold and however it is laid out",
    {
      value: Schema.Json,
      depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
      values: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
      indent: Schema.Literals([0, 2])
    },
    ({ depth, indent, value, values }) => {
      const isWithin = depthOf(value) <= depth && valuesOf(value) <= values
      expect(fault(JSON.stringify(value, null, indent), { depth, values }) === null).toBe(isWithin)
    },
    { arbitrary: { runs: 1_000 } }
  )

  it.prop("is looked at without a throw, whatever the bytes are", { bytes: Schema.Uint8Array }, ({ bytes }) => {
    expect([null, "string"]).toContain(JsonShape.fault(bytes) === null ? null : typeof JsonShape.fault(bytes))
  })

  it("does not take brackets, commas and quotes within strings for its own", () => {
    for (const text of ['"[[[,,,{{{"', '"\\"[[["', '"\\\\"', '{"[[[[":"\\\\\\"[[["}'])
      expect([text, fault(text, { depth: 1, values: 1 })]).toEqual([text, null])
    expect(fault('["\\\\",[1]]', { depth: 1, values: 9 })).toMatch(/nests more than 1/)
  })

  it("is found to be too deep at once, however long the rest is", () => {
    expect(fault("[".repeat(64 * 1024))).toMatch(/nests more than 16/)
    expect(fault(`[${"1,".repeat(30_000)}1]`)).toMatch(/more than 4096 values/)
  })
})
