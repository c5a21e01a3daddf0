import { Result, Stream } from "effect"
import * as TimeSlices from "../time/TimeSlices.ts"

/**
 * CSV, RFC 4180: `parsing` reads what operators import, `record` writes what tenants download.
 */

/** A record, and the line on which it begins (the first line of a text is 1). */
interface Row {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/**
 * Records may end with LF or CRLF. Quoted cells may hold commas and line ends, and `""` for a quote. A byte order mark
 * and blank lines are skipped.
 *
 * Fails with one sentence that names the line: a quote inside an unquoted cell, text after a closing quote, a quote
 * that is never closed.
 */
export function* parsing(text: string): TimeSlices.Work<Result.Result<ReadonlyArray<Row>, string>> {
  const rows: Array<Row> = []
  let cells: Array<string> = []
  let line = 1
  let recordLine = 1
  let at = text.startsWith("\ufeff") ? 1 : 0

  const endRecord = () => {
    if (cells.length > 1 || cells[0]?.trim() !== "") rows.push({ line: recordLine, cells })
    cells = []
    recordLine = ++line
  }

  while (at < text.length) {
    if (text[at] === '"') {
      const cell = quoted(text, at)
      if (cell === null) return Result.fail(`line ${line}: a quoted cell is not closed`)
      cells.push(cell.value)
      line += cell.value.split("\n").length - 1
      at = cell.end
    } else {
      const end = endOfCell(text, at)
      const cell = text.slice(at, end)
      if (cell.includes('"')) return Result.fail(`line ${line}: a cell with a quote in it must be quoted`)
      cells.push(cell)
      at = end
    }
    const separator = text.startsWith("\r\n", at) ? "\r\n" : text.slice(at, at + 1)
    if (separator !== "," && separator !== "\n" && separator !== "\r\n" && separator !== "")
      return Result.fail(`line ${line}: text behind the closing quote of a cell`)
    at += separator.length
    if (separator !== ",") endRecord()
    // A comma at the end of the text is followed by an empty cell.
    else if (at === text.length) {
      cells.push("")
      endRecord()
    }
    if (cells.length === 0) yield
  }
  return Result.succeed(rows)
}

/** Parses a short text at once. */
export const parse = (text: string): Result.Result<ReadonlyArray<Row>, string> => TimeSlices.atOnce(parsing(text))

/** The cell ends at the next comma or line end; a lone CR belongs to it. */
const endOfCell = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++)
    if (text[at] === "," || text[at] === "\n" || (text[at] === "\r" && text[at + 1] === "\n")) return at
  return text.length
}

const quoted = (text: string, from: number): { readonly value: string; readonly end: number } | null => {
  let value = ""
  let at = from + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return null
    value += text.slice(at, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    at = quote + 2
  }
}

export type Cell = string | number | boolean | null

/**
 * A spreadsheet takes a cell that begins with one of these for a formula, and tenants or their callers may have written
 * one. Such a text gets an apostrophe in front, which spreadsheets do not show. A text that is itself a number (an
 * amount, a number in E.164) stays as it is.
 */
const formula = /^[=+\-@\t\r]/u
const plainNumber = /^[+-]?[0-9]+(\.[0-9]+)?$/u
const needsQuotes = /[",\r\n]/u

const written = (cell: Cell): string => {
  if (cell === null) return ""
  if (typeof cell !== "string") return String(cell)
  const text = formula.test(cell) && !plainNumber.test(cell) ? `'${cell}` : cell
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One record with its CRLF; cells are quoted only where they must be. */
export const record = (cells: ReadonlyArray<Cell>): string => `${cells.map(written).join(",")}\r\n`

/** The text of a file, a portion of `rows` at a time, under a header with the names of the columns. */
export const file = <Column extends string, E>(
  columns: ReadonlyArray<Column>,
  rows: Stream.Stream<ReadonlyArray<Readonly<Record<Column, Cell>>>, E>
): Stream.Stream<string, E> =>
  Stream.concat(
    Stream.succeed(record(columns)),
    Stream.map(rows, (portion) => portion.map((row) => record(columns.map((column) => row[column]))).join(""))
  )
