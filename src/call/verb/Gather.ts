import { Schema } from "effect"
import { disagreement } from "../../domain/CodedCheck.ts"
import type { GatherStatus } from "../../domain/event/CallEvent.ts"
import * as Secret from "../../domain/Secret.ts"
import * as Family from "./Family.ts"
import * as Field from "./Field.ts"

/**
 * Digit collection without a prompt, guide/calls.md#gather.
 *
 * A gather is complete at the terminating digit, at `maximumDigits`, when the first digit or the next one does not come
 * in time, and when the whole takes too long. Enough digits are `valid` however it ended. Too few are `invalid` after
 * the terminating digit, and `timeout` after time ran out.
 */
const Options = Schema.Struct({
  minimumDigits: Field.or(Field.of(Field.int(1, 128), "Fewer are `invalid`, or `timeout`.", 4), 1),
  maximumDigits: Field.or(Field.of(Field.int(1, 128), "With so many it is complete.", 4), 128),
  terminatingDigit: Field.or(
    Field.of(
      Field.matching(/^[0-9*#]?$/u, "must be one of 0-9, * and #, or empty for none"),
      "Ends the gather and is not part of the digits; empty: none does.",
      "#"
    ),
    "#"
  ),
  validDigits: Field.or(
    Field.of(
      Field.matching(/^[0-9*#]{1,12}$/u, "must be 1 to 12 of 0-9, * and #"),
      "Others are left out.",
      "0123456789"
    ),
    "0123456789#*"
  ),
  timeoutMs: Field.or(Field.of(Field.int(1_000, 600_000), "For the whole, in milliseconds.", 30_000), 60_000),
  interDigitTimeoutMs: Field.or(
    Field.of(Field.int(100, 60_000), "From one digit to the next, in milliseconds.", 5_000),
    5_000
  ),
  initialTimeoutMs: Field.or(
    Field.of(Field.int(100, 600_000), "Until the first digit, in milliseconds.", 10_000),
    5_000
  )
})

const fields = {
  options: Schema.toType(Options),
  digits: Secret.digits(Schema.String),
  startedAt: Schema.Number,
  lastDigitAt: Schema.NullOr(Schema.Number)
}
interface Collected {
  readonly options: typeof Options.Type
  readonly digits: string
}

const ended =
  (digits: string, status: GatherStatus): Family.Ending =>
  (of, at) => ({ type: "call.gather_complete", data: { ...of, digits, status, completedAt: at } })

const isEnough = ({ digits, options }: Collected): boolean => digits.length >= options.minimumDigits

const collection = Family.make("gather", fields, {
  limit: 1,
  full: "a gather is already running on this call",
  digit: (item, digit, at) => {
    const { digits, options } = item
    if (digit === options.terminatingDigit)
      return { item: null, tells: ended(digits, isEnough(item) ? "valid" : "invalid") }
    // A digit that is not asked for neither counts nor keeps the gather waiting.
    if (!options.validDigits.includes(digit)) return { item, tells: null }
    const collected = digits + digit
    return collected.length >= options.maximumDigits
      ? { item: null, tells: ended(collected, "valid") }
      : { item: { ...item, digits: collected, lastDigitAt: at }, tells: null }
  },
  deadline: {
    at: ({ lastDigitAt, options, startedAt }) =>
      Math.min(
        startedAt + options.timeoutMs,
        lastDigitAt === null ? startedAt + options.initialTimeoutMs : lastDigitAt + options.interDigitTimeoutMs
      ),
    ending: (item) => ended(item.digits, isEnough(item) && item.digits !== "" ? "valid" : "timeout")
  },
  legEnded: { ending: ({ digits }) => ended(digits, "call_ended") },
  restarted: "kept"
})

export const gather = collection.verb({
  summary: "Collect digits; the result is `call.gather_complete`",
  when: "talking",
  body: Options.pipe(
    Schema.encodeKeys({
      minimumDigits: "minimum_digits",
      maximumDigits: "maximum_digits",
      terminatingDigit: "terminating_digit",
      validDigits: "valid_digits",
      timeoutMs: "timeout_millis",
      interDigitTimeoutMs: "inter_digit_timeout_millis",
      initialTimeoutMs: "initial_timeout_millis"
    })
  )
    .check(
      disagreement(({ maximumDigits, minimumDigits }) =>
        maximumDigits < minimumDigits ? "maximum_digits is below minimum_digits" : undefined
      )
    )
    .pipe(Schema.annotateEncoded({ identifier: "Gather" })),
  act: ({ derive, now }, options) => ({
    type: "begin",
    item: { id: derive("gather"), media: null, options, digits: "", startedAt: now, lastDigitAt: null }
  })
})

export const stopGather = collection.verb({
  summary: "Cancel the gather",
  when: "running",
  body: Field.nothing,
  act: () => ({ type: "end", ending: ({ digits }) => ended(digits, "cancelled") })
})
