import { Schema, SchemaTransformation } from "effect"
import * as Name from "../../../domain/schema/Name.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"

/** The parts of a command line that the schema of a field cannot express. */
export interface Line {
  /** The name of the positional argument; without it the field is a flag. */
  readonly argument?: string
  /** The name of the flag, when it is not the name of the field. */
  readonly flag?: string
  /** The placeholder in the usage line, when the one that derives from the schema is not good enough. */
  readonly value?: string
  /** The word for null. */
  readonly none?: string
  /** The two words of a boolean. A boolean without words is a flag that takes no value. */
  readonly words?: Readonly<Record<string, boolean>>
  /** The value of a boolean flag without words when it is given; true by default. */
  readonly sets?: boolean
  /** Turns the given text into the value, when it is not simply the text, its number or its parts between commas. */
  readonly read?: (text: string) => unknown
  /** Flags without a value that can be given instead, with functions that give the value. */
  readonly instead?: Readonly<Record<string, () => unknown>>
}

const key = "trunkline/line"

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      readonly "trunkline/line"?: Line | undefined
    }
  }
}

export const lineOf = (schema: Schema.Constraint): Line => Schema.resolveAnnotations(schema as Schema.Top)?.[key] ?? {}

/** A field of a command, given as `--name value`. It is required unless its schema has a default. */
export const of = <S extends Schema.Top>(schema: S, description: string, line: Line = {}): S["Rebuild"] =>
  schema.annotate({ description, [key]: line })

/** A required positional argument. */
export const argument = <S extends Schema.Top>(
  name: string,
  schema: S,
  description: string,
  line: Line = {}
): S["Rebuild"] => of(schema, description, { ...line, argument: name })

export const optional = <S extends Schema.Top>(schema: S, description: string, line: Line = {}) =>
  Schema.optionalKey(of(schema, description, line))

/** A flag without a value; the field is true when the flag is given. */
export const on = (description: string, line: Line = {}) => of(Wire.absentIs(false, Schema.Boolean), description, line)

export const onOff = { on: true, off: false }

export const text = (most: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most))

export const name = (most: number) => text(most).check(Name.isVisible)

export const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const reason = optional(text(200), "why, for the audit log")

export const idempotencyKey = optional(text(255), "a repetition with the same key has no further effect", {
  value: "KEY"
})

/** The number of rows in one answer. */
export const limit = (normally: number, most = 1_000) =>
  of(Wire.absentIs(normally, between(1, most)), `how many rows, ${normally} unless given`)

/** An RFC 3339 timestamp, as epoch milliseconds. */
const Moment = Schema.String.check(
  Schema.makeFilter((text) => (Timestamp.parse(text) === null ? "must be an RFC 3339 timestamp" : undefined))
).pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({
      decode: (text) => Timestamp.parse(text) ?? 0,
      encode: (epochMs) => Timestamp.format(epochMs)
    })
  )
)

export const time = (description: string, line: Line = {}) => of(Moment, description, { value: "TIME", ...line })
export const optionalTime = (description: string, line: Line = {}) => Schema.optionalKey(time(description, line))

export const created = {
  createdAfterMs: optionalTime("only later ones", { flag: "created-after" }),
  createdBeforeMs: optionalTime("only earlier ones", { flag: "created-before" })
}
/** The place that the previous page printed. */
export const after = optional(text(200), "the page after this place, which the page before it names", { value: "NEXT" })
export const window = (limit: number, after: string | undefined) => ({
  limit,
  offset: 0,
  ...(after === undefined ? {} : { after })
})
