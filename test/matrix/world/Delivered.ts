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

const isOfRoom = ({ event_type }: Event): boolean =>
  event_type.startsWith("conference.") || event_type.startsWith("recording.")

/** The events of a call are one line; a room has a line for each member, one for its speaking, and one for the rest. */
const lineOf = ({ data, event_type }: Event): string =>
  event_type.startsWith("conference.member_")
    ? `${String(data["member_id"])} ${event_type.startsWith("conference.member_speaking_")}`
    : ""

/** The call or the conference that owns and numbers the event; null: another entity does. */
const ownerOf = (event: Event): string | null => {
  const { data } = event
  const id = (isOfRoom(event) ? data["conference_id"] : null) ?? data["call_id"]
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
      // Deliveries do not fail here, so no retry comes late.
      const before = tape.all.findLast((each) => lineOf(each) === lineOf(event))?.sequence ?? 0
      const isNext = isOfRoom(event) ? event.sequence > before : event.sequence === before + 1
      if (!isNext) faults.push(`${event.event_type} of ${owner} came after ${before}, and is ${event.sequence}`)
      tape.push(event)
    }
    all.push(event)
  })
  return { of, all, faults }
}
