import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/**
 * Answers in CSV, RFC 4180, as spreadsheets read it: UTF-8 and CRLF, one header, cells quoted where necessary.
 *
 * A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and text
 * from tenants and their callers may be one. Such a text gets a leading apostrophe, which spreadsheets do not show. A
 * text that is a plain number (an amount, a number in E.164) stays unchanged.
 */
export type Cell = string | number | boolean | null

const formula = /^[=+\-@\t\r]/u
const plainNumber = /^[+-]?[0-9]+(\.[0-9]+)?$/u
const needsQuotes = /[",\r\n]/u

const written = (cell: Cell): string => {
  if (cell === null) return ""
  if (typeof cell !== "string") return String(cell)
  const text = formula.test(cell) && !plainNumber.test(cell) ? `'${cell}` : cell
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One record, with its line end. */
export const record = (cells: ReadonlyArray<Cell>): string => `${cells.map(written).join(",")}\r\n`

/**
 * Answers with a file of rows under a header of column names. It is streamed in the portions of `rows` and holds only
 * one of them in memory. When reading fails midway the connection is cut, so that half a file is not taken for a whole
 * one.
 */
export const answer = <Column extends string>(
  fileName: string,
  columns: ReadonlyArray<Column>,
  rows: Stream.Stream<ReadonlyArray<Readonly<Record<Column, Cell>>>, unknown>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    rows.pipe(
      Stream.map((portion) => portion.map((row) => record(columns.map((column) => row[column]))).join("")),
      (portions) => Stream.concat(Stream.succeed(record(columns)), portions),
      Stream.encodeText
    ),
    {
      contentType: "text/csv; charset=utf-8",
      headers: {
        "content-disposition": `attachment; filename="${fileName}"`,
        "cache-control": "private, no-store",
        "x-content-type-options": "nosniff"
      }
    }
  )
