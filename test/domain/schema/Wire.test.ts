import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Field from "../../../src/domain/schema/Field.ts"
import * as Wire from "../../../src/domain/schema/Wire.ts"

const Part = Wire.struct({ partName: Schema.String, heardAt: Field.timeOrNull("When.") })
const Whole = Wire.struct(
  {
    name: Schema.String,
    createdAt: Field.time("When."),
    firstPart: Schema.NullOr(Part),
    otherParts: Schema.Array(Part),
    waitMs: Schema.optionalKey(Schema.Finite)
  },
  { waitMs: "wait_millis" }
)

const Moment = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4_000_000_000_000 }))
const part = Schema.Struct({ partName: Schema.String, heardAt: Schema.NullOr(Moment) })
const whole = Schema.Struct({
  name: Schema.String,
  createdAt: Moment,
  firstPart: Schema.NullOr(part),
  otherParts: Schema.Array(part),
  waitMs: Schema.optionalKey(Moment)
})

describe("Values on the wire", () => {
  it("have their fields in snake_case, their moments as text, and no field that is left out", () => {
    const value = { name: "a", createdAt: 0, firstPart: { partName: "b", heardAt: null }, otherParts: [] }
    expect(Wire.encoder(Whole)(value)).toStrictEqual({
      name: "a",
      created_at: "1970-01-01T00:00:00.000Z",
      first_part: { part_name: "b", heard_at: null },
      other_parts: []
    })
    expect(Wire.encoder(Whole)({ ...value, waitMs: 5 })).toHaveProperty("wait_millis", 5)
  })

  it.prop("are what the schema's own encoding makes of them", { value: whole }, ({ value }) => {
    expect(Wire.encoder(Whole)(value)).toStrictEqual(Schema.encodeSync(Whole)(value))
  })

  it.prop("decode to the same value again", { value: whole }, ({ value }) => {
    expect(Schema.decodeUnknownSync(Whole)(Wire.encoder(Whole)(value))).toEqual(value)
  })

  it("are not looked at again: what a row holds is shown, whatever a request may say", () => {
    const Limited = Wire.struct({ someCount: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) })
    expect(Wire.encoder(Limited)({ someCount: -1 })).toStrictEqual({ some_count: -1 })
  })

  it("shows nothing of a row that its schema does not name", () => {
    const row = { partName: "a", heardAt: null, password: "sealed" }
    expect(Wire.encoder(Part)(row)).toStrictEqual({ part_name: "a", heard_at: null })
  })

  it("have the fields of a stored part in the order of its schema, and no others, however the row has them", () => {
    const Stored = Wire.struct({
      manyParts: Schema.Array(
        Schema.Struct({ id: Schema.String, phone_number: Schema.String, why: Schema.NullOr(Schema.String) })
      )
    })
    // Fields in the order in which `jsonb` returns them: shorter names first.
    const row = { manyParts: [{ id: "a", why: null, secret: "sealed", phone_number: "b" }] }
    expect(JSON.stringify(Wire.encoder(Stored)(row))).toBe('{"many_parts":[{"id":"a","phone_number":"b","why":null}]}')
  })
})
