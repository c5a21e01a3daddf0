import { Schema } from "effect"
import * as CallerTerms from "./CallerTerms.ts"
import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"

/** The facts that a call and `call.started` show of the caller of an inbound call, besides its number. */

/** How a number is shown that is withheld, or missing. */
export const anonymous = "anonymous"

export const fields = {
  callerName: Field.textOrNull(
    "The name that an inbound caller sends with its number, at most 128 characters; null: none, withheld, or outbound.",
    "Ada Lovelace"
  ),
  diversion: Schema.Array(
    Wire.struct({
      number: Field.text(
        "The party that had the call before, as `from`: E.164, or as it came; `anonymous` when it is withheld.",
        "+12025550160"
      ),
      reason: Field.oneOf("Why it went on, RFC 5806. Further values may come.", CallerTerms.diversionReasons)
    })
  ).pipe(
    Schema.annotateEncoded({
      description:
        "By whom an inbound call was diverted (Diversion, else History-Info), the last one first, at most ten; empty: " +
        "by nobody, as far as the network says.",
      examples: [[{ number: "+12025550160", reason: "user_busy" }]]
    })
  ),
  attestation: Field.oneOfOrNull(
    "The level of SHAKEN (RFC 8588) that a carrier attests for `from` in an Identity header; its signature is not " +
      "checked here. Null: none, or for another number.",
    CallerTerms.attestationLevels,
    "A"
  )
}
