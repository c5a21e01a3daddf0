import type { Schema } from "effect"
import type { Speaking } from "../../call/Call.ts"
import type { Code } from "../../../domain/ErrorCatalogue.ts"

/** The schema of a request body, with defaults and wire names. It decodes to plain JSON, which the journal keeps. */
export type Body = Schema.Codec<unknown, unknown>

/** A verb as the HTTP side and the OpenAPI document need it. Its behaviour is in `OnConferenceAction`. */
export interface Verb<S extends Body = Body> {
  readonly summary: string
  readonly body: S
  /** The errors it may answer with, besides `not_found` and `conference_already_ended`. */
  readonly errors: ReadonlyArray<Code>
  /** URLs in the body that this service will open, by their wire names: the egress port may refuse them. */
  targets?(body: S["Type"]): Readonly<Record<string, string>>
  /** The voice of the action, which the synthesizer may lack. Its fields are named on the wire as in the body. */
  speaks?(body: S["Type"]): Speaking
}

export const verb = <const S extends Body>(row: Verb<S>) => row
