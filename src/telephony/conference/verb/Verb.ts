import type { Schema } from "effect"
import type { Speaking } from "../../call/Call.ts"
import type { Code } from "../../../domain/ErrorCatalogue.ts"

/** The body of a request, with defaults and wire names. It decodes to plain JSON, which the journal keeps. */
export type Body = Schema.Codec<unknown, unknown>

/** What the HTTP side and the documents know of a verb. What it does stands in `ActionRows`. */
export interface Verb<S extends Body = Body> {
  readonly summary: string
  readonly body: S
  /** What it may answer, besides `not_found` and `conference_already_ended`. */
  readonly errors: ReadonlyArray<Code>
  /** URLs in the body that this service will open, by their names on the wire: the egress port may refuse them. */
  targets?(body: S["Type"]): Readonly<Record<string, string>>
  /** How it speaks: the synthesizer may have no such voice. Its fields are named on the wire as in the body. */
  speaks?(body: S["Type"]): Speaking
}

export const verb = <const S extends Body>(row: Verb<S>) => row
