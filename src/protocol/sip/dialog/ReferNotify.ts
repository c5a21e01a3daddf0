import * as Grammar from "../message/Grammar.ts"
import * as Params from "../message/header/Params.ts"
import type { Notified } from "./ReferSubscription.ts"
import { header, type SipRequest } from "../message/SipMessage.ts"

/** The progress that a NOTIFY reports of a REFER, or the status that refuses it. */
export type ReferNotify =
  | { readonly type: "notified"; readonly id: number | null; readonly notified: Notified }
  | { readonly type: "refused"; readonly status: 400 | 415 | 489 }

const refused = (status: 400 | 415 | 489): ReferNotify => ({ type: "refused", status })

/** `token;params`, the token in lower case. */
const split = (value: string): readonly [string, Params.Params | null] => {
  const at = value.indexOf(";")
  const end = at === -1 ? value.length : at
  return [Grammar.trimmed(value, 0, end).toLowerCase(), Params.parse(value, end)]
}

const whole = (text: string | null): number | null => Grammar.decimal(text ?? "", 10)

const utf8 = new TextDecoder()

/** The status in the first line of a `message/sipfrag`, RFC 3420. */
const statusOf = (body: Uint8Array): number | null => {
  const found = /^SIP\/2\.0[ \t]+([1-6][0-9]{2})(?:[ \t]|\r|\n|$)/.exec(utf8.decode(body.subarray(0, 256)))
  return found === null ? null : Number(found[1])
}

/**
 * Reads a NOTIFY of the event `refer`, RFC 3515 section 2.4.4 and RFC 6665 sections 4.1.3 and 8.2.1. It refuses another
 * event with 489, another body with 415, and a malformed Event or Subscription-State with 400. `id: null` is the first
 * REFER of the dialog.
 */
export const read = (request: SipRequest): ReferNotify => {
  const [event, eventParams] = split(header(request, "Event") ?? "")
  const [state, stateParams] = split(header(request, "Subscription-State") ?? "")
  if (event === "" || eventParams === null || stateParams === null) return refused(400)
  if (event !== "refer") return refused(489)
  if (state !== "pending" && state !== "active" && state !== "terminated") return refused(400)
  const [type] = split(header(request, "Content-Type") ?? "")
  if (request.body.length > 0 && type !== "message/sipfrag") return refused(415)
  const id = Params.get(eventParams, "id")
  if (id !== null && whole(id) === null) return refused(400)
  return {
    type: "notified",
    id: whole(id),
    notified: {
      subscription: state,
      expiresSecs: whole(Params.get(stateParams, "expires")),
      status: statusOf(request.body)
    }
  }
}
