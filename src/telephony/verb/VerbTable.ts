import { Schema } from "effect"
import type { Body, Verb } from "./Verb.ts"

/** The verbs of an entity by their wire names, in the order of the published document. */
type Rows = Readonly<Record<string, Verb>>

/** An action of the API: a verb and its body, with defaults applied. */
export type ActionOf<Table extends Rows> = {
  [V in keyof Table & string]: { readonly verb: V; readonly body: Table[V]["body"]["Type"] }
}[keyof Table & string]

/** The parts of a table from which the HTTP side makes endpoints and handlers. */
export interface VerbTable<Name extends string, Action> {
  readonly table: Readonly<Record<Name, Verb>>
  readonly names: ReadonlyArray<Name>
  /** An action with a body that is already decoded. */
  readonly action: (verb: Name, body: unknown) => Action
  /** Decodes a body from the wire; throws on a schema error. */
  readonly decodeAction: (verb: Name, body: unknown) => Action
}

export const make = <const Table extends Rows>(table: Table) => {
  type Name = keyof Table & string
  type Action = ActionOf<Table>
  const names = Object.keys(table) as ReadonlyArray<Name>
  const rows: Readonly<Record<Name, Verb>> = table
  const bodyOf = (verb: Name): Body => rows[verb].body
  const keptBodyOf = (verb: Name): Body => rows[verb].kept ?? rows[verb].body
  const action = (verb: Name, body: unknown) => ({ verb, body }) as Action
  return {
    table,
    names,
    action,
    decodeAction: (verb: Name, body: unknown) => action(verb, Schema.decodeUnknownSync(bodyOf(verb))(body)),
    /** The schemas under which the journal keeps actions. */
    schemas: names.map((verb) => Schema.Struct({ verb: Schema.Literal(verb), body: Schema.toType(keptBodyOf(verb)) }))
  }
}
