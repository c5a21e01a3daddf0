/**
 * Who may speak, guide/sip.md#who-may-speak: a look at what is in memory, before a message costs anything more.
 *
 * A known peer may. So may whoever names what only we and our peer know: the tags of a dialog of ours, or the branch of a
 * request that we are answering; a trunk that was deleted ends its calls so, and a carrier may go on from another of its
 * addresses. Any other request gets one answer without state, within the bucket of its address, or silence. Responses
 * pass: they find a request of ours by its branch, which nobody can guess, or are dropped.
 */
import type { Flow } from "../../../sip/Flow.ts"
import * as MessageKey from "../../../sip/message/MessageKey.ts"
import type { Header, SipRequest } from "../../../sip/message/SipMessage.ts"
import type * as PeerTable from "../../PeerTable.ts"
import type * as AddressBuckets from "./AddressBuckets.ts"

type Verdict = { readonly type: "admit" } | Refusal | { readonly type: "drop" }

/** Answered once, without state, where `mayAnswer` lets it. */
export interface Refusal {
  readonly type: "refuse"
  readonly status: 403 | 481 | 503
  /** Short, because an answer may not be longer than its request. */
  readonly reason: string
  readonly headers: ReadonlyArray<Header>
}

/** What is known of a request, from what is in memory. */
export interface Facts {
  /** A table of known peers has come. */
  readonly isReady: boolean
  readonly isKnownPeer: boolean
  /** It is of a dialog of ours, or of a request that is being answered. */
  readonly isOurs: boolean
  readonly method: string
  /** It claims to be of a dialog, or to end a request. */
  readonly isWithin: boolean
}

const admit: Verdict = { type: "admit" }
const drop: Verdict = { type: "drop" }
const forbidden: Verdict = { type: "refuse", status: 403, reason: "Forbidden", headers: [] }
const noSuchCall: Verdict = { type: "refuse", status: 481, reason: "No Such Call", headers: [] }
const comeAgain: Verdict = { type: "refuse", status: 503, reason: "Starting", headers: [["Retry-After", "5"]] }

/** The rule. An ACK is never answered (RFC 3261 section 17); whoever cannot be known yet is asked to come again. */
export const judge = ({ isKnownPeer, isOurs, isReady, isWithin, method }: Facts): Verdict => {
  if (isKnownPeer || isOurs) return admit
  if (method === "ACK") return drop
  if (isWithin) return noSuchCall
  return isReady ? forbidden : comeAgain
}

/** What a stranger sends is not read beyond this many bytes: no request that could be ours is so long. */
const maxStrangerBytes = 8_192

export interface Gate {
  /** Whether a datagram of this length is read at all. */
  readonly reads: (from: Flow, length: number) => boolean
  readonly request: (request: SipRequest, from: Flow, isOurs: (request: SipRequest) => boolean) => Verdict
  readonly isKnownPeer: (from: Flow) => boolean
  /** Takes the right to answer a stranger once. */
  readonly mayAnswer: (from: Flow, now: number) => boolean
}

export const make = (peers: PeerTable.PeerTable, buckets: AddressBuckets.AddressBuckets): Gate => {
  const isKnownPeer = (from: Flow): boolean => peers.has(from.remote.address)
  return {
    isKnownPeer,
    reads: (from, length) => length <= maxStrangerBytes || isKnownPeer(from),
    request: (request, from, isOurs) => {
      if (isKnownPeer(from)) return admit
      return judge({
        isReady: peers.version() > 0,
        isKnownPeer: false,
        isOurs: isOurs(request),
        method: request.method,
        isWithin: request.method === "CANCEL" || MessageKey.toTag(request) !== null
      })
    },
    mayAnswer: (from, now) => buckets.take(from.remote.address, now)
  }
}
