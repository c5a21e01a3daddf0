/**
 * A leg that we place: INVITE to the trunk of its route until it is answered, refused or cancelled, RFC 3261 sections 9
 * and 13.2. From the 2xx on it is a `Session`.
 *
 * The ACK is sent after the answer is committed; until then the peer repeats its 200, which is absorbed.
 */
import { Exit, Result } from "effect"
import * as Dialog from "../../sip/Dialog.ts"
import * as DialogResume from "../../sip/DialogResume.ts"
import * as MessageKey from "../../sip/MessageKey.ts"
import * as Requests from "../../sip/Requests.ts"
import type { SipRequest, SipResponse } from "../../sip/SipMessage.ts"
import type { CarrierCommand, LegEnd } from "../Carrier.ts"
import { type Context, ignore, type Leg } from "./Context.ts"
import * as Credentials from "./Credentials.ts"
import * as DialInvite from "./DialInvite.ts"
import * as LegLifecycle from "./LegLifecycle.ts"
import * as NextHop from "./NextHop.ts"
import * as SelfAddress from "./SelfAddress.ts"
import * as Session from "./Session.ts"
import * as StrayAnswer from "./StrayAnswer.ts"

type Phase =
  /** Finding the trunk, taking a place in the media plane. */
  | "preparing"
  /** INVITE sent, nothing heard. */
  | "calling"
  /** A provisional response came. */
  | "proceeding"
  /** A 2xx came; its commit is awaited, then the ACK goes out. */
  | "answered"
  | "established"
  /** Nothing more to do but to take down what answers late. */
  | "over"

const cancelled: LegEnd = { cause: "cancelled", sipStatus: null, by: "near" }
const failure: LegEnd = { cause: "error", sipStatus: null, by: "network" }
const timer: LegEnd = { cause: "timer", sipStatus: null, by: "network" }

