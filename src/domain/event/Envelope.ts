import { Schema } from "effect"
import * as Id from "../Id.ts"
import { catalogue, type EventType, type PublicEvent } from "./EventCatalogue.ts"
import * as Field from "../Field.ts"
import { exampleOf } from "./PublicEvent.ts"

const exampleId = Id.EventId.make(Field.exampleUuid)

const head = {
  event_id: Id.EventId.check(Schema.isPattern(Id.uuidPattern)).annotate({
    description: "Unique; the same event comes with the same id again when its delivery is repeated.",
    examples: [exampleId]
  }),
  occurred_at: Field.moment("When it happened."),
  sequence: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
    description: "1, 2, 3 … for each call, conference or number order: the order in which its events happened.",
    examples: [1]
  })
}
type Head = { readonly [Name in keyof typeof head]: (typeof head)[Name]["Type"] }

/** What a webhook's body is: the event in its envelope. */
export const schemaOf = (type: EventType) =>
  Schema.Struct({
    event_id: head.event_id,
    event_type: Schema.Literal(type).annotate({ description: "The name of the event." }),
    occurred_at: head.occurred_at,
    sequence: head.sequence,
    data: catalogue[type].data.annotate({ description: "What happened." })
  })

/** The bytes of a webhook's body, as JSON text. */
export const render = (event: PublicEvent, { event_id, occurred_at, sequence }: Head): string =>
  JSON.stringify({ event_id, event_type: event.type, occurred_at, sequence, data: event.data })

/** A body as it may come, put together of the examples of its fields. */
export const example = (type: EventType) => ({
  event_id: exampleId,
  event_type: type,
  occurred_at: "2026-01-01T00:00:00.000Z",
  sequence: 1,
  data: exampleOf(catalogue[type])
})
