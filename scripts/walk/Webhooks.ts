import { at, textAt } from "../demo/Json.ts"
import type { Normal } from "./Normal.ts"
import type { Entry } from "./Record.ts"

/**
 * The first webhook of each event type for each call, room, order and subscription. Digits and speech are left out,
 * because their number depends on time, and so do the numbers of a sequence.
 */
export const entries = (bodies: ReadonlyArray<string>, normal: Normal): ReadonlyArray<Entry> => {
  const first = new Map<string, { readonly sequence: number; readonly body: string }>()
  for (const body of bodies) {
    const envelope: unknown = JSON.parse(body)
    if (/dtmf|speaking/.test(textAt(envelope, "event_type"))) continue
    const data = at(envelope, "data")
    const about = ["call_id", "conference_id", "order_id", "subscription_id"].map((field) => at(data, field))
    const subject = about.find((id) => typeof id === "string") ?? "nothing"
    const name = `${textAt(envelope, "event_type")} ${normal.aside(subject)}`
    const sequence = Number(at(envelope, "sequence"))
    if (sequence < (first.get(name)?.sequence ?? Infinity)) first.set(name, { sequence, body })
  }
  return [...first]
    .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
    .map(([name, { body }]) => ({
      name,
      text: normal.aside(body).replace(/"(event_id|sequence|duration_seconds)":("[^"]*"|\d+|<n>)/g, '"$1":<any>')
    }))
}
