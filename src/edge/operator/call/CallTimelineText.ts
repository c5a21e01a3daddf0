import * as EndWhy from "../../../domain/EndWhy.ts"
import * as Printable from "../../../domain/schema/Printable.ts"
import type { Json } from "../../../runtime/store/journal/Journal.ts"
import type { CallTimeline } from "../../../telephony/call/Call.ts"

type Fields = Readonly<Record<string, Json>>

/** These fields repeat what the line already shows, or are too long and opaque to read. */
const unsaid: ReadonlySet<string> = new Set([
  "type",
  "at",
  "incarnation",
  "n",
  "callId",
  "legId",
  "commandId",
  "id",
  "tenantId",
  "routeId",
  "resume",
  "terms",
  "origin"
])

/**
 * Renders a timeline as lines of text: the time since the first input, the input, its changes, the commands that it
 * sent, its events and their deliveries. `states` adds the whole state after each input.
 */
export const render = (timeline: CallTimeline.CallTimeline, options: { readonly states: boolean }): string => {
  const start = timeline.steps[0]?.at ?? 0
  const events = new Map(timeline.events.map((event) => [event.sequence, event]))
  const lines = [...heading(timeline), ""]
  for (const step of timeline.steps) {
    lines.push(`${offset(step.at - start)}  #${step.seq}  ${describe(step.input)}`)
    const say = (line: string) => lines.push(`${" ".repeat(14)}${line}`)
    if (step.fault !== null) say(`!! ${step.fault}`)
    if (step.changes.length > 0)
      say(`   ${step.changes.map(({ from, path, to }) => `${path} ${brief(from)} -> ${brief(to)}`).join(", ")}`)
    for (const command of step.commands) say(`-> ${describe(command)}`)
    for (const { cents, type } of step.charges) say(`$  ${type.replace("call_", "")} ${cents} cents`)
    for (const sequence of step.eventSequences) {
      const event = events.get(sequence)
      say(`*  event ${sequence} ${event?.type ?? "(not stored)"}`)
      if (event?.deliveries.length === 0) say("     to nobody")
      for (const delivery of event?.deliveries ?? []) say(`     ${describeDelivery(delivery, start)}`)
    }
    if (options.states && step.state !== null)
      for (const line of JSON.stringify(step.state, null, 2).split("\n")) say(`   ${line}`)
  }
  return [...lines, "", ...verdict(timeline)].join("\n")
}

const heading = ({ callId, seq, settled, stored, tenantId }: CallTimeline.CallTimeline): ReadonlyArray<string> => {
  const state = fieldsOf(stored)
  const text = (field: string) => compact(state[field] ?? null)
  const why = EndWhy.read(state["endWhy"] ?? null)
  return [
    `${callId}  ${text("direction")} ${text("from")} -> ${text("to")}`,
    `tenant ${tenantId}, route ${text("routeId")} (${text("adapter")})`,
    ...(why === null ? [] : [`it ended because: ${why.text}`]),
    `${text("status")}, ${text("endReason")} by ${text("endInitiator")}, ${text("costCents")} cents (${text("ratingStatus")})`,
    `${seq} inputs, ${settled ? "settled" : "not settled"}; times are since ${when(state["initiatedAt"] ?? null)}`
  ]
}

const verdict = ({ agrees, differences, isJournalGone }: CallTimeline.CallTimeline): ReadonlyArray<string> =>
  isJournalGone
    ? ["Its journal was deleted because of its age: there is nothing to replay."]
    : agrees
      ? ["Replaying the journal gives the stored state and events."]
      : [
          "!! REPLAYING THE JOURNAL DOES NOT GIVE WHAT IS STORED:",
          ...differences.map(
            ({ path, replayed, stored }) => `!! ${path}: replayed ${compact(replayed)}, stored ${compact(stored)}`
          )
        ]

/** Shows the type of a value, then the value that it wraps, or else its fields. */
const describe = (value: unknown): string => {
  const fields = fieldsOf(value)
  const inner = fields["action"] ?? fields["event"] ?? fields["media"] ?? null
  if (fields["verb"] !== undefined) return phrase(compact(fields["verb"]), fieldsOf(fields["body"] ?? null))
  const type = compact(fields["type"] ?? null)
  return inner === null ? phrase(type, fields) : `${type} ${describe(inner)}`
}

const phrase = (type: string, fields: Fields): string =>
  [
    type,
    ...Object.entries(fields)
      .filter(([name, value]) => !unsaid.has(name) && value !== null)
      .map(([name, value]) => `${name}=${compact(value)}`)
  ].join(" ")

const describeDelivery = (delivery: CallTimeline.Delivery, start: number): string => {
  const { attemptNo, endpoint, errorMessage, nextRetryAt, responseStatusCode, sentAt, status } = delivery
  return [
    `${endpoint}: ${status}`,
    ...(attemptNo === 0 ? [] : [`attempt ${attemptNo}`]),
    ...(sentAt === null ? [] : [`at ${offset(sentAt - start).trim()}`]),
    ...(responseStatusCode === null ? [] : [`answer ${responseStatusCode}`]),
    ...(errorMessage === null ? [] : [Printable.neutral(errorMessage)]),
    ...(nextRetryAt === null ? [] : [`again at ${offset(nextRetryAt - start).trim()}`])
  ].join(", ")
}

const offset = (ms: number): string => `+${(ms / 1000).toFixed(3)} s`.padStart(12)

const when = (epochMs: Json): string =>
  typeof epochMs === "number" ? new Date(epochMs).toISOString() : "the first input"

const compact = (value: Json): string =>
  value === null ? "-" : Printable.neutral(typeof value === "string" && value !== "" ? value : JSON.stringify(value))

/** An object shows as its type (a pending command), or as `{…}`; `--states` shows it whole. */
const brief = (value: Json): string => {
  if (typeof value !== "object" || value === null) return compact(value)
  const type = fieldsOf(value)["type"]
  return typeof type === "string" ? type : Array.isArray(value) ? "[…]" : "{…}"
}

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})
