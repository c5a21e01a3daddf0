import { Schema, SchemaTransformation } from "effect"
import * as Id from "../Id.ts"
import * as Timestamp from "../time/Timestamp.ts"
import * as Wire from "./Wire.ts"

/** Fields of events and of answers, each with its description and an example for the published document. */

/** An example of an id of this type. */
export const opaque = <P extends Id.Prefix>(type: P): Id.Of<P> =>
  Id.schema(type).make(`svc_${type}_${"0123456789abcdef".repeat(2)}`)

/** An id of this type. */
export const id = <P extends Id.Prefix>(type: P, description: string) =>
  Id.spelled(type).annotate({ description, examples: [opaque(type)] })

export const idOrNull = <P extends Id.Prefix>(type: P, description: string) =>
  Schema.NullOr(Id.spelled(type)).annotate({ description, examples: [opaque(type)] })

export const callId = (description = "The call.") => id("call", description)
export const callIdOrNull = (description: string) => idOrNull("call", description)
export const legId = (description = "The call's leg.") => id("leg", description)
export const legIdOrNull = (description: string) => idOrNull("leg", description)
export const routeId = id("route", "The connection it runs over.")
export const recordingId = id("rec", "The recording.")
export const streamId = id("stream", "The media stream.")
export const transcriptionId = id("tx", "The session.")
export const conferenceId = id("conf", "The conference.")
export const memberId = id("member", "The conference member.")
export const orderId = id("order", "The number order.")
export const numberIdOrNull = idOrNull("did", "The number; null when there is none.")

const conferenceOrNull = (description: string) =>
  Schema.NullOr(Id.spelled("conf")).annotate({ description, examples: [null] })
export const conferenceIdOrNull = conferenceOrNull("The conference that was recorded; null for a call.")
/** The conference of a bridge. */
export const conferenceBridgedOrNull = conferenceOrNull(
  "The conference that it has come into; null: it was bridged to a leg."
)

const Moment = Schema.String.annotate({ format: "date-time" }).check(
  Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u)
)

/** A time in ISO 8601, UTC, with milliseconds. */
export const moment = (description: string, example = "2026-01-01T00:00:00.000Z") =>
  Moment.annotate({ description: `${description} UTC, milliseconds.`, examples: [example] })

/** Epoch milliseconds inside, `moment` on the wire. */
export const time = (description: string, example?: string) =>
  moment(description, example).pipe(
    Schema.decodeTo(
      Wire.by(Schema.Number, Timestamp.format),
      SchemaTransformation.transform({ decode: (text) => Timestamp.parse(text) ?? 0, encode: Timestamp.format })
    )
  )

/** Epoch milliseconds inside, `momentOrNull` on the wire. */
export const timeOrNull = (description: string, example?: string | null) =>
  momentOrNull(description, example).pipe(
    Schema.decodeTo(
      Wire.by(Schema.NullOr(Schema.Number), Timestamp.formatOrNull),
      SchemaTransformation.transform<number | null, string | null>({
        decode: (text) => (text === null ? null : Timestamp.parse(text)),
        encode: Timestamp.formatOrNull
      })
    )
  )

export const seconds = (description: string) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description, examples: [61] })

export const cents = (description: string) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: `${description} US cents.`,
    examples: [100]
  })

export const text = (description: string, example: string) =>
  Schema.String.annotate({ description, examples: [example] })

export const textOrNull = (description: string, example: string | null) =>
  Schema.NullOr(Schema.String).annotate({ description, examples: [example] })

/** A whole number from 0; the description explains the null. */
export const countOrNull = (description: string, example: number | null) =>
  Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))).annotate({ description, examples: [example] })

export const oneOf = <const Values extends readonly [string, ...ReadonlyArray<string>]>(
  description: string,
  values: Values
) => Schema.Literals(values).annotate({ description, examples: [values[0]] })

export const customerReference = textOrNull("What the call was placed with; null when nothing was.", "order 7")

/** A UUID of one kind. */
export const uuid = <Uuid extends string>(schema: Schema.Codec<Uuid, string>, description: string) =>
  Id.spelledUuid(schema).annotate({ format: "uuid", description, examples: [schema.make(exampleUuid)] })
/** The description explains the null. */
export const uuidOrNull = <Uuid extends string>(schema: Schema.Codec<Uuid, string>, description: string) =>
  Schema.NullOr(Id.spelledUuid(schema)).annotate({ format: "uuid", description, examples: [null] })

export const exampleUuid = "0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d"

const momentOrNull = (description: string, example: string | null = null) =>
  Schema.NullOr(Moment).annotate({ description: `${description} UTC, milliseconds.`, examples: [example] })

export const centsOrNull = (description: string, example: number | null = null) =>
  Schema.NullOr(Schema.Int).annotate({ description: `${description} US cents.`, examples: [example] })

/** An amount that may be negative, because it may be owed. */
export const signedCents = (description: string, example = 500) =>
  Schema.Int.annotate({ description: `${description} US cents.`, examples: [example] })

export const count = (description: string, example: number) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description, examples: [example] })

export const flag = (description: string, example: boolean) =>
  Schema.Boolean.annotate({ description, examples: [example] })

export const texts = (description: string, example: ReadonlyArray<string>) =>
  Schema.Array(Schema.String).annotate({ description, examples: [example] })

export const oneOfOrNull = <const Values extends readonly [string, ...ReadonlyArray<string>]>(
  description: string,
  values: Values,
  example: Values[number] | null = null
) => Schema.NullOr(Schema.Literals(values)).annotate({ description, examples: [example] })
