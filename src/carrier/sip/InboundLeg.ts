/**
 * A leg that a trunk places: its INVITE from the first byte to the answer, the refusal or the CANCEL, RFC 3261 sections
 * 9.2 and 13.3. From our 2xx on it is a `Session`.
 *
 * It is offered to the sink first; commands may come before that has returned. A final answer that ends the call is sent
 * after the end is committed where the peer ended it, and at once where a committed command did.
 */
import { Exit, Result } from "effect"
import * as Id from "../../domain/Id.ts"
import * as Dialog from "../../sip/Dialog.ts"
import * as DialogResume from "../../sip/DialogResume.ts"
import type { Flow } from "../../sip/Flow.ts"
import type { Body } from "../../sip/Requests.ts"
import * as Responses from "../../sip/Responses.ts"
import type { SipRequest } from "../../sip/SipMessage.ts"
import * as Via from "../../sip/Via.ts"
import type { LegEnd, SipTrunk } from "../Carrier.ts"
import * as SipStatus from "../SipStatus.ts"
import * as Capabilities from "./Capabilities.ts"
import type { Context, Leg } from "./Context.ts"
import * as DialledNumber from "./DialledNumber.ts"
import * as LegLifecycle from "./LegLifecycle.ts"
import * as SelfAddress from "./SelfAddress.ts"
import * as Session from "./Session.ts"
import type { TransactionId } from "./TransactionLayer.ts"

type Phase =
  /** No final answer yet. */
  | "waiting"
  /** Asked to answer, taking a place in the media plane. */
  | "answering"
  /** 2xx sent, ACK awaited. */
  | "accepted"
  | "established"
  /** A final refusal is sent, or will be once the sink knows. */
  | "over"

export interface Arrived {
  readonly id: TransactionId
  /** Stamped. */
  readonly invite: SipRequest
  /** By which it came. */
  readonly from: Flow
  /** E.164. */
  readonly to: string
  /** The known peer that sent it, by its address. */
  readonly source: string
}

/** The flow of the responses to a stamped request. */
const flowOf = (invite: SipRequest, from: Flow): Flow =>
  Result.match(Via.top(invite), { onFailure: () => from, onSuccess: (via) => Via.responseFlow(via, from) })

