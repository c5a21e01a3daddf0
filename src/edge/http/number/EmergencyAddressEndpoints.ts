import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import * as Wire from "../../../domain/schema/Wire.ts"
import { EmergencyAddress } from "../../../numbers/number/Number.ts"
import { about } from "../Endpoint.ts"
import * as Pagination from "../answer/Pagination.ts"
import * as PathId from "../request/PathId.ts"
import * as Text from "../request/Text.ts"

/** Emergency addresses, guide/numbers.md#emergency-addresses. */

const params = { id: PathId.prefixed("addr").annotate({ description: "The address." }) }
const all = "/v1/numbers/emergency-addresses"

const line = (maximum: number, description: string, example: string) =>
  Text.of(1, maximum).annotate({ description, examples: [example] })

export const add = HttpApiEndpoint.post("add_emergency_address", all, {
  payload: Wire.struct({
    name: line(120, "Whom help asks for there.", "Acme Inc, reception"),
    streetAddress: line(200, "House number and street.", "1600 Pennsylvania Avenue NW"),
    extendedAddress: Text.optional(200, "Floor, suite, room.", "Suite 4"),
    locality: line(120, "Town.", "Washington"),
    administrativeArea: Text.optional(120, "State or province.", "DC"),
    postalCode: Schema.String.check(
      Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9 -]{0,15}$/u, {
        message: "must be 1 to 16 letters, digits, spaces and hyphens"
      })
    ).annotate({ description: "Postal code.", examples: ["20500"] }),
    countryCode: Text.country,
    customerReference: Text.optional(128, "Yours.", "office 7")
  }).pipe(Schema.annotateEncoded({ identifier: "AddEmergencyAddress" })),
  success: EmergencyAddress.pipe(HttpApiSchema.status(201))
}).annotateMerge(
  about({
    summary: "Add an emergency address",
    description: "It is kept as given; nobody is told of it until the operator registers it with its carrier.",
    scope: "numbers:write",
    errors: ["conflict"]
  })
)

export const list = HttpApiEndpoint.get("emergency_addresses", all, {
  query: Wire.struct(Pagination.parameters),
  success: Pagination.envelope(EmergencyAddress)
}).annotateMerge(about({ summary: "List emergency addresses", scope: "numbers:read" }))

export const retrieve = HttpApiEndpoint.get("retrieve_emergency_address", `${all}/:id`, {
  params,
  success: EmergencyAddress
}).annotateMerge(about({ summary: "Retrieve an emergency address", scope: "numbers:read", errors: ["not_found"] }))

export const remove = HttpApiEndpoint.delete("remove_emergency_address", `${all}/:id`, {
  params,
  success: HttpApiSchema.NoContent
}).annotateMerge(
  about({
    summary: "Delete an emergency address",
    description: "409 while a number has it.",
    scope: "numbers:write",
    errors: ["not_found", "conflict"]
  })
)
