import { Effect, Schema, SchemaTransformation } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"

/**
 * One thing that the operator can ask for: `POST /operator/<name>` with a JSON object, answered by a JSON object, or by
 * a response of its own where that is long (a backup).
 *
 * It holds no rule of its own: it decodes, asks a door, and shows what the door said.
 */
export interface Operation {
  /** Path behind `/operator/`, e.g. `tenant/credit`. */
  readonly name: string
  readonly run: (body: unknown) => Effect.Effect<unknown, ApiError>
}

/** Fields are closed: an unknown one is an error, so that a misspelt flag never silently does nothing. */
export const make = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  name: string,
  input: S,
  run: (input: S["Type"]) => Effect.Effect<unknown, ApiError>
): Operation => {
  const decode = Schema.decodeUnknownEffect(input, { onExcessProperty: "error" })
  return {
    name,
    run: (body) =>
      decode(body).pipe(
        Effect.mapError((error) => ApiError.of("invalid_request", error.message.replace(/\s*\n\s*/g, " "))),
        Effect.flatMap(run)
      )
  }
}

/** A tenant as operators name it: its id or its slug. */
export const TenantRef = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/** Any RFC 3339 instant, as epoch milliseconds. */
export const Moment = Schema.String.check(
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

/** Rows of one answer. */
export const PageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))

/** An empty object (`Schema.Struct({})` would take any). */
export const Nothing = Schema.Record(Schema.String, Schema.Never)

export const Cents = Schema.Int
