import type { EndReason } from "../domain/event/CallEvent.ts"
import type { Admission } from "./Admission.ts"

/** The end reason of a call for a final answer of the far end, guide/sip.md#answers; the sections are of RFC 3261. */
const reasons: Readonly<Record<number, EndReason>> = {
  403: "rejected", // 21.4.4
  404: "not_found", // 21.4.5
  408: "no_answer", // 21.4.9
  410: "not_found", // 21.4.10
  480: "no_answer", // 21.4.18
  484: "not_found", // 21.4.22
  485: "not_found", // 21.4.23
  486: "user_busy", // 21.4.24
  487: "cancelled", // 21.4.25
  600: "user_busy", // 21.6.1
  603: "rejected", // 21.6.2
  604: "not_found", // 21.6.3
  607: "rejected", // RFC 8197
  608: "rejected" // RFC 8688
}

/** Any other final answer counts as an error of the carrier. */
export const endReason = (status: number): EndReason => reasons[status] ?? "carrier_error"

/** Why an offered call is refused. `released`: it was hung up without a cause. */
type Cause = Extract<Admission, { readonly admitted: false }>["cause"] | "released"

/** The final answer to such an INVITE, guide/sip.md#refusals. */
const statuses: Readonly<Record<Cause, number>> = {
  user_busy: 486,
  rejected: 603,
  no_answer: 480,
  not_found: 404,
  error: 500,
  unavailable: 503,
  released: 480
}

export const of = (cause: Cause): number => statuses[cause]
