/**
 * The text of one run in a form that another run gives again: random ids are numbered by kind in the order in which
 * they are first seen, and values that depend on time or on the machine become placeholders.
 */
export interface Normal {
  /** Numbers ids that are seen for the first time. */
  readonly text: (raw: string) => string
  /** Numbers nothing: an id that `text` has not seen keeps its kind only, so this text cannot shift later numbers. */
  readonly aside: (raw: string) => string
}

/** Figures that depend on how long something took. A zero is kept, because it says that nothing was counted yet. */
const measured = [
  "duration_seconds",
  "size_bytes",
  "call_seconds",
  "packets",
  "lost",
  "jitter_ms",
  "jitter_mean_ms",
  "jitter_max_ms",
  "mos",
  "round_trip_ms",
  "offset_ms"
].join("|")
/** Strings that are random, and fields that are filled in some time after the request that they show. */
const secret = ["client_secret", "download_url", "pdf_url", "last_used_at", "last_used_ip", "chain_hash"].join("|")

const patterns: ReadonlyArray<readonly [name: string, pattern: string]> = [
  ["key", "svc_live_[\\w-]{7,}"],
  ["id", "svc_[a-z]+_[0-9a-f]{32}"],
  ["uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
  ["whsec", "whsec_[\\w+/=-]+"],
  ["secret", `"(?:${secret})":"[^"]*"`],
  ["unset", '"(?:last_used_at|last_used_ip)":null|"is_speaking":(?:true|false)'],
  ["measured", `"(?:${measured})":-?[0-9.]+`],
  ["token", '"token":"[\\w-]{30,}"'],
  ["intent", "(?:pi|seti)_dev_[0-9a-f]+"],
  ["millis", "\\b1[789]\\d{11}\\b"],
  ["time", "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z"],
  ["csv", "(?<=Z,)[1-9]\\d*(?=,[a-z_]+,)"],
  ["date", "\\b20\\d{2}-\\d\\d(?:-\\d\\d)?\\b"],
  ["port", "127\\.0\\.0\\.1:\\d{4,5}"],
  ["cursor", "cursor=[\\w%.~-]+"],
  ["hash", "\\b(?:[0-9a-f]{64}|[0-9a-f]{32})\\b"]
]
const any = new RegExp(patterns.map(([name, pattern]) => `(?<${name}>${pattern})`).join("|"), "g")
/** A key is shown by its prefix in lists, so both get the same number. */
const prefixLength = 16

export const make = (): Normal => {
  const seen = new Map<string, number>()
  const counts = new Map<string, number>()
  const numbered = (kind: string, value: string, assigns: boolean): string => {
    let number = seen.get(value)
    if (number === undefined) {
      if (!assigns) return `<${kind}>`
      number = (counts.get(kind) ?? 0) + 1
      counts.set(kind, number)
      seen.set(value, number)
    }
    return `<${kind} ${number}>`
  }
  const replace = (raw: string, assigns: boolean): string =>
    raw.replace(any, (...match: ReadonlyArray<unknown>) => {
      const found = String(match[0])
      const groups = match.at(-1) as Readonly<Record<string, string | undefined>>
      const kind = patterns.find(([name]) => groups[name] !== undefined)?.[0]
      switch (kind) {
        case "key":
          return numbered("key", found.slice(0, prefixLength), assigns) + (found.length > prefixLength ? "" : "…")
        case "id":
          return numbered(found.slice(0, found.lastIndexOf("_")), found, assigns)
        case "uuid":
          return numbered("uuid", found, assigns)
        case "whsec":
          return "<whsec>"
        case "secret":
        case "unset":
          return `${found.slice(0, found.indexOf(":"))}:<any>`
        case "measured":
          return found.endsWith(":0") ? found : `${found.slice(0, found.indexOf(":"))}:<n>`
        case "time":
        case "date":
          return found.replace(/\d/g, "0")
        case "csv":
          return "<n>"
        case "port":
          return "127.0.0.1:<port>"
        case "cursor":
          return "cursor=<cursor>"
        default:
          return `<${kind}>`
      }
    })
  return { text: (raw) => replace(raw, true), aside: (raw) => replace(raw, false) }
}
