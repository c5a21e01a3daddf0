/**
 * A leg whose process is gone: it is taken down by its stored data, and reported as `lost`.
 *
 * By its `resume`, a dialog gets a BYE, an INVITE of ours a CANCEL, and an INVITE of the peer a final answer. Without
 * `resume`, the INVITE is derived again from `origin` and cancelled. Whatever the peer answers, the leg ends within
 * `releaseLimitMs`.
 */
import { Exit, Result } from "effect"
import type { RouteId } from "../../../domain/Id.ts"
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as DialogResume from "../../../protocol/sip/dialog/DialogResume.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import * as Requests from "../../../protocol/sip/message/Requests.ts"
import * as Responses from "../../../protocol/sip/message/Responses.ts"
import type { SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import * as TransactionTable from "../../../protocol/sip/transaction/TransactionTable.ts"
import type { CarrierCommand, DialOrigin, LegEnd, SipTrunk } from "../../Carrier.ts"
import * as SipStatus from "../../SipStatus.ts"
import * as Bye from "../session/Bye.ts"
import { type Context, ignore } from "../Context.ts"
import * as Credentials from "../Credentials.ts"
import * as DialInvite from "./dial/DialInvite.ts"
import * as LegLifecycle from "./LegLifecycle.ts"
import * as LegResume from "./LegResume.ts"
import * as NextHop from "../transport/NextHop.ts"
import * as StrayAnswer from "./StrayAnswer.ts"

const lost: LegEnd = { cause: "lost", sipStatus: null, by: "network" }

/** A peer acknowledges a refusal at once. One that does not within this time has our earlier 2xx, and gets a BYE. */
const refusalAckMs = 1_000

type Release = Extract<CarrierCommand, { readonly type: "hangup" | "reject" }>

export const release = (context: Context, command: Release): void => {
  const { invites, run, transactions, transports, userAgent } = context
  const lifecycle = LegLifecycle.make(context, {
    legId: command.legId,
    callId: command.callId,
    routeId: null,
    dial: null,
    source: null,
    command: ignore,
    perform: ({ commandId }, heard) => heard({ commandId, status: null }),
    mediaLost: ignore,
    disowned: ignore
  })
  const over = () => lifecycle.end(lost)

  const withTrunk = (routeId: RouteId | null, then: (reached: NextHop.Reached | null) => void): void =>
    routeId === null
      ? then(null)
      : run(NextHop.trunkOf(context, routeId), (exit) => then(Exit.isSuccess(exit) ? exit.value : null))

  /**
   * Cancels an INVITE. If a 2xx arrives nevertheless, it gets ACK and BYE. The ACK waits until the dialog is stored: if
   * this process dies after it and before the peer has the BYE, the peer repeats nothing by which the next process
   * could learn of the dialog. Further branches of a forked INVITE do not wait.
   */
  const cancel = (invite: SipRequest, flow: Flow, trunk: SipTrunk | null): void => {
    const stray = StrayAnswer.make(context)
    let first: { readonly tag: string; isStored: boolean } | null = null
    transactions.resumeInvite(invite, flow, {
      response: (response) => {
        if (response.status < 200) return
        if (response.status >= 300) return over()
        const dialog = Dialog.fromResponse(invite, response)
        if (dialog === null) return
        const takeDown = (): void => stray({ invite, dialog, flow, trunk }, over)
        if (first !== null) return first.isStored || first.tag !== dialog.remoteTag ? takeDown() : undefined
        const answered = { tag: dialog.remoteTag, isStored: false }
        first = answered
        lifecycle.tell({ type: "leaving", ...lost, resume: LegResume.dialog(dialog, flow) }, () => {
          answered.isStored = true
          takeDown()
        })
      },
      failed: ignore
    })
    // The response proves nothing: after a 481 the peer may still repeat a 2xx that had no ACK.
    transactions.request(Requests.cancel(invite), flow, { response: ignore, failed: ignore })
  }

  const refuse = (resume: DialogResume.Unanswered, status: number): void => {
    const invite = DialogResume.toInvite(resume)
    const { localTag } = resume
    const flow = transports.resume(DialogResume.flowOf(resume))
    const id = TransactionTable.serverId(invite)
    if (!transactions.resumeServer(invite, flow)) return over()
    transactions.respond(id, Responses.make(invite, status, { toTag: localTag }))
    const disarm = transactions.after(refusalAckMs, () => {
      const early = Dialog.fromRequest(invite, { localTag, contact: "", cseq: DialogResume.cseqGap })
      if (early !== null) Bye.send(context, { dialog: Dialog.accepted(early), flow, trunk: null }, over)
    })
    invites.set(id, {
      localTag,
      cancelled: ignore,
      refused: () => {
        invites.delete(id)
        disarm()
        over()
      }
    })
  }

  /** Cancels a dial. A trunk with a password may have challenged the first INVITE; then the next one rings. */
  const withdraw = (origin: DialOrigin): void =>
    withTrunk(origin.routeId, (reached) => {
      if (reached === null) return over()
      const { flow, trunk } = reached
      const caller = { self: transports.self(flow), userAgent }
      const identity = DialInvite.identityOf(origin.dialId)
      const attempts = trunk.username === null ? 1 : Credentials.maxAttempts
      for (let again = 0; again < attempts; again++)
        cancel(DialInvite.make(caller, identity, trunk, origin, undefined, again), flow, trunk)
    })

  const origin = command.type === "hangup" ? command.origin : null
  const resume = Result.getOrNull(DialogResume.decode(command.resume))
  lifecycle.endSoon(lost)
  switch (resume?.kind) {
    case "dialog":
      return withTrunk(origin?.routeId ?? null, (reached) => {
        const dialog = DialogResume.toDialog(resume)
        Bye.send(
          context,
          { dialog, flow: transports.resume(DialogResume.flowOf(resume)), trunk: reached?.trunk ?? null },
          over
        )
      })
    case "calling":
      return cancel(DialogResume.toInvite(resume), transports.resume(DialogResume.flowOf(resume)), null)
    case "ringing":
      return refuse(resume, SipStatus.of(command.type === "reject" ? command.cause : "released"))
    case undefined:
      return origin === null ? over() : withdraw(origin)
  }
}
