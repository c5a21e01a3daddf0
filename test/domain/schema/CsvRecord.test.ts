import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Csv from "../../../src/domain/schema/Csv.ts"

const cellsOf = (text: string) => Result.getOrThrow(Csv.parse(text)).map(({ cells }) => cells)

describe("a record in CSV", () => {
  it.each(["=1+1", "+SUM(A1)", "-2+3", "@import", "\t=1", "\r=1", '=HYPERLINK("http://x")', "-", "+"])(
    "hides the formula %j behind an apostrophe",
    (text) => {
      expect(cellsOf(Csv.record([text, "x"]))[0]).toEqual([`'${text}`, "x"])
    }
  )

  it.each([-250, 250, 0, "-250", "+12025550100", "1.5", "'=1"])("leaves %j as it is", (value) => {
    expect(Csv.record([value, "x"])).toBe(`${value},x\r\n`)
  })

  it("is empty where there is nothing", () => {
    expect(Csv.record([null, true, ""])).toBe(",true,\r\n")
  })

  it.prop("is read back as it was, but for the apostrophe", { cells: Schema.Array(Schema.String) }, ({ cells }) => {
    const read = cellsOf(Csv.record(["first", ...cells, "last"]))
    expect(read).toHaveLength(1)
    expect(read[0]?.slice(1, -1).map((cell, at) => cell === cells[at] || cell === `'${cells[at]}`)).not.toContain(false)
    expect(read[0]?.filter((cell) => /^[=+\-@\t\r]/u.test(cell) && !/^[+-]?[0-9]+(\.[0-9]+)?$/u.test(cell))).toEqual([])
  })
})
