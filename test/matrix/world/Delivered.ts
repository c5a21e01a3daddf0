/** Every delivered webhook, by call: signed, in order, and matching the published document. */
import { Result, Schema, SchemaRepresentation } from "effect"
import { eventTypes } from "../../../src/domain/event/EventCatalogue.ts"
import * as Document from "../../../src/edge/http/document/Document.ts"
import type { Event, Receiver } from "../../crash/support/peer/Receiver.ts"
import * as Tape from "./Tape.ts"

const document = JSON.parse(Document.render()) as {
  readonly webhooks: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: {
            readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } }
          }
        }
      }
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** The fault of a body by the published schema of its event, as a code generator would find it; null: none. */
const faultOf: ReadonlyMap<string, (body: unknown) => string | null> = new Map(
  eventTypes.map((type) => {
    const name = document.webhooks[type]?.post.requestBody.content["application/json"].schema.$ref.split("/").at(-1)
    const schema = SchemaRepresentation.fromJsonSchemaDocument(
      {
        dialect: "draft-2020-12",
        schema: { $ref: `#/$defs/${name}` },
        definitions: document.components.schemas as never
      },
      { patterns: "apply" }
    ) as Schema.Codec<unknown>
    const decode = Schema.decodeUnknownResult(schema)
    return [
      type,
      (body: unknown) => Result.match(decode(body), { onSuccess: () => null, onFailure: ({ message }) => message })
    ]
  })
)

export interface Delivered {
  /** The events of one call or conference, in order of arrival. */
  readonly of: (id: string) => Tape.Tape<Event>
  readonly all: Tape.Tape<Event>
  /** The violations, one line each. */
  readonly faults: ReadonlyArray<string>
}

/** The call or the conference that owns and numbers the event; null: another entity does. */
const ownerOf = ({ data, event_type }: Event): string | null => {
  const isOfRoom = event_type.startsWith("conference.") || event_type.startsWith("recording.")
  const id = (isOfRoom ? data["conference_id"] : null) ?? data["call_id"]
  return typeof id === "string" ? id : null
}

const showEvent = ({ data, event_type }: Event): string => `${event_type} ${JSON.stringify(data)}`

export const to = (receiver: Receiver): Delivered => {
  const tapes = new Map<string, Tape.Tape<Event>>()
  const all = Tape.make<Event>(({ event_type }) => event_type)
  const faults: Array<string> = []
  const of = (id: string) => {
    const known = tapes.get(id)
    if (known !== undefined) return known
    const tape = Tape.make(showEvent)
    tapes.set(id, tape)
    return tape
  }
  receiver.listen((event) => {
    const fault = faultOf.get(event.event_type)?.(event)
    if (fault !== null) faults.push(`${event.event_type} is not as the document says: ${fault}`)
    const owner = ownerOf(event)
    if (owner !== null) {
      const tape = of(owner)
      // Deliveries do not fail here, so no retry is overtaken.
      if (event.sequence !== tape.all.length + 1)
        faults.push(`${event.event_type} of ${owner} came as ${tape.all.length + 1}, and is ${event.sequence}`)
      tape.push(event)
    }
    all.push(event)
  })
  return { of, all, faults }
}
