/**
 * Decides which senders are let in (guide/sip.md#who-may-speak) by data in memory, before a message costs anything
 * more.
 *
 * A known peer is let in. So is a sender that names a secret of us and our peer: the tags of a dialog of ours, or the
 * branch of a request that we are answering. So a trunk that was deleted can end its calls, and a carrier can continue
 * from another of its addresses. Any other request gets one answer without state, if the bucket of its source allows
 * one, else nothing. Responses pass: they match a request of ours by its unguessable branch, or are dropped.
 *
 * A flood is dropped before it is parsed: only a limited number of messages a second is read of each source, and of all
 * strangers together. Beyond that a message is read only if it names the Call-ID of a call that lives here. Messages of
 * a known peer that name no such Call-ID, and so would begin something, have a separate budget; messages that name one
 * have a wide budget, by source.
 */
import type { Flow } from "../../../protocol/sip/Flow.ts"
import * as MessageKey from "../../../protocol/sip/message/MessageKey.ts"
import * as Peek from "../../../protocol/sip/message/Peek.ts"
import type { Header, SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import * as PeerTable from "../../peer/PeerTable.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import * as TokenBucket from "../../../domain/fair/TokenBucket.ts"
import * as BanList from "./BanList.ts"
import * as Loudness from "../../../domain/fair/Loudness.ts"
import * as StrangerSource from "./StrangerSource.ts"

type Verdict = { readonly type: "admit" } | Refusal | { readonly type: "drop" }

/** An answer that is sent once, without state, if `mayAnswer` allows it. */
export interface Refusal {
  readonly type: "refuse"
  readonly status: 403 | 481 | 503
  /** The text is short, because an answer may not be longer than its request. */
  readonly reason: string
  readonly headers: ReadonlyArray<Header>
}

/** All facts about a request that `judge` uses. */
export interface Facts {
  /** Whether a table of known peers has arrived, with the addresses of all names. */
  readonly isReady: boolean
  readonly isKnownPeer: boolean
  /** Whether it belongs to a dialog of ours, or to a request that is being answered. */
  readonly isOurs: boolean
  readonly method: string
  /** Whether it claims to belong to a dialog, or to end a request. */
  readonly isWithin: boolean
}

const admit: Verdict = { type: "admit" }
const drop: Verdict = { type: "drop" }
const forbidden: Verdict = { type: "refuse", status: 403, reason: "Forbidden", headers: [] }
const noSuchCall: Verdict = { type: "refuse", status: 481, reason: "No Such Call", headers: [] }
const comeAgain: Verdict = { type: "refuse", status: 503, reason: "Starting", headers: [["Retry-After", "5"]] }

/**
 * Applies the rule. An ACK is never answered (RFC 3261 section 17). Before the first table, a sender is asked to retry.
 */
export const judge = ({ isKnownPeer, isOurs, isReady, isWithin, method }: Facts): Verdict => {
  if (isKnownPeer || isOurs) return admit
  if (method === "ACK") return drop
  if (isWithin) return noSuchCall
  return isReady ? forbidden : comeAgain
}

/** A longer datagram of a stranger is not read, because no peer of ours sends a request of this length. */
const maxStrangerBytes = 8_192

/** A source that sends more in two intervals of `Loudness` is banned. */
const loudMessages = 400

/** Why a datagram was not read. `peer flood` is a known peer's, any other reason a stranger's. */
export type Unread = "long" | "noise" | "banned" | "flood" | "peer flood"

export interface IngressFilter {
  /** Null when the datagram is to be parsed, else why not. `ownsCall`: a call or a request of ours has this Call-ID. */
  readonly reads: (bytes: Uint8Array, from: Flow, ownsCall: (callId: string) => boolean) => Unread | null
  readonly request: (request: SipRequest, from: Flow, isOurs: (request: SipRequest) => boolean) => Verdict
  readonly isKnownPeer: (from: Flow) => boolean
  /** Whether a stranger at this address may be answered now; takes one answer out of its bucket. */
  readonly mayAnswer: (from: Flow) => boolean
  readonly bans: BanList.BanList
  readonly loudest: (count: number) => ReturnType<Loudness.Loudness["loudest"]>
}

interface Options extends BanList.Clocks {
  readonly peers: PeerTable.PeerTable
  /** Whether strangers get no answer at all. */
  readonly isSilent?: boolean
  /** Called for each source that is banned because it is loud; `address` is the sender of its last message. */
  readonly banned?: (source: string, address: string, messages: number) => void
}

export const make = ({ banned, isSilent = false, peers, ...clocks }: Options): IngressFilter => {
  const { now } = clocks
  const bans = BanList.make(clocks)
  const loudness = Loudness.make()
  const reading = TokenBucket.byHolder(Policies.strangerMessages)
  const answers = TokenBucket.byHolder(Policies.strangerAnswers)
  const starting = TokenBucket.byHolder({ each: Policies.peerStarts, mostHolders: PeerTable.maxPeers })
  const ofCalls = TokenBucket.byHolder({ each: Policies.callMessages, mostHolders: PeerTable.maxPeers })

  const isKnownPeer = (from: Flow): boolean => peers.has(from.remote.address)

  /** Why a stranger's datagram is dropped, unless it belongs to a call of ours; null when it is not. */
  const tooMuch = (source: string, address: string): Unread | null => {
    const messages = loudness.note(source, now())
    if (bans.covers(address, source)) return "banned"
    if (messages > loudMessages) {
      bans.add(source, `${messages} messages in ${Math.round(Loudness.defaults.intervalMs / 500)} seconds`)
      banned?.(source, address, messages)
      return "banned"
    }
    return reading.take(source, now()) ? null : "flood"
  }

  return {
    bans,
    isKnownPeer,
    loudest: (count) => loudness.loudest(now(), count),
    reads: (bytes, from, ownsCall) => {
      const { address } = from.remote
      const isOfCall = (): boolean => {
        const callId = Peek.callId(bytes)
        return callId !== null && ownsCall(callId)
      }
      if (peers.has(address)) return (isOfCall() ? ofCalls : starting).take(address, now()) ? null : "peer flood"
      if (bytes.length > maxStrangerBytes) return "long"
      if (!Peek.isText(bytes)) return "noise"
      const source = StrangerSource.of(address)
      const unread = tooMuch(source, address)
      return unread !== null && isOfCall() && ofCalls.take(source, now()) ? null : unread
    },
    request: (request, from, isOurs) => {
      if (isKnownPeer(from)) return admit
      return judge({
        isReady: peers.isWhole(),
        isKnownPeer: false,
        isOurs: isOurs(request),
        method: request.method,
        isWithin: request.method === "CANCEL" || MessageKey.toTag(request) !== null
      })
    },
    mayAnswer: (from) => !isSilent && answers.take(StrangerSource.of(from.remote.address), now())
  }
}
