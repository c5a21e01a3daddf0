import { Result, Schema } from "effect"
import * as CustomHeader from "../../../domain/CustomHeader.ts"
import { E164, KeptE164 } from "../../../domain/E164.ts"
import * as SipUri from "../../../protocol/sip/message/header/SipUri.ts"
import * as BodyField from "../../verb/BodyField.ts"
import { control } from "./CallVerb.ts"

/** Verbs that connect the call with another party; their behaviour is in `telephony/call/machine/leg`. */

const customHeaders = BodyField.or(CustomHeader.CustomHeaders, [])

const transferWith = (number: typeof E164) =>
  BodyField.body("Transfer", {
    to: BodyField.of(number, "The number that is dialled, E.164.", "+12025550100"),
    from: Schema.optionalKey(
      BodyField.of(
        number,
        "The calling number, E.164: an active number of the workspace. Without it, the number of this call that is yours.",
        "+12025550150"
      )
    ),
    timeoutSecs: BodyField.or(BodyField.of(BodyField.int(1, 600), "How long it may ring, in seconds.", 30), 60),
    customHeaders
  })
export const Transfer = transferWith(E164)

/** The errors of dialling a leg, also for a new call, in the order of the checks. */
export const dialErrors = [
  "from_number_not_owned",
  "country_blocked",
  "country_not_allowed",
  "prefix_blocked",
  "balance_insufficient",
  "auto_recharge_failed",
  "daily_spend_cap_exceeded",
  "monthly_spend_cap_exceeded",
  "concurrent_call_cap_exceeded",
  "rate_limited"
] as const

export const transfer = control({
  summary: "Dial a number and connect it with the call",
  when: "talking",
  body: Transfer,
  kept: transferWith(KeptE164),
  errors: ["conflict", "unprocessable", ...dialErrors]
})

export const Bridge = BodyField.body("Bridge", {
  legId: BodyField.id("leg", "An answered leg of yours, of this call or of another one.")
})

export const bridge = control({
  summary: "Connect the call with another leg",
  when: "answered",
  body: Bridge,
  errors: ["conflict", "unprocessable"]
})

const maxAddressLength = 512

/** Accepts a SIP URI that a Refer-To header can hold: with a user, and without headers of its own. */
const addressFault = (text: string): string | undefined => {
  const uri = SipUri.parseSipUri(text)
  if (Result.isFailure(uri)) return `must be a SIP URI: ${uri.failure}`
  return uri.success.headers.length > 0 || uri.success.params.some(([name]) => name === "method")
    ? "must be a SIP URI without headers and method"
    : undefined
}

export const Refer = BodyField.body("Refer", {
  sipAddress: Schema.String.annotate({
    description: "The SIP URI that the far end is to call.",
    examples: ["sip:support@example.com"]
  }).check(Schema.makeFilter(addressFault), Schema.isMaxCodePoints(maxAddressLength)),
  customHeaders
})

export const refer = control({
  summary: "Ask the far end to call somebody else (SIP REFER)",
  when: "answered",
  body: Refer,
  errors: ["conflict", "country_blocked", "country_not_allowed", "prefix_blocked"]
})
