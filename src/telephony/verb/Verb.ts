import type { Schema } from "effect"
import type { Code } from "../../domain/ErrorCatalogue.ts"
import type { Speech } from "../../ports/media/PlaybackMessages.ts"
import type * as TranscriptionMessages from "../../ports/media/TranscriptionMessages.ts"

/** The schema of a request body, with defaults and wire names. It decodes to plain JSON, which the journal keeps. */
export type Body = Schema.Codec<unknown, unknown>

/**
 * A verb of a call or a conference, as its table, the HTTP side and the OpenAPI document need it. `When` names the
 * states in which it is possible. In every other state it answers with an error that all verbs of the entity have.
 */
export interface Verb<S extends Body = Body, When extends string = string> {
  readonly summary: string
  readonly when: When
  readonly body: S
  /** The schema of the bodies that the journal keeps, where earlier versions took more than `body` does. */
  readonly kept?: Body
  /** The errors it may answer with, besides those that every verb may. */
  readonly errors?: ReadonlyArray<Code>
  /** URLs in the body, if any, that this service will open, by their wire names: the egress port may refuse them. */
  targets?(body: S["Type"]): Readonly<Record<string, string | undefined>>
  /** The same for `wss` URLs. */
  sockets?(body: S["Type"]): Readonly<Record<string, string | undefined>>
  /** The voice of the action, which the synthesizer may lack. Its fields are named on the wire as in the body. */
  speaks?(body: S["Type"]): Speaking
  /** The recognition that it needs, whose engine may not exist. Its fields are named on the wire as in the body. */
  recognizes?(body: S["Type"]): Recognizing
}

interface Recognizing {
  readonly engine: typeof TranscriptionMessages.Engine.Type
  readonly language: string
}

/** How a text is to be spoken. */
export type Speaking = Omit<Speech, "text">

/** The errors of anything that costs money and cannot be reserved, guide/money.md#reservations. */
export const reservationErrors = [
  "balance_insufficient",
  "auto_recharge_failed",
  "daily_spend_cap_exceeded",
  "monthly_spend_cap_exceeded"
] as const satisfies ReadonlyArray<Code>
