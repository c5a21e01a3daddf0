import { Schema } from "effect"

/**
 * The events that a tenant can get: one row for each, in one file for each family (`CallEvent.ts` and its neighbours).
 *
 * The row is the only definition of an event. It determines the type that a machine emits, the names that a
 * subscription may list, the envelope, the published document, and the check of every event in tests.
 */
export interface Row {
  /** When it is sent, for the published document: one sentence. */
  readonly when: string
  /**
   * True: it reports a state that a newer such event of the same member replaces. A delivery that a newer one has
   * overtaken is dropped (guide/webhooks.md#order).
   */
  readonly onlyNewest?: true
  /** The `data` of the envelope, and its wire form. Each field has a description and an example (`Field.ts`). */
  readonly data: Schema.Codec<unknown, unknown> & {
    readonly from: { readonly fields: Readonly<Record<string, Schema.Constraint>> }
  }
}

/** The rows of one family, by the event's name on the wire: `<family>.<what happened>`. */
export type Family<Name extends string> = Readonly<Record<`${Name}.${string}`, Row>>

/** The events of `Rows` as machines make them: name and data. */
export type EmittedOf<Rows> = {
  [Type in keyof Rows]: Rows[Type] extends { readonly data: infer Data extends Schema.Top }
    ? { readonly type: Type; readonly data: Data["Type"] }
    : never
}[keyof Rows]

/** The `data` on the wire that the examples of a row's fields compose. */
export const exampleOf = ({ data }: Row): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(data.from.fields).map(([name, field]) => [name, Schema.resolveAnnotations(field)?.examples?.[0]])
  )
