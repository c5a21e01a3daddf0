import { expect, it } from "@effect/vitest"
import * as TextTable from "../../../../src/edge/operator/command/TextTable.ts"

it("a table has as many rows as a rate deck, each column as wide as its widest cell", () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => ({ prefix: String(index), rate: 1 }))
  const lines = TextTable.table(["prefix", "rate"], rows).split("\n")
  expect([lines.length, lines[0], lines[1], lines.at(-1)]).toEqual([200_001, "prefix  rate", "0       1", "199999  1"])
})
