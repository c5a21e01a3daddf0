/** The shell of a leg that we place: `OutboundLegMachine` with its trunk, its commands and its transactions. */
import { Exit } from "effect"
import type { CarrierCommand } from "../../../Carrier.ts"
import type { Context, Leg } from "../../Context.ts"
import * as DialInvite from "./DialInvite.ts"
import * as LegLifecycle from "../LegLifecycle.ts"
import * as LegShell from "../LegShell.ts"
import * as NextHop from "../../transport/NextHop.ts"
import * as OutboundLegMachine from "./OutboundLegMachine.ts"
import * as OutboundLegState from "./OutboundLegState.ts"

export const place = (context: Context, dial: Extract<CarrierCommand, { readonly type: "dial" }>): void => {
  const { negotiation, run, transports, userAgent } = context
  const identity = DialInvite.identityOf(dial.commandId)

  const command: Leg["command"] = (command) => {
    switch (command.type) {
      case "hangup":
      case "reject":
        return shell.feed({ type: "release" })
      case "media":
      case "bridge":
      case "unbridge":
      case "join_room":
      case "leave_room":
      case "refer":
        return lifecycle.command(command)
      // Answering and ringing are for inbound legs, and the dial made this leg.
      case "dial":
      case "answer":
      case "ring":
        return
    }
  }
  const shell: LegShell.LegShell<OutboundLegState.Own> = LegShell.make(context, {
    machine: OutboundLegMachine,
    state: OutboundLegState.start(dial, identity, userAgent, negotiation),
    lifecycle: () => lifecycle,
    invited: {
      response: (invite, response) => ({ type: "response", invite, response }),
      failed: (invite, reason) => ({ type: "failed", invite, reason })
    }
  })
  const lifecycle = LegLifecycle.make(context, {
    legId: dial.legId,
    callId: dial.callId,
    routeId: dial.routeId,
    dial,
    source: null,
    command,
    perform: shell.perform,
    mediaLost: (reason) => shell.feed({ type: "mediaLost", reason }),
    disowned: () => shell.feed({ type: "disowned" })
  })

  run(NextHop.trunkOf(context, dial.routeId), (exit) => {
    const reached = Exit.isSuccess(exit) ? exit.value : null
    shell.feed({ type: "routed", way: reached === null ? null : { ...reached, self: transports.self(reached.flow) } })
  })
}
