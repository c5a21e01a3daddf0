import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"

/** The counted quantities, guide/money.md#usage. */
const counted = {
  outbound_calls: Field.count("Outbound calls that ended.", 12),
  inbound_calls: Field.count("Inbound calls that ended.", 3),
  answered_calls: Field.count("Those of them that were answered.", 11),
  call_seconds: Field.count("Seconds of answered calls, each from its answer to its end, rounded up.", 1_260),
  billed_minutes: Field.count("Started minutes of the billed seconds of the legs of calls.", 26),
  recording_minutes: Field.count("Started minutes of recordings.", 4),
  transcription_minutes: Field.count("Started minutes of transcriptions.", 0),
  conference_participant_minutes: Field.count("Started minutes of members of conferences.", 0),
  amd_checks: Field.count("Machine detections.", 0),
  lookups: Field.count("Lookups of numbers.", 0),
  numbers_active: Field.count("Numbers that were active at some time of it.", 2),
  total_cost_cents: Field.cents("The charges, less what a plan included of them.")
}

export const Usage = Schema.Struct(counted)
export type Usage = typeof Usage.Type

const group = (description: string, example: string | null) =>
  Schema.optionalKey(Schema.NullOr(Schema.String).annotate({ description, examples: [example] }))

/** Answer of `GET /v1/usage`. */
export const UsageReport = Schema.Struct({
  period_start: Field.moment("From this moment on."),
  period_end: Field.moment("Up to this moment, which is left out.", "2026-02-01T00:00:00.000Z"),
  currency: Schema.Literal("USD").annotate({ description: "Of every amount." }),
  totals: Usage.annotate({ description: "Of the whole period." }),
  results: Schema.Array(
    Schema.Struct({
      date: Schema.optionalKey(
        Schema.String.annotate({
          format: "date",
          description: "The day, or the first of the month, UTC; with `group_by` `day` and `month`.",
          examples: ["2026-01-01"]
        })
      ),
      customer_reference: group("With `group_by=customer_reference`; null: none, or one of too many.", "order 7"),
      number: group("Your number, with `group_by=number`; null: none.", "+12025550100"),
      destination: group("A country or a calling code, with `group_by=destination`; null: none.", "US"),
      ...counted
    })
  ).annotate({ description: "By days or months in their order, or the dearest first; empty without `group_by`." })
}).annotate({ identifier: "UsageReport" })
export type UsageReport = typeof UsageReport.Type
