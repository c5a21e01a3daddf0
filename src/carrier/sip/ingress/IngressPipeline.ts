/**
 * The way of a message from the wire to the transactions: the gate, the parser, the gate again, RFC 3261 section 8.2.
 *
 * A message that the gate or the rules refuse is answered once, without state. A message that cannot be answered is
 * dropped and counted.
 */
import { Result } from "effect"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import * as SessionBody from "../../../protocol/sip/message/SessionBody.ts"
import type { Header, SipMessage, SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../protocol/sip/message/SipParser.ts"
import * as Validate from "../../../protocol/sip/message/Validate.ts"
import * as StatelessAnswer from "../../../protocol/sip/StatelessAnswer.ts"
import type * as IngressFilter from "./IngressFilter.ts"

/** The fate of a message that was not let in, from a stranger or from a known peer that floods. */
export type Sighting =
  /** The message was not parsed. */
  | { readonly type: "unread"; readonly why: IngressFilter.Unread; readonly from: Flow }
  /**
   * `status` is the status of its answer, null without one. `request` is null for a message that is no valid request.
   */
  | {
      readonly type: "refused"
      readonly status: number | null
      readonly request: SipRequest | null
      readonly from: Flow
    }

interface Answer {
  readonly status: number
  readonly reason: string
}

export interface Options {
  readonly gate: IngressFilter.IngressFilter
  readonly policy: Validate.Policy
  /** Whether a call or a request of ours has this Call-ID. */
  readonly ownsCall: (callId: string) => boolean
  /** Whether the request names the tags of a dialog of ours, or the branch of a request in progress. */
  readonly isOurs: (request: SipRequest) => boolean
  readonly put: (bytes: Uint8Array, to: Flow) => void
  readonly accept: (message: SipMessage, from: Flow) => void
  readonly stranger: (sighting: Sighting) => void
  /** A faulty request of a known peer got this answer, without state. */
  readonly turnedAway: (request: SipRequest, from: Flow, answer: Answer) => void
  /** A message that is not SIP or breaks its rules was dropped or, if it is a known peer's request, answered. */
  readonly faulty: (isAnswered: boolean) => void
}

interface Faulty extends Answer {
  readonly headers?: ReadonlyArray<Header>
}

/** Takes the bytes of one message. */
export const make =
  ({ accept, faulty, gate, isOurs, ownsCall, policy, put, stranger, turnedAway }: Options) =>
  (bytes: Uint8Array, from: Flow): void => {
    const refuse = (request: SipRequest, { headers = [], reason, status }: Faulty): void => {
      const answer = StatelessAnswer.make(request, from, status, { reason, headers })
      faulty(answer !== null)
      if (answer === null) return
      put(answer.bytes, answer.to)
      turnedAway(request, from, { status, reason })
    }

    /** The answer is never longer than the request, because the address may be forged. */
    const refuseStranger = (request: SipRequest, verdict: IngressFilter.Refusal): boolean => {
      const answer = StatelessAnswer.make(request, from, verdict.status, verdict)
      if (answer === null || answer.bytes.length > bytes.length || !gate.mayAnswer(from)) return false
      put(answer.bytes, answer.to)
      return true
    }

    /** Only requests pass the gate. A response finds our request by its branch, or is dropped. */
    const mayEnter = (message: SipMessage): boolean => {
      if (message.type === "response") return true
      const verdict = gate.request(message, from, isOurs)
      if (verdict.type === "admit") return true
      const status = verdict.type === "refuse" && refuseStranger(message, verdict) ? verdict.status : null
      stranger({ type: "refused", status, request: message, from })
      return false
    }

    const enter = (message: SipMessage): void => {
      if (!mayEnter(message)) return
      const verdict = message.type === "request" ? Validate.request(message, policy) : Validate.response(message)
      if (verdict.type === "accept") return accept(SessionBody.alone(message), from)
      if (verdict.type === "drop") return faulty(false)
      if (message.type === "request") refuse(message, verdict)
    }

    const why = gate.reads(bytes, from, ownsCall)
    if (why !== null) return stranger({ type: "unread", why, from })
    const parsed = SipParser.parse(bytes)
    if (Result.isSuccess(parsed)) return enter(parsed.success)
    const { failure } = parsed
    if (failure.type === "keepalive") return
    if (!gate.isKnownPeer(from)) return stranger({ type: "refused", status: null, request: null, from })
    if (failure.type === "reject") refuse(failure.request, failure)
    else faulty(false)
  }
