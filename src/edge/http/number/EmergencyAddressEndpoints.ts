import { HttpApiSchema } from "effect/http-api"
import * as Name from "../../../domain/schema/Name.ts"
import { EmergencyAddress } from "../../../numbers/number/Number.ts"
import { endpoints } from "../Endpoint.ts"
import * as PathId from "../request/PathId.ts"
import * as Text from "../request/Text.ts"
import { body, matching, of } from "../../../domain/schema/RequestField.ts"

/** Emergency addresses, guide/numbers.md#emergency-addresses. */

const { get, list, post, remove } = endpoints({ reads: "numbers:read", writes: "numbers:write" })

const params = { id: PathId.prefixed("addr").annotate({ description: "The address." }) }
const all = "/v1/numbers/emergency-addresses"

const line = (maximum: number, description: string, example: string) => of(Name.of(maximum), description, example)

export const emergencyAddresses = [
  post("add_emergency_address", all, "Add an emergency address", {
    payload: body("AddEmergencyAddress", {
      name: line(120, "Whom help asks for there.", "Acme Inc, reception"),
      streetAddress: line(200, "House number and street.", "1600 Pennsylvania Avenue NW"),
      extendedAddress: Text.optional(200, "Floor, suite, room.", "Suite 4"),
      locality: line(120, "Town.", "Washington"),
      administrativeArea: Text.optional(120, "State or province.", "DC"),
      postalCode: of(
        matching(/^[A-Za-z0-9][A-Za-z0-9 -]{0,15}$/u, "must be 1 to 16 letters, digits, spaces and hyphens"),
        "Postal code.",
        "20500"
      ),
      countryCode: Text.country,
      customerReference: Text.optional(128, "Yours.", "office 7")
    }),
    success: EmergencyAddress.pipe(HttpApiSchema.status(201)),
    description: "It is kept as given; nobody is told of it until the operator registers it with its carrier.",
    errors: ["conflict"]
  }),
  list("emergency_addresses", all, "List emergency addresses", EmergencyAddress),
  get("retrieve_emergency_address", `${all}/:id`, "Retrieve an emergency address", {
    params,
    success: EmergencyAddress,
    errors: ["not_found"]
  }),
  remove("remove_emergency_address", `${all}/:id`, "Delete an emergency address", {
    params,
    description: "409 while a number has it.",
    errors: ["not_found", "conflict"]
  })
] as const
