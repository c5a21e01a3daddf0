import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { type Found, lineTypes } from "../../ports/lookup/Lookup.ts"

/** The result of a lookup, guide/numbers.md#lookup. */
export const NumberLookup = Wire.struct(
  {
    phoneNumber: Field.text("E.164, as asked.", "+12025550150"),
    isValid: Field.flag("Whether such a number can exist in its numbering plan.", true),
    nationalFormat: Field.textOrNull("As it is written in its country.", "(202) 555-0150"),
    countryCode: Field.textOrNull("ISO 3166-1 alpha-2.", "US"),
    carrier: Wire.struct({
      name: Field.textOrNull("Who carries it.", null),
      type: Field.oneOfOrNull("What kind of line it is.", lineTypes, "fixed_line_or_mobile"),
      mobileCountryCode: Field.textOrNull("MCC of ITU-T E.212.", null),
      mobileNetworkCode: Field.textOrNull("MNC of ITU-T E.212.", null)
    }).pipe(Schema.annotateEncoded({ description: "Its carrier and line." })),
    callerName: Schema.NullOr(
      Schema.Struct({ name: Field.text("As the register has it.", "ACME INC") }).annotate({
        identifier: "CallerName"
      })
    ).annotate({ description: "Its subscriber, where `type=caller_name` asked and it is known.", examples: [null] }),
    portability: Wire.struct({
      ported: Schema.NullOr(Schema.Boolean).annotate({
        description: "Whether it has changed its carrier.",
        examples: [null]
      }),
      portedAt: Field.timeOrNull("When it last did."),
      lrn: Field.textOrNull("Location routing number.", null),
      ocn: Field.textOrNull("Operating company number.", null),
      spidCarrierName: Field.textOrNull("Who holds its service provider id.", null)
    }).pipe(Schema.annotateEncoded({ description: "What became of it between carriers." })),
    costCents: Field.cents("What this lookup cost.")
  },
  { isValid: "valid" }
).pipe(Schema.annotateEncoded({ identifier: "NumberLookup" }))
export type NumberLookupView = typeof NumberLookup.Encoded

const encode = Wire.encoder(NumberLookup)

export const view = (phoneNumber: string, found: Found, costCents: number): NumberLookupView => {
  const { isPorted, ...portability } = found.portability
  return encode({
    ...found,
    phoneNumber,
    callerName: found.callerName === null ? null : { name: found.callerName },
    portability: { ported: isPorted, ...portability },
    costCents
  })
}