export const take = (context: Context, { from, id, invite, source, to }: Arrived): void => {
  const { dialogs, directory, invites, random, run, sink, transactions, transports, userAgent } = context
  const legId = Id.derive(random(16), "leg")
  const localTag = random(8)
  const flow = flowOf(invite, from)
  const contact = SelfAddress.contact(transports.self(flow), to)
  const early = Dialog.fromRequest(invite, { localTag, contact, cseq: 1 })
  if (early === undefined) return transactions.respond(id, Responses.make(invite, 400, { toTag: localTag }))
  const dialogKey = Dialog.id(early)

  let phase: Phase = "waiting"
  let session: Session.Session | undefined
  /** Of the call's route: known soon after its admission. */
  let trunk: SipTrunk | null = null
  /** The end that follows the refusal that is out. */
  let refusal: LegEnd | undefined
  /** Asked to go after our 2xx: BYE follows its ACK (section 15). */
  let leaving: LegEnd | undefined

  const respond = (status: number, more: Responses.Options = {}): void =>
    transactions.respond(id, Responses.make(invite, status, { toTag: localTag, ...more }))

  const forget = (): void => {
    if (dialogs.get(dialogKey) === listener) dialogs.delete(dialogKey)
  }

  const refuse = (status: number, end: LegEnd): void => {
    phase = "over"
    forget()
    refusal = end
    respond(status, status === 503 ? { headers: [["Retry-After", "5"]] } : {})
    lifecycle.endSoon(end)
  }

  /** The caller gave up; it learns of that when it is written down. */
  const giveUp = (): void => {
    if (phase !== "waiting" && phase !== "answering") return
    phase = "over"
    forget()
    // Not yet admitted: `admitted` goes on from here.
    if (lifecycle.callId() !== null) writeOff()
  }
  const writeOff = (): void => lifecycle.end({ cause: "cancelled", sipStatus: 487, by: "far" }, () => respond(487))

  const answer = (commandId: Id.CommandId): void => {
    if (phase !== "waiting") return
    phase = "answering"
    lifecycle.media.open(from.remote.address, (opened) => {
      if (phase !== "answering") return
      const offered = invite.body.length === 0
      const body: Result.Result<Body, string> = !opened
        ? Result.fail("no_media")
        : offered
          ? Result.succeed(lifecycle.media.offer())
          : lifecycle.media.answer(invite.body)
      if (Result.isSuccess(body)) return accept(body.success)
      lifecycle.tell({ type: "command_failed", commandId, reason: opened ? "not_acceptable" : body.failure })
      const status = opened ? 488 : 503
      refuse(status, { cause: "final_response", sipStatus: status, by: "near" })
    })
  }

  const accept = (body: Body): void => {
    phase = "accepted"
    forget()
    invites.delete(id)
    const made = Session.make(context, { lifecycle, dialog: Dialog.accepted(early), flow, trunk })
    session = made
    const headers = [Capabilities.allow, ["User-Agent", userAgent] as const]
    made.accept(id, Responses.make(invite, 200, { toTag: localTag, contact, headers, body }), {
      acknowledged: (ack) => established(made, ack),
      abandoned: () => made.hangUp(leaving ?? { cause: "timer", sipStatus: null, by: "network" })
    })
  }

  const established = (made: Session.Session, ack: SipRequest): void => {
    phase = "established"
    const described = invite.body.length > 0 || Result.isSuccess(lifecycle.media.accept(ack.body))
    const end = leaving ?? (described ? undefined : ({ cause: "error", sipStatus: null, by: "near" } as const))
    if (end !== undefined) return made.hangUp(end)
    lifecycle.tell({ type: "answered", resume: LegLifecycle.json(DialogResume.fromDialog(made.dialog(), flow)) })
  }

  const leave = (status: number): void => {
    const end: LegEnd = { cause: "hangup", sipStatus: null, by: "near" }
    switch (phase) {
      case "waiting":
      case "answering":
        return refuse(status, { ...end, sipStatus: status })
      case "accepted":
        if (leaving !== undefined) return
        leaving = end
        return lifecycle.endSoon(end)
      case "established":
        return session?.hangUp(end)
      case "over":
        return
    }
  }

  const listener = {
    ack: () => undefined,
    request: (requestId: TransactionId, request: SipRequest): void => {
      const reply = (status: number, more: Responses.Options = {}) =>
        transactions.respond(requestId, Responses.make(request, status, more))
      switch (request.method) {
        // The caller may end an early dialog so, section 15.
        case "BYE":
          reply(200)
          return giveUp()
        // Section 14.2: the first INVITE has no answer yet.
        case "INVITE":
          return reply(500, { headers: [["Retry-After", String(Number.parseInt(random(1), 16) % 10)]] })
        case "OPTIONS":
          return reply(200, { headers: Capabilities.options })
        case "INFO":
          return reply(200)
        default:
          return reply(Capabilities.refusalOf(request.method), { headers: [Capabilities.allow] })
      }
    }
  }

  const command: Leg["command"] = (command) => {
    if (lifecycle.callId() === null) lifecycle.admitted(command.callId)
    switch (command.type) {
      case "ring":
        return phase === "waiting" ? respond(180, { contact }) : undefined
      case "answer":
        return answer(command.commandId)
      case "reject":
        return leave(SipStatus.of(command.cause))
      case "hangup":
        return leave(SipStatus.of("released"))
      case "media":
        return lifecycle.command(command.media)
      case "dial":
        return
    }
  }
  const lifecycle = LegLifecycle.make(context, {
    legId,
    callId: null,
    sessionId: String(Number.parseInt(random(6), 16)),
    command,
    mediaLost: () => session?.hangUp({ cause: "error", sipStatus: null, by: "network" }),
    disowned: () => leave(SipStatus.of("released"))
  })

  dialogs.set(dialogKey, listener)
  invites.set(id, {
    localTag,
    cancelled: giveUp,
    refused: () => {
      invites.delete(id)
      if (refusal !== undefined) lifecycle.end(refusal)
    }
  })
  const offer = {
    legId,
    at: transactions.now(),
    adapter: "sip",
    incarnation: context.incarnation,
    source,
    from: DialledNumber.caller(invite),
    to,
    resume: LegLifecycle.json(DialogResume.ringing(invite, localTag, flow))
  }
  run(sink.offer(offer), (exit) => {
    const admission = Exit.isSuccess(exit) ? exit.value : ({ admitted: false, cause: "error" } as const)
    if (admission.admitted) {
      lifecycle.admitted(admission.callId)
      if (admission.routeId !== null)
        run(directory.sipTrunk(admission.routeId), (exit) => {
          if (Exit.isSuccess(exit)) trunk = exit.value
        })
      if (phase === "over" && refusal === undefined && !lifecycle.isOver()) writeOff()
      return
    }
    const status = SipStatus.of(admission.cause)
    lifecycle.forget()
    if (phase === "over") return respond(487)
    refuse(status, { cause: "final_response", sipStatus: status, by: "near" })
  })
}
