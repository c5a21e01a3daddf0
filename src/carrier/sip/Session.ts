/**
 * A confirmed dialog of a leg, RFC 3261 sections 12.2, 14 and 15: requests of the peer within it, and our BYE.
 */
import { Result } from "effect"
import * as Dialog from "../../sip/Dialog.ts"
import * as DialogResume from "../../sip/DialogResume.ts"
import type { Flow } from "../../sip/Flow.ts"
import type { Body } from "../../sip/Requests.ts"
import * as Responses from "../../sip/Responses.ts"
import type { SipRequest, SipResponse } from "../../sip/SipMessage.ts"
import type { LegEnd, SipTrunk } from "../Carrier.ts"
import * as Bye from "./Bye.ts"
import * as Capabilities from "./Capabilities.ts"
import type { Context, DialogListener } from "./Context.ts"
import * as DtmfRelay from "./DtmfRelay.ts"
import * as LegLifecycle from "./LegLifecycle.ts"
import * as NextHop from "./NextHop.ts"
import * as SelfAddress from "./SelfAddress.ts"
import type { TransactionId } from "./TransactionLayer.ts"
import * as SuccessCare from "./SuccessCare.ts"

export interface Session extends DialogListener {
  readonly dialog: () => Dialog.Dialog
  /** Sends the ACK to the 2xx of our INVITE, which is then no longer open. */
  readonly acknowledge: (invite: SipRequest) => void
  /** Answers the initial INVITE of the peer with a 2xx, repeated until its ACK comes or 64*T1 pass without. */
  readonly accept: (invite: TransactionId, response: SipResponse, then: Confirmation) => void
  /** BYE, once; the leg ends as `end` when that is answered or given up. */
  readonly hangUp: (end: LegEnd) => void
}

export interface Confirmation {
  readonly acknowledged: (ack: SipRequest) => void
  readonly abandoned: () => void
}

export interface Options {
  readonly lifecycle: LegLifecycle.LegLifecycle
  readonly dialog: Dialog.Dialog
  /** By which the packets of the call come. */
  readonly flow: Flow
  /** Whose password answers a challenge to our BYE. */
  readonly trunk: SipTrunk | null
}

export const make = (context: Context, { flow, lifecycle, trunk, ...options }: Options): Session => {
  const { dialogs, transactions, transports, userAgent } = context
  const key = Dialog.id(options.dialog)
  let { dialog } = options
  /** Whether the initial INVITE still waits for its ACK. */
  let open = true
  let hungUp = false
  let peerHungUp = false
  /** Our offer in a 2xx to a re-INVITE waits for its answer in the ACK. */
  let offering = false
  /** Our 2xx to the peer's last INVITE, while its ACK is awaited. */
  let awaiting:
    | { readonly care: SuccessCare.SuccessCare; readonly acknowledged: Confirmation["acknowledged"] }
    | undefined

  const agent = ["User-Agent", userAgent] as const

  const respond = (id: TransactionId, request: SipRequest, status: number, more: Responses.Options = {}): void =>
    transactions.respond(id, Responses.make(request, status, more))

  const succeed = (id: TransactionId, response: SipResponse, { abandoned, acknowledged }: Confirmation): void => {
    awaiting?.care.stop()
    awaiting = { care: SuccessCare.send(transactions, id, response, abandoned), acknowledged }
  }

  const forget = (): void => {
    awaiting?.care.stop()
    if (dialogs.get(key) === session) dialogs.delete(key)
  }

  const hangUp = (end: LegEnd): void => {
    if (hungUp) return
    hungUp = true
    awaiting?.care.stop()
    lifecycle.endSoon(end)
    dialog = Bye.send(context, { dialog, flow, trunk }, () => lifecycle.end(end, forget))
  }

  /** Section 14.2: answered at once, in the same leg. */
  const renegotiate = (id: TransactionId, request: SipRequest): void => {
    // Our own INVITE has no ACK yet, or an offer of ours has no answer: glare, RFC 3261 section 14.1, RFC 6337 section 2.
    if (open || offering) return respond(id, request, 491)
    const bare = request.body.length === 0
    const body: Result.Result<Body, string> = bare
      ? Result.succeed(lifecycle.media.offer())
      : lifecycle.media.answer(request.body)
    if (Result.isFailure(body))
      return respond(id, request, 488, {
        headers: [["Warning", `399 ${SelfAddress.hostOf(transports.self(flow).address)} "${body.failure}"`]]
      })
    const response = Responses.make(request, 200, {
      contact: dialog.contact,
      headers: [Capabilities.allow, agent],
      body: body.success
    })
    offering = bare
    succeed(id, response, {
      acknowledged: (ack) => {
        offering = false
        if (bare && Result.isFailure(lifecycle.media.accept(ack.body)))
          hangUp({ cause: "error", sipStatus: null, by: "near" })
      },
      abandoned: () => hangUp({ cause: "timer", sipStatus: null, by: "network" })
    })
  }

  const request = (id: TransactionId, request: SipRequest): void => {
    const received = Dialog.receive(dialog, request)
    if (received.verdict === "outOfOrder") return respond(id, request, 500)
    const moved = received.dialog.remoteTarget !== dialog.remoteTarget
    dialog = received.dialog
    // After a restart the BYE must go where the peer is now.
    if (moved && !open)
      lifecycle.tell({ type: "answered", resume: LegLifecycle.json(DialogResume.fromDialog(dialog, flow)) })
    switch (request.method) {
      case "BYE": {
        awaiting?.care.stop()
        // It crossed ours.
        if (hungUp && !peerHungUp) return respond(id, request, 200)
        hungUp = true
        peerHungUp = true
        // The peer sends its BYE again until the end is committed.
        return lifecycle.end({ cause: "hangup", sipStatus: null, by: "far" }, (told) => {
          respond(id, request, told === "fault" ? 500 : 200)
          forget()
        })
      }
      case "INVITE":
        return hungUp || lifecycle.isOver() ? respond(id, request, 481) : renegotiate(id, request)
      case "OPTIONS":
        return respond(id, request, 200, { headers: Capabilities.options })
      case "INFO": {
        const digit = DtmfRelay.digitOf(request)
        if (digit === null)
          return request.body.length > 0
            ? respond(id, request, 415, { headers: [Capabilities.accept] })
            : respond(id, request, 200)
        // A peer that sends both would have each digit counted twice.
        if (lifecycle.media.hasTelephoneEvents()) return respond(id, request, 200)
        // Sent again by the peer until it is committed.
        return lifecycle.tell({ type: "media", event: { type: "dtmf", digit, at: transactions.now() } }, (told) =>
          respond(id, request, told === "fault" ? 500 : 200)
        )
      }
      default:
        return respond(id, request, Capabilities.refusalOf(request.method), { headers: [Capabilities.allow] })
    }
  }

  const session: Session = {
    dialog: () => dialog,
    request,
    ack: (request) => {
      const waited = awaiting
      if (waited === undefined || !waited.care.ack(request)) return
      awaiting = undefined
      waited.acknowledged(request)
    },
    acknowledge: (invite) => {
      const to = NextHop.within(context, dialog, flow)
      const built = Dialog.acknowledge(dialog, invite, to.hop)
      dialog = built.dialog
      open = false
      transactions.send(built.request, to.flow)
    },
    accept: (invite, response, then) =>
      succeed(invite, response, {
        acknowledged: (ack) => {
          open = false
          then.acknowledged(ack)
        },
        abandoned: then.abandoned
      }),
    hangUp
  }
  dialogs.set(key, session)
  return session
}
