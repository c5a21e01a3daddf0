/**
 * Decides who may speak (guide/sip.md#who-may-speak) by what is in memory, before a message costs anything more.
 *
 * A known peer may speak. So may a sender that names what only we and our peer know: the tags of a dialog of ours, or
 * the branch of a request that we are answering. So a trunk that was deleted can end its calls, and a carrier can go on
 * from another of its addresses. Any other request gets one answer without state, if the bucket of its address allows
 * one, else nothing. Responses pass: they find a request of ours by its branch, which nobody can guess, or are dropped.
 */
import type { Flow } from "../../../sip/Flow.ts"
import * as MessageKey from "../../../sip/message/MessageKey.ts"
import type { Header, SipRequest } from "../../../sip/message/SipMessage.ts"
import type * as PeerTable from "../../PeerTable.ts"
import type * as AddressBuckets from "./AddressBuckets.ts"

type Verdict = { readonly type: "admit" } | Refusal | { readonly type: "drop" }

/** An answer that is sent once, without state, where `mayAnswer` allows it. */
export interface Refusal {
  readonly type: "refuse"
  readonly status: 403 | 481 | 503
  /** Short, because an answer may not be longer than its request. */
  readonly reason: string
  readonly headers: ReadonlyArray<Header>
}

/** All that the rule knows of a request. */
export interface Facts {
  /** A table of known peers has arrived. */
  readonly isReady: boolean
  readonly isKnownPeer: boolean
  /** It belongs to a dialog of ours, or to a request that is being answered. */
  readonly isOurs: boolean
  readonly method: string
  /** It claims to belong to a dialog, or to end a request. */
  readonly isWithin: boolean
}

const admit: Verdict = { type: "admit" }
const drop: Verdict = { type: "drop" }
const forbidden: Verdict = { type: "refuse", status: 403, reason: "Forbidden", headers: [] }
const noSuchCall: Verdict = { type: "refuse", status: 481, reason: "No Such Call", headers: [] }
const comeAgain: Verdict = { type: "refuse", status: 503, reason: "Starting", headers: [["Retry-After", "5"]] }

/**
 * The rule. An ACK is never answered (RFC 3261 section 17). Before the first table, a sender is asked to come again.
 */
export const judge = ({ isKnownPeer, isOurs, isReady, isWithin, method }: Facts): Verdict => {
  if (isKnownPeer || isOurs) return admit
  if (method === "ACK") return drop
  if (isWithin) return noSuchCall
  return isReady ? forbidden : comeAgain
}

/** A longer datagram of a stranger is not read: no request of a peer of ours is so long. */
const maxStrangerBytes = 8_192

export interface Gate {
  /** Whether a datagram of this length is read at all. */
  readonly reads: (from: Flow, length: number) => boolean
  readonly request: (request: SipRequest, from: Flow, isOurs: (request: SipRequest) => boolean) => Verdict
  readonly isKnownPeer: (from: Flow) => boolean
  /** Whether a stranger at this address may be answered now; takes one answer out of its bucket. */
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
