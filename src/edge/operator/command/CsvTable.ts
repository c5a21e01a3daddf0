import { Result } from "effect"
import type * as TimeSlices from "../../../domain/time/TimeSlices.ts"
import * as Csv from "../../../domain/schema/Csv.ts"

/** Larger imports are refused, because an import is one transaction and is held in memory. */
const recordLimit = 200_000

/**
 * Reads the records of a CSV text whose first record names its columns, in any order. Fails with one sentence that
 * names the line of the first fault.
 *
 * Two records must not have the same `key`. Cells are trimmed; a column that is missing from the text reads as "".
 */
export function* read<Column extends string, A>(
  text: string,
  columns: { readonly required: ReadonlyArray<Column>; readonly optional: ReadonlyArray<Column> },
  decode: (cell: (column: Column) => string) => Result.Result<A, string>,
  key: (value: A) => string
): TimeSlices.Work<Result.Result<ReadonlyArray<A>, string>> {
  const parsed = yield* Csv.parsing(text)
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  const [header] = parsed.success
  const records = parsed.success.slice(1)
  if (header === undefined) return Result.fail("line 1: there is no header")
  const names = header.cells.map((cell) => cell.trim().toLowerCase())
  const fault = headerFault(names, columns)
  if (fault !== null) return Result.fail(`line ${header.line}: ${fault}`)
  if (records.length > recordLimit) return Result.fail(`there are more than ${recordLimit} records`)
  const values: Array<A> = []
  const lines = new Map<string, number>()
  for (const { cells, line } of records) {
    if (cells.length !== names.length)
      return Result.fail(`line ${line}: ${cells.length} cells under ${names.length} columns`)
    const decoded = decode((column) => cells[names.indexOf(column)]?.trim() ?? "")
    if (Result.isFailure(decoded)) return Result.fail(`line ${line}: ${decoded.failure}`)
    const name = key(decoded.success)
    const earlier = lines.get(name)
    if (earlier !== undefined) return Result.fail(`line ${line}: ${name} stands on line ${earlier} already`)
    lines.set(name, line)
    values.push(decoded.success)
    yield
  }
  return Result.succeed(values)
}

const headerFault = (
  names: ReadonlyArray<string>,
  columns: { readonly required: ReadonlyArray<string>; readonly optional: ReadonlyArray<string> }
): string | null => {
  const all = [...columns.required, ...columns.optional]
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) return `no column is named "${unknown}"; there are ${all.join(", ")}`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `the column ${twice} is named twice`
  const missing = columns.required.find((name) => !names.includes(name))
  return missing === undefined ? null : `the column ${missing} is missing`
}

/** A whole number from 0 to `max`, in decimal digits. */
export const natural = (column: string, cell: string, max: number): Result.Result<number, string> =>
  /^[0-9]{1,15}$/.test(cell) && Number(cell) <= max
    ? Result.succeed(Number(cell))
    : Result.fail(`${column} must be a whole number from 0 to ${max}, not "${cell}"`)
