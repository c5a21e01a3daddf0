import { Result } from "effect"
import * as SipUri from "../../protocol/sip/message/header/SipUri.ts"
import type { LegEnd, LegReport } from "../Carrier.ts"
import type { PhoneScript } from "./PhoneScript.ts"

/** The progress of a REFER at a simulated phone: guide/connections.md#simulated-phones. */
export type Referred = Pick<Extract<LegReport, { readonly type: "referred" }>, "status" | "sipStatus">

/** How long a subscription without a NOTIFY lasts (`ReferSubscription.defaultSecs`). */
export const patienceMs = 180_000

export const accepted: Referred = { status: "accepted", sipStatus: 202 }
export const completed: Referred = { status: "completed", sipStatus: 200 }
/** The phone never reported anything. */
export const silent: Referred = { status: "failed", sipStatus: null }
export const failed = (sipStatus: number): Referred => ({ status: "failed", sipStatus })

/** The status that the phone reports when its own call ends this way before the answer. */
export const ofEnd = ({ cause, sipStatus }: LegEnd): Referred =>
  failed(sipStatus ?? (cause === "no_route" ? 404 : cause === "error" ? 503 : 480))

/** The phone's report after calling a phone with this script, and its delay. */
export const ofPhone = ({ alerting }: PhoneScript): { readonly afterMs: number; readonly referred: Referred } => {
  for (const { act, afterMs } of alerting) {
    if (act.type === "answers") return { afterMs, referred: completed }
    if (act.type === "ends") return { afterMs, referred: ofEnd(act.end) }
  }
  return { afterMs: patienceMs, referred: silent }
}

/** The number that a SIP URI names; null when it is no SIP URI, or names none. */
export const numberIn = (uri: string): string | null => {
  const parsed = SipUri.parseSipUri(uri)
  return Result.isFailure(parsed) || parsed.success.user === null ? null : SipUri.decoded(parsed.success.user)
}
