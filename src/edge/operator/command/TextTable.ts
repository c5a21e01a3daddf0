import * as Printable from "../../../domain/schema/Printable.ts"

/** Plain text for people: columns are as wide as their widest cell, with two spaces between and no trailing blanks. */
export const table = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>
): string => {
  if (rows.length === 0) return "none"
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))]
  const widths = columns.map((_, index) =>
    // A deck has more rows than a call has arguments.
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

/** One field on each line; the fields of a nested object are indented under its name. */
export const fields = (value: Readonly<Record<string, unknown>>, indent = ""): string =>
  Object.entries(value)
    .map(([name, inner]) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? `${indent}${name}\n${fields(inner as Readonly<Record<string, unknown>>, `${indent}  `)}`
        : `${indent}${name}: ${cell(inner)}`
    )
    .join("\n")

/** What tenants wrote stays in its cell. */
const cell = (value: unknown): string =>
  value === null || value === undefined
    ? "-"
    : Printable.neutral(typeof value === "string" ? value : JSON.stringify(value))
