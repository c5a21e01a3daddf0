import type { Admission, RejectCause } from "../../carrier/Carrier.ts"

type Cause = RejectCause | Extract<Admission, { readonly admitted: false }>["cause"] | "released"

/** The final answer to an INVITE that nobody will take, guide/sip.md#refusals. */
const statuses: Readonly<Record<Cause, number>> = {
  user_busy: 486,
  rejected: 603,
  no_answer: 480,
  not_found: 404,
  error: 500,
  unavailable: 503,
  /** Hung up without a cause. */
  released: 480
}

export const of = (cause: Cause): number => statuses[cause]
