import { Schema } from "effect"
import * as Id from "../Id.ts"
import { catalogue, type EventType, type PublicEvent } from "./EventCatalogue.ts"
import * as Field from "../schema/Field.ts"
import * as Timestamp from "../time/Timestamp.ts"
import * as Secret from "../schema/Secret.ts"
import * as Wire from "../schema/Wire.ts"
import { exampleOf } from "./PublicEvent.ts"

const exampleId = Id.EventId.make(Field.exampleUuid)

const head = {
  eventId: Id.EventId.check(Schema.isPattern(Id.uuidPattern)).annotate({
    description: "Unique; the same event comes with the same id again when its delivery is repeated.",
    examples: [exampleId]
  }),
  occurredAt: Field.time("When it happened."),
  sequence: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
    description: "1, 2, 3 … for each call, conference or number order: the order in which its events happened.",
    examples: [1]
  })
}
type Head = { readonly [Name in keyof typeof head]: (typeof head)[Name]["Type"] }

/** The body of a webhook: the event in its envelope. */
export const schemaOf = (type: EventType) =>
  Wire.struct({
    eventId: head.eventId,
    eventType: Schema.Literal(type).annotate({ description: "The name of the event." }),
    occurredAt: head.occurredAt,
    sequence: head.sequence,
    data: catalogue[type].data.pipe(Schema.annotateEncoded({ description: "What happened." }))
  })

/** The wire form of the data that a machine made. */
export const dataOf = ({ data, type }: { readonly type: EventType; readonly data: unknown }): unknown =>
  Wire.encoder(catalogue[type].data)(data)

const secrets = new Map<string, Secret.Places>(
  Object.entries(catalogue).map(([type, { data }]) => [type, Secret.encodedPlaces(data)])
)

/** The data of an event in its wire form, masked for readers other than its tenant. */
export const masked = <Data>(type: string, data: Data): Data =>
  secrets.get(type)?.(data, (value, kind) =>
    typeof value === "string" ? (Secret.shown(kind, value) ?? value) : value
  ) ?? data

/** The body of a webhook as JSON text. */
export const render = (event: PublicEvent, { eventId, occurredAt, sequence }: Head): string =>
  JSON.stringify({
    event_id: eventId,
    event_type: event.type,
    occurred_at: Timestamp.format(occurredAt),
    sequence,
    data: dataOf(event)
  })

/** An example of a body, composed of the examples of its fields. */
export const example = (type: EventType) => ({
  event_id: exampleId,
  event_type: type,
  occurred_at: "2026-01-01T00:00:00.000Z",
  sequence: 1,
  data: exampleOf(catalogue[type])
})
