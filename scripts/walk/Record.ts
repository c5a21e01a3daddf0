/** One thing that was asked and what came of it, normalised. */
export interface Entry {
  readonly name: string
  readonly text: string
}

/** The entries of a walk by section: requests, document, guide, webhooks and operator. */
export type Record = Readonly<{ [section: string]: ReadonlyArray<Entry> }>

/** Differences that are shown of each section. */
const shown = 5
/** Characters that are shown before and after the place where two texts part. */
const before = 60
const after = 140

const excerpt = (text: string, at: number): string => {
  const from = Math.max(0, at - before)
  const part = text.slice(from, at + after)
  return `${from > 0 ? "…" : ""}${part}${at + after < text.length ? "…" : ""}`.replaceAll("\n", "⏎")
}

const partingOf = (one: string, other: string): number => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

/** Lines for people: how many entries of each section differ, and where the first of them part. */
export const compare = (
  one: Record,
  other: Record,
  sections: ReadonlyArray<string> = [...new Set([...Object.keys(one), ...Object.keys(other)])]
): { readonly differences: number; readonly lines: ReadonlyArray<string> } => {
  let differences = 0
  const lines: Array<string> = []
  for (const section of sections) {
    const [ones, others] = [one[section] ?? [], other[section] ?? []]
    const length = Math.max(ones.length, others.length)
    const details: Array<string> = []
    let differing = 0
    for (let at = 0; at < length; at++) {
      const [a, b] = [ones[at], others[at]]
      if (a?.name === b?.name && a?.text === b?.text) continue
      differing++
      if (differing > shown) continue
      details.push(`  ${a?.name ?? "(none)"}`)
      if (a?.name !== b?.name) details.push(`  ${b?.name ?? "(none)"}`)
      if (a === undefined || b === undefined || a.text === b.text) continue
      const parting = partingOf(a.text, b.text)
      details.push(`    - ${excerpt(a.text, parting)}`, `    + ${excerpt(b.text, parting)}`)
    }
    lines.push(`${section}: ${ones.length} and ${others.length}, ${differing} differ`, ...details)
    if (differing > shown) lines.push(`  and ${differing - shown} more`)
    differences += differing
  }
  return { differences, lines }
}