export const place = (context: Context, dial: Extract<CarrierCommand, { readonly type: "dial" }>): void => {
  const { random, run, transactions, transports, userAgent } = context
  const identity = DialInvite.identityOf(dial.commandId)
  let phase: Phase = "preparing"
  let reached: NextHop.Reached | undefined
  let invite: SipRequest | undefined
  let credentials = Credentials.none
  let session: Session.Session | undefined
  /** How the leg ends once it can; set when it was asked to go before it was established. */
  let leaving: LegEnd | undefined
  let cancelSent = false
  let rang = false
  let early = false
  const stray = StrayAnswer.make(context)

  const finish = (end: LegEnd): void => {
    phase = "over"
    lifecycle.end(end)
  }

  const call = (request: SipRequest, to: NextHop.Reached): void => {
    invite = request
    phase = "calling"
    transactions.request(request, to.flow, {
      response: (response) => heard(request, to, response),
      failed: (reason) => {
        if (request !== invite || phase === "established" || phase === "answered") return
        finish(leaving ?? (reason === "timeout" || reason === "transport" ? timer : failure))
      }
    })
  }

  const heard = (request: SipRequest, to: NextHop.Reached, response: SipResponse): void => {
    if (response.status >= 200 && response.status < 300) return accepted(request, to, response)
    // What an INVITE says that was repeated with credentials, or after another answer, is of no more interest.
    if (request !== invite || (phase !== "calling" && phase !== "proceeding")) return
    if (response.status < 200) return provisional(request, to, response)
    const answer =
      leaving === undefined ? Credentials.answer(credentials, to.trunk, request, response, random(8)) : undefined
    if (answer === undefined) {
      const { status } = response
      return finish(
        leaving === undefined
          ? { cause: "final_response", sipStatus: status, by: "far" }
          : { ...leaving, sipStatus: status }
      )
    }
    ;({ credentials } = answer)
    const hop = SelfAddress.hop(transports.self(to.flow), identity.branch(credentials.attempts))
    call(Requests.again(request, hop, answer.header), to)
  }

  const provisional = (request: SipRequest, to: NextHop.Reached, response: SipResponse): void => {
    phase = "proceeding"
    if (leaving !== undefined) return cancel(request, to)
    const described =
      response.status > 100 && response.body.length > 0 && Result.isSuccess(lifecycle.media.accept(response.body))
    const resume = LegLifecycle.json(DialogResume.calling(request, to.flow))
    if (response.status === 180 && !rang) {
      rang = true
      lifecycle.tell({ type: "ringing", resume })
    } else if (described && !early) {
      early = true
      lifecycle.tell({ type: "early_media", resume })
    }
  }

  const accepted = (request: SipRequest, to: NextHop.Reached, response: SipResponse): void => {
    const tag = MessageKey.toTag(response) ?? ""
    if (session !== undefined && session.dialog().remoteTag === tag) {
      const ack = Dialog.acknowledged(session.dialog(), response)
      if (ack !== undefined) transactions.send(ack, NextHop.within(context, session.dialog(), to.flow).flow)
      return
    }
    const dialog = Dialog.fromResponse(request, response)
    if (dialog === undefined) return
    // Another branch of a forked INVITE, or an answer to a leg that was given up.
    if (session !== undefined || lifecycle.isOver()) return stray({ invite: request, dialog, ...to }, ignore)
    phase = "answered"
    session = Session.make(context, { lifecycle, dialog, ...to })
    const described =
      response.body.length > 0 ? Result.isSuccess(lifecycle.media.accept(response.body)) : lifecycle.media.agreed()
    if (leaving !== undefined || !described) return confirm(request, described ? undefined : failure)
    const resume = LegLifecycle.json(DialogResume.fromDialog(dialog, to.flow))
    lifecycle.tell({ type: "answered", resume }, (told) => confirm(request, told === "committed" ? undefined : failure))
  }

  /** Acknowledges, and hangs up where the call cannot or must not go on (sections 13.2.2.4 and 15). */
  const confirm = (request: SipRequest, wrong: LegEnd | undefined): void => {
    session?.acknowledge(request)
    phase = "established"
    const end = leaving ?? wrong
    if (end !== undefined) session?.hangUp(end)
  }

  /** Section 9.1: only after a provisional response; the INVITE then ends with 487, or with a 2xx that came first. */
  const cancel = (request: SipRequest, to: NextHop.Reached): void => {
    if (cancelSent) return
    cancelSent = true
    transactions.request(Requests.cancel(request), to.flow, { response: ignore, failed: ignore })
    transactions.cancelled(request)
  }

  const leave = (end: LegEnd): void => {
    switch (phase) {
      case "preparing":
        return finish(end)
      case "calling":
      case "proceeding":
      case "answered":
        if (leaving !== undefined) return
        leaving = end
        lifecycle.endSoon(end)
        if (phase === "proceeding" && invite !== undefined && reached !== undefined) cancel(invite, reached)
        return
      case "established":
        return session?.hangUp(end)
      case "over":
        return
    }
  }

  const release = (): void =>
    leave(
      phase === "answered" || phase === "established" ? { cause: "hangup", sipStatus: null, by: "near" } : cancelled
    )

  const command: Leg["command"] = (command) => {
    switch (command.type) {
      case "hangup":
      case "reject":
        return release()
      case "media":
        return lifecycle.command(command.media)
      // Of inbound legs; and a dial is placed once.
      case "dial":
      case "answer":
      case "ring":
        return
    }
  }
  const lifecycle = LegLifecycle.make(context, {
    legId: dial.legId,
    callId: dial.callId,
    sessionId: identity.sessionId,
    command,
    mediaLost: () => leave(failure),
    disowned: release
  })

  run(NextHop.trunkOf(context, dial.routeId), (exit) => {
    if (phase !== "preparing") return
    const found = Exit.isSuccess(exit) ? exit.value : null
    if (found === null) return finish({ cause: "no_route", sipStatus: null, by: "network" })
    reached = found
    lifecycle.media.open(found.flow.remote.address, (opened) => {
      if (phase !== "preparing") return
      if (!opened) return finish(failure)
      const caller = { self: transports.self(found.flow), userAgent }
      call(DialInvite.make(caller, identity, found.trunk, dial, lifecycle.media.offer()), found)
    })
  })
}
