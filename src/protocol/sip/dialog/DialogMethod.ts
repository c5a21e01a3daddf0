import type { Header } from "../message/SipMessage.ts"

/** The state of our dialog in which a request of the peer arrives. */
export type Place =
  /** The request belongs to no dialog. */
  | "outside"
  /** An early dialog, RFC 3261 section 12.1: the INVITE is the peer's for `ringing`, ours for `calling`. */
  | "ringing"
  | "calling"
  /** Our 2xx, or theirs, has made the dialog. */
  | "confirmed"
  /** A BYE was sent or received. */
  | "leaving"

/** The module that serves a method within a dialog. */
type ServedBy = "session" | "bye" | "capabilities" | "digits" | "subscription"

type Verdict = "serve" | 405 | 481 | 491 | 500 | 501

export interface Row {
  /** `null` when the method is not served. */
  readonly servedBy: ServedBy | null
  readonly at: Readonly<Record<Place, Verdict>>
  /** Whether a 2xx makes the request's Contact the new remote target: RFC 3261 section 12.2, RFC 3311, RFC 6665. */
  readonly refreshesTarget: boolean
  /** A request with the CSeq of the one before it: `refuse` answers 500, because to serve it again would do harm. */
  readonly repeated: "serve" | "refuse"
  /** `after_commit`: we answer once the effect of the request is stored; a peer that gets no answer sends it again. */
  readonly answered: "at_once" | "after_commit"
}

const everywhere = (verdict: Verdict): Row["at"] => ({
  outside: verdict,
  ringing: verdict,
  calling: verdict,
  confirmed: verdict,
  leaving: verdict
})

/** A method with a meaning that is not served here. */
const known = (refreshesTarget = false): Row => ({
  servedBy: null,
  at: everywhere(405),
  refreshesTarget,
  repeated: "serve",
  answered: "at_once"
})

const unknown: Row = { ...known(), at: everywhere(501) }

const table: Readonly<Record<string, Row>> = {
  // A second INVITE gets 500 while the first has no answer, and 491 while ours has none (section 14.2).
  INVITE: {
    servedBy: "session",
    at: { outside: "serve", ringing: 500, calling: 491, confirmed: "serve", leaving: 481 },
    refreshesTarget: true,
    repeated: "refuse",
    answered: "at_once"
  },
  // The caller may end an early dialog with BYE, the called party must not (section 15).
  BYE: {
    servedBy: "bye",
    at: { outside: 481, ringing: "serve", calling: 481, confirmed: "serve", leaving: "serve" },
    refreshesTarget: false,
    repeated: "serve",
    answered: "after_commit"
  },
  OPTIONS: {
    servedBy: "capabilities",
    at: everywhere("serve"),
    refreshesTarget: false,
    repeated: "serve",
    answered: "at_once"
  },
  INFO: {
    servedBy: "digits",
    at: { outside: 481, ringing: "serve", calling: "serve", confirmed: "serve", leaving: 481 },
    refreshesTarget: false,
    repeated: "refuse",
    answered: "after_commit"
  },
  // NOTIFY is served only within a subscription that a REFER of ours made (RFC 6665 section 4.1.3), which its server
  // checks.
  NOTIFY: {
    servedBy: "subscription",
    at: { outside: 481, ringing: 481, calling: 481, confirmed: "serve", leaving: "serve" },
    refreshesTarget: true,
    repeated: "refuse",
    answered: "after_commit"
  },
  MESSAGE: known(),
  PRACK: known(),
  PUBLISH: known(),
  REFER: known(true),
  REGISTER: known(),
  SUBSCRIBE: known(true),
  UPDATE: known(true)
}

/** The row of a method; one that SIP does not know is refused with 501 (sections 8.2.1 and 21.5.2). */
export const of = (method: string): Row => (Object.hasOwn(table, method) ? (table[method] ?? unknown) : unknown)

/** ACK and CANCEL are missing in the table, because they belong to a transaction. */
const served = Object.keys(table).filter((method) => table[method]?.servedBy !== null)

/** The methods that this user agent serves, section 20.5. */
export const allow: Header = ["Allow", [...served, "ACK", "CANCEL"].join(", ")]
