import type { Schema } from "effect"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import type { Speech } from "../../../ports/media/Playback.ts"
import type * as Transcription from "../../../ports/media/Transcription.ts"

/**
 * When the API may use a verb.
 *
 * - `offered`: an inbound call that nobody has answered, and nobody is answering.
 * - `talking`: answered, bridged or not.
 * - `answered`: answered, and not bridged.
 * - `live`: not terminal.
 * - `running`: talking, and work of the verb's family goes on.
 */
export type When = "offered" | "talking" | "answered" | "live" | "running"

/** The body of a request, with defaults and wire names. It decodes to plain JSON, which the journal keeps. */
export type Body = Schema.Codec<unknown, unknown>

/**
 * What the HTTP side and the documents know of a verb. What the verb does stands in its family, or in `ActionRows`.
 */
export interface Verb<S extends Body = Body> {
  readonly summary: string
  readonly when: When
  readonly body: S
  /** What it may answer, besides what every verb may. */
  readonly errors?: ReadonlyArray<Code>
  /** URLs in the body that this service will open, by their names on the wire: the egress port may refuse them. */
  targets?(body: S["Type"]): Readonly<Record<string, string>>
  /** The same of `wss` URLs. */
  sockets?(body: S["Type"]): Readonly<Record<string, string>>
  /** How it speaks: the synthesizer may have no such voice. Its fields are named on the wire as in the body. */
  speaks?(body: S["Type"]): Speaking
  /** What it wants to be recognized: there may be no such engine. Its fields are named on the wire as in the body. */
  recognizes?(body: S["Type"]): Recognizing
}

export interface Recognizing {
  readonly engine: typeof Transcription.Engine.Type
  readonly language: string
}

/** How a text is to be spoken. */
export type Speaking = Omit<Speech, "text">

/** What refuses whatever costs something: its money cannot be reserved, guide/money.md#reservations. */
export const reservationErrors = [
  "balance_insufficient",
  "auto_recharge_failed",
  "daily_spend_cap_exceeded",
  "monthly_spend_cap_exceeded"
] as const satisfies ReadonlyArray<Code>

/** A verb of call control. */
export const control = <S extends Body>(verb: Verb<S>) => ({ ...verb, family: null })
