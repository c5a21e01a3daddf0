/**
 * The shell of a leg that a trunk places: `InboundLegMachine` with its admission, its commands and its transactions.
 * The leg is offered to the sink, and commands may arrive before the sink has answered.
 */
import { Exit } from "effect"
import * as Id from "../../../../domain/Id.ts"
import * as IpAddress from "../../../../domain/network/IpAddress.ts"
import * as Expires from "../../../../protocol/sip/message/header/Expires.ts"
import type { Flow } from "../../../../protocol/sip/Flow.ts"
import * as Reason from "../../../../protocol/sip/message/header/Reason.ts"
import type { SipRequest } from "../../../../protocol/sip/message/SipMessage.ts"
import * as Via from "../../../../protocol/sip/message/header/Via.ts"
import * as SipStatus from "../../../SipStatus.ts"
import type { Admission } from "../../../Carrier.ts"
import type { Context, Leg } from "../../Context.ts"
import type { Refused } from "../../InviteLog.ts"
import * as CustomHeaders from "../../CustomHeaders.ts"
import * as InviteIdentity from "./InviteIdentity.ts"
import * as InboundLegMachine from "./InboundLegMachine.ts"
import * as LegLifecycle from "../LegLifecycle.ts"
import * as LegResume from "../LegResume.ts"
import * as LegShell from "../LegShell.ts"
import * as SelfAddress from "../../transport/SelfAddress.ts"
import type { TransactionId } from "../../TransactionLayer.ts"

interface Arrived {
  readonly id: TransactionId
  /** The INVITE with `received` and `rport` in its Via (`Via.stamped`). */
  readonly invite: SipRequest
  /** The flow by which the INVITE arrived. */
  readonly from: Flow
  /** The called number as it reads without a number plan: E.164, else as it came. */
  readonly to: string
  /** The address of the known peer that sent it. */
  readonly source: string
}

export const take = (context: Context, { from, id, invite, source, to }: Arrived): void => {
  const { directory, invites, negotiation, plane, random, run, sink, transactions, transports, userAgent } = context
  const legId = Id.derive(random(16), "leg")
  const localTag = random(8)
  const flow = Via.responseFlowOf(invite, from)
  const self = transports.self(flow)
  const expiresMs = Expires.waitMs(invite)
  const started = InboundLegMachine.start({
    id,
    invite,
    localTag,
    contact: SelfAddress.contact(self, to),
    flow,
    expiresAt: expiresMs === null ? null : transactions.now() + expiresMs,
    signallingAddress: from.remote.address,
    agent: { userAgent, host: IpAddress.host(self.address) },
    local: {
      addresses: plane.addresses,
      family: IpAddress.family(flow.remote.address),
      port: 0,
      sessionId: String(Number.parseInt(random(6), 16)),
      ...negotiation
    }
  })
  const refused = (status: number, why: string, of: Refused["of"] = null): void =>
    context.refused({ invite, source, status, why, legId, of })
  if (started.type === "refused") {
    refused(started.response.status, "session description")
    return transactions.respond(id, started.response)
  }

  const command: Leg["command"] = (command) => {
    lifecycle.admitted(command.callId)
    switch (command.type) {
      case "ring":
        return shell.feed({ type: "ring" })
      case "answer":
        lifecycle.media.belongsTo(command.tenantId)
        return shell.feed({
          type: "answer",
          commandId: command.commandId,
          headers: CustomHeaders.of(command.headers)
        })
      case "reject":
        return shell.feed({ type: "release", status: SipStatus.of(command.cause) })
      case "hangup":
        return shell.feed({ type: "release", status: SipStatus.of("released") })
      case "media":
      case "bridge":
      case "unbridge":
      case "join_room":
      case "leave_room":
      case "refer":
        return lifecycle.command(command)
      case "dial":
        return
    }
  }
  const shell: LegShell.LegShell<InboundLegMachine.Own> = LegShell.make(context, {
    machine: InboundLegMachine,
    state: started.state,
    lifecycle: () => lifecycle,
    invited: null
  })
  const lifecycle = LegLifecycle.make(context, {
    legId,
    callId: null,
    routeId: null,
    dial: null,
    source,
    command,
    perform: shell.perform,
    mediaLost: (reason) => shell.feed({ type: "mediaLost", reason }),
    disowned: () => shell.feed({ type: "disowned" })
  })

  invites.set(id, {
    localTag,
    cancelled: (cancel) => shell.feed({ type: "cancelled", reason: Reason.of(cancel) }),
    refused: () => {
      invites.delete(id)
      shell.feed({ type: "refused" })
    }
  })
  const headers = CustomHeaders.within(invite)
  const offer = {
    legId,
    at: transactions.now(),
    adapter: "sip",
    incarnation: context.incarnation,
    source,
    from: InviteIdentity.caller(invite),
    to,
    identity: InviteIdentity.of(invite),
    resume: LegResume.ringing(invite, localTag, flow),
    ...(headers.length === 0 ? {} : { headers })
  }
  run(sink.offer(offer), (exit) => {
    const admission: Admission = Exit.isSuccess(exit) ? exit.value : { admitted: false, cause: "error" }
    if (!admission.admitted) {
      const { cause, of = null } = admission
      refused(SipStatus.of(cause), of?.why ?? cause, of)
      return shell.feed({ type: "notAdmitted", status: SipStatus.of(cause) })
    }
    lifecycle.admitted(admission.callId)
    if (admission.routeId === null) return
    lifecycle.routed(admission.routeId)
    run(directory.sipTrunk(admission.routeId), (exit) => {
      const trunk = Exit.isSuccess(exit) ? exit.value : null
      if (trunk !== null) shell.feed({ type: "routed", trunk })
    })
  })
}
