/**
 * Which methods a path has, for 405 with `Allow` (decision D15): the router itself knows only "found" and "not found".
 */
export interface Route {
  readonly method: string
  /** `/v1/calls/:id`; with or without a trailing slash. */
  readonly path: string
}

interface Entry {
  readonly segments: ReadonlyArray<string>
  readonly methods: Set<string>
}

const segmentsOf = (path: string): ReadonlyArray<string> => path.replace(/\/$/, "").split("/").slice(1)

export const make = (routes: ReadonlyArray<Route>) => {
  const entries = new Map<string, Entry>()
  for (const { method, path } of routes) {
    const key = segmentsOf(path)
      .map((segment) => (segment.startsWith(":") ? ":" : segment))
      .join("/")
    const entry = entries.get(key) ?? { segments: key.split("/"), methods: new Set() }
    entry.methods.add(method)
    if (method === "GET") entry.methods.add("HEAD")
    entries.set(key, entry)
  }
  const byLength = Map.groupBy(entries.values(), (entry) => entry.segments.length)

  /** Methods of the path, static segments before parameters; empty when there is no such path. */
  const methodsOf = (path: string): ReadonlyArray<string> => {
    const segments = segmentsOf(path)
    let best: Entry | undefined
    for (const entry of byLength.get(segments.length) ?? []) {
      const matches = entry.segments.every((segment, index) =>
        segment === ":" ? segments[index] !== "" : segment === segments[index]
      )
      if (matches && (best === undefined || parameters(entry) < parameters(best))) best = entry
    }
    return best === undefined ? [] : [...best.methods].sort()
  }
  return { methodsOf }
}

const parameters = (entry: Entry): number => entry.segments.filter((segment) => segment === ":").length
