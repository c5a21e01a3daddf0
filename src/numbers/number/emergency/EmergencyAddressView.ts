import { Schema } from "effect"
import * as Field from "../../../domain/schema/Field.ts"
import * as Wire from "../../../domain/schema/Wire.ts"

/** The place to which help is sent for a number, guide/numbers.md#emergency-addresses. */
export const EmergencyAddress = Wire.struct({
  id: Field.id("addr", "The address."),
  name: Field.text("Whom help asks for there.", "Acme Inc, reception"),
  streetAddress: Field.text("House number and street.", "1600 Pennsylvania Avenue NW"),
  extendedAddress: Field.textOrNull("Floor, suite, room.", "Suite 4"),
  locality: Field.text("Town.", "Washington"),
  administrativeArea: Field.textOrNull("State or province.", "DC"),
  postalCode: Field.text("Postal code.", "20500"),
  countryCode: Field.text("ISO 3166-1 alpha-2.", "US"),
  customerReference: Field.textOrNull("As given.", "office 7"),
  createdAt: Field.time("When it was added.")
}).pipe(Schema.annotateEncoded({ identifier: "EmergencyAddress" }))
export type EmergencyAddressView = typeof EmergencyAddress.Encoded

export type AddressRow = typeof EmergencyAddress.Type

export const address = Wire.encoder(EmergencyAddress)
