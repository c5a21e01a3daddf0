import { Result, Schema } from "effect"
import * as Envelope from "../../src/domain/event/Envelope.ts"
import { catalogue, type EventType, eventTypes, isEventType } from "../../src/domain/event/EventCatalogue.ts"

/**
 * Checks every public event that a test sees, made by a machine or delivered: the event has a row, and its data and
 * envelope have the fields of that row, no more and no less.
 */
const strict = { onExcessProperty: "error" } as const

const rows = new Map(
  eventTypes.map((type) => [
    type as string,
    {
      made: Schema.decodeUnknownResult(Schema.toType(catalogue[type].data)),
      data: Schema.decodeUnknownResult(catalogue[type].data),
      envelope: Schema.decodeUnknownResult(Envelope.schemaOf(type))
    }
  ])
)

/** The fault of this value; null: it has none. */
const faultOf = (type: string, part: "made" | "data" | "envelope", value: unknown): string | null => {
  const row = rows.get(type)
  if (row === undefined || !isEventType(type)) return `there is no event "${type}"`
  const decoded = row[part](value, strict)
  return Result.isFailure(decoded) ? `${type}: ${decoded.failure.message}` : null
}

/** The fault of a body as it was delivered or stored. */
export const faultOfBody = (body: string): string | null => {
  const envelope: unknown = JSON.parse(body)
  const type = typeof envelope === "object" && envelope !== null && "event_type" in envelope ? envelope.event_type : ""
  return faultOf(String(type), "envelope", envelope)
}

const demand = (fault: string | null): void => {
  if (fault !== null) throw new Error(fault)
}

/** Throws unless each event, as a machine makes it and as the wire has it, agrees with its row. */
export const check = (events: ReadonlyArray<{ readonly type: string; readonly data: unknown }>): void => {
  for (const { data, type } of events) {
    demand(faultOf(type, "made", data))
    if (isEventType(type)) demand(faultOf(type, "data", Envelope.dataOf({ type, data })))
  }
}

/** Throws unless the body agrees with its row. */
export const checkBody = (body: string): void => demand(faultOfBody(body))

/** A whole body of this event: the example of its row, with these fields replaced. */
export const bodyOf = (
  type: EventType,
  head: { readonly event_id: string; readonly sequence: number },
  data: Readonly<Record<string, unknown>>
): string => {
  const example = Envelope.example(type)
  return JSON.stringify({ ...example, ...head, data: { ...example.data, ...data } })
}
