import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Csv from "../../../src/domain/schema/Csv.ts"

const rows = (text: string) => Result.map(Csv.parse(text), (all) => all.map(({ cells, line }) => [line, ...cells]))

describe("CSV, RFC 4180", () => {
  for (const [title, text, expected] of [
    [
      "reads records that end with LF",
      "a,b\nc,d\n",
      [
        [1, "a", "b"],
        [2, "c", "d"]
      ]
    ],
    [
      "reads records that end with CRLF",
      "a,b\r\nc,d",
      [
        [1, "a", "b"],
        [2, "c", "d"]
      ]
    ],
    ["reads a quoted comma", '"a,b",c', [[1, "a,b", "c"]]],
    ["reads a doubled quote", '"a ""b"" c"', [[1, 'a "b" c']]],
    [
      "counts the lines inside a quoted cell",
      '"a\nb",c\nd,e',
      [
        [1, "a\nb", "c"],
        [3, "d", "e"]
      ]
    ],
    [
      "keeps empty cells, also at the end",
      "a,,\n,b",
      [
        [1, "a", "", ""],
        [2, "", "b"]
      ]
    ],
    ["keeps an empty cell at the very end", "a,", [[1, "a", ""]]],
    [
      "skips blank lines and counts them",
      "a\n\n \nb\n",
      [
        [1, "a"],
        [4, "b"]
      ]
    ],
    ["skips a byte order mark", "\ufeffa,b", [[1, "a", "b"]]],
    ["finds no record in an empty text", "", []]
  ] as const)
    it(title, () => expect(rows(text)).toStrictEqual(Result.succeed(expected.map((row) => [...row]))))

  for (const [title, text, message] of [
    ["refuses a quote that is never closed", 'a\n"b', "line 2: a quoted cell is not closed"],
    ["refuses a quote inside an unquoted cell", 'a\nb"c', "line 2: a cell with a quote in it must be quoted"],
    ["refuses text behind a closing quote", '"a"b', "line 1: text behind the closing quote of a cell"]
  ] as const)
    it(title, () => expect(rows(text)).toStrictEqual(Result.fail(message)))

  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
  it.prop(
    "gives back every cell that was quoted",
    { table: Schema.Array(Schema.NonEmptyArray(Schema.String)) },
    ({ table }) => {
      // A record of one blank cell is a blank line.
      const records = table.filter((record) => record.length > 1 || record[0].trim() !== "")
      const text = records.map((record) => record.map(cell).join(",")).join("\r\n")
      const parsed = Result.map(Csv.parse(text), (all) => all.map(({ cells }) => cells))
      expect(parsed).toStrictEqual(Result.succeed(records.map((record) => [...record])))
    }
  )

  it.prop("never throws on any text", { text: Schema.String }, ({ text }) => {
    Csv.parse(text)
    Csv.parse(`",\n${text}"\r`)
  })
})
