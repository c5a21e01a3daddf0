/** Knows which methods a path has, for 405 with `Allow` and for OPTIONS; the router only knows whether it found one. */
export interface Route {
  readonly method: string
  /** For example `/v1/calls/:id`, with or without a trailing slash. */
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
    const segments = segmentsOf(path).map((segment) => (segment.startsWith(":") ? ":" : segment))
    const key = segments.join("/")
    const entry = entries.get(key) ?? { segments, methods: new Set() }
    entry.methods.add(method)
    if (method === "GET") entry.methods.add("HEAD")
    entry.methods.add("OPTIONS")
    entries.set(key, entry)
  }
  const byLength = Map.groupBy(entries.values(), (entry) => entry.segments.length)

  /** Methods of the path. Static segments precede parameters. Empty when there is no such path. */
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

  /**
   * Routes that the router would give to a parameter although a static path takes precedence. With `POST /x/order`
   * beside `GET /x/:id`, one is `GET /x/order`, which must be a 405.
   */
  const shadowed: ReadonlyArray<Route> = [...entries.values()].flatMap((entry) =>
    (byLength.get(entry.segments.length) ?? [])
      .filter((other) => other !== entry && covers(other, entry))
      .flatMap((other) => [...other.methods].filter((method) => isRouted(method) && !entry.methods.has(method)))
      .filter((method, index, all) => all.indexOf(method) === index)
      .map((method) => ({ method, path: `/${entry.segments.map((name) => (name === ":" ? ":id" : name)).join("/")}` }))
  )
  return { methodsOf, shadowed }
}

/** The router finds HEAD through GET, and OPTIONS not at all. */
const isRouted = (method: string): boolean => method !== "HEAD" && method !== "OPTIONS"

/** Whether every path of `entry` also matches `wider`. */
const covers = (wider: Entry, entry: Entry): boolean =>
  wider.segments.every((segment, index) => segment === ":" || segment === entry.segments[index])

const parameters = (entry: Entry): number => entry.segments.filter((segment) => segment === ":").length
