import * as CallEvent from "./CallEvent.ts"
import * as ConferenceEvent from "./ConferenceEvent.ts"
import * as NumberOrderEvent from "./NumberOrderEvent.ts"
import type { EmittedOf, Row } from "./PublicEvent.ts"
import * as RecordingEvent from "./RecordingEvent.ts"
import * as StreamEvent from "./StreamEvent.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

/** Every public event, family by family. */
const rows = {
  ...CallEvent.rows,
  ...RecordingEvent.rows,
  ...StreamEvent.rows,
  ...ConferenceEvent.rows,
  ...NumberOrderEvent.rows,
  ...WebhookEvent.rows
} as const

/** Names that a subscription may list. */
export type EventType = keyof typeof rows

export const catalogue: Readonly<Record<EventType, Row>> = rows

/** Any event as it is emitted; it becomes a row of the journal. */
export type PublicEvent = EmittedOf<typeof rows>

/** The events that the machine of a call emits: of the call itself, and of its recordings and streams. */
export type EmittedByCall = EmittedOf<typeof CallEvent.rows & typeof RecordingEvent.rows & typeof StreamEvent.rows>

/** The events that the machine of a conference emits: of the conference itself, and of its recordings. */
export type EmittedByConference = EmittedOf<typeof ConferenceEvent.rows & typeof RecordingEvent.rows>

export const isEventType = (name: string): name is EventType => Object.hasOwn(rows, name)

export const eventTypes: ReadonlyArray<EventType> = Object.keys(rows).filter(isEventType)
