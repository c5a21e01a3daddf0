import * as Printable from "../../../domain/schema/Printable.ts"

/** Columns are as wide as their widest cell, with two spaces between them and no trailing spaces. */
export const table = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>
): string => {
  if (rows.length === 0) return "none"
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
  const widths = columns.map((_, index) =>
    // A rate deck has more rows than a function call can have arguments.
    lines.reduce((widest, line) => Math.max(widest, (line[index] ?? "").length), 0)
  )
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** Each field has a line; the fields of a nested object are indented under its name. */
export const fields = (value: Readonly<Record<string, unknown>>, indent = ""): string =>
  Object.entries(value)
    .map(([name, inner]) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? `${indent}${name}\n${fields(inner as Readonly<Record<string, unknown>>, `${indent}  `)}`
        : `${indent}${name}: ${cell(inner)}`
    )
    .join("\n")

/** Control characters in a tenant's text are neutralized, so that it cannot leave its cell. */
const cell = (value: unknown): string =>
  value === null || value === undefined
    ? "-"
    : Printable.neutral(typeof value === "string" ? value : JSON.stringify(value))
