import { Schema } from "effect"

/**
 * What a tenant can be told of: one row for each event, in one file for each family (`CallEvent.ts` and its neighbours).
 *
 * The row is the only place that knows an event. From it come the type that a machine emits, the names that a
 * subscription may list, the envelope, the published document, and the check of every event that a test sees.
 */
export interface Row {
  /** When it is sent, as the published document says it: one sentence. */
  readonly when: string
  /** `data` of the envelope, and how the wire has it. Each field has a description and an example (`Field.ts`). */
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

/** The `data` that the examples of a row's fields make up, on the wire. */
export const exampleOf = ({ data }: Row): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(data.from.fields).map(([name, field]) => [name, Schema.resolveAnnotations(field)?.examples?.[0]])
  )
