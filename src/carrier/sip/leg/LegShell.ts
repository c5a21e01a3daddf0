/**
 * Runs the machine of a leg: carries out its outputs by the transactions, the media plane, the sink and the clock. It
 * takes one input after the other, each when every output of the previous one is carried out.
 */
import type { SipRequest, SipResponse } from "../../../protocol/sip/message/SipMessage.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../protocol/sip/message/Requests.ts"
import * as Via from "../../../protocol/sip/message/header/Via.ts"
import { type Context, type DialogListener, ignore, type Leg } from "../Context.ts"
import type { LegLifecycle } from "./LegLifecycle.ts"
import type * as LegMachine from "./LegMachine.ts"
import * as NextHop from "../transport/NextHop.ts"
import type * as Session from "../session/SessionState.ts"
import * as StrayAnswer from "./StrayAnswer.ts"
import * as SuccessCare from "./SuccessCare.ts"

/** The machine of one kind of leg. `Own` are its inputs beyond those of every leg. */
export interface Machine<State, Own> {
  readonly step: (state: State, input: LegMachine.Input | Own, env: Session.Env) => LegMachine.Step<State>
  readonly deadline: (state: State) => number | null
  readonly dialogs: (state: State) => ReadonlyArray<string>
}

interface Options<State, Own> {
  readonly machine: Machine<State, Own>
  readonly state: State
  readonly lifecycle: () => LegLifecycle
  /** Turns the responses to our first INVITE into inputs. */
  readonly invited: {
    readonly response: (invite: SipRequest, response: SipResponse) => Own
    readonly failed: (invite: SipRequest, reason: "timeout" | "transport" | "full" | "duplicate") => Own
  } | null
}

interface Routed {
  readonly request: SipRequest
  readonly flow: Flow
}

export interface LegShell<Own> {
  readonly feed: (input: LegMachine.Input | Own) => void
  readonly perform: Leg["perform"]
}

export const make = <State, Own>(
  context: Context,
  { invited, lifecycle, machine, ...options }: Options<State, Own>
): LegShell<Own> => {
  const { callIds, dialogs, invites, random, transactions } = context
  const stray = StrayAnswer.make(context)
  const waiting: Array<LegMachine.Input | Own> = []
  /** The sent ACKs, by INVITE: a repeated 2xx gets the same bytes again. */
  const acks = new WeakMap<SipRequest, Routed>()
  const asked = new Map<string, (outcome: Session.Outcome) => void>()
  let { state } = options
  let isStepping = false
  let care: SuccessCare.SuccessCare | null = null
  let alarm: { readonly at: number; readonly disarm: () => void } | null = null
  let heard: ReadonlyMap<string, DialogListener> = new Map()

  const feed = (input: LegMachine.Input | Own): void => {
    waiting.push(input)
    if (isStepping) return
    isStepping = true
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const step = machine.step(state, next, {
          now: transactions.now(),
          token: random(16),
          nonces: context.nonces.of
        })
        ;({ state } = step)
        listen()
        for (const output of step.outputs) carryOut(output)
      }
    } finally {
      isStepping = false
      arm()
    }
  }

  const within = (dialog: string, input: Session.Input): void => feed({ type: "within", dialog, input })

  /** Registers the present dialogs of the leg and removes its former ones. */
  const listen = (): void => {
    const wanted = machine.dialogs(state)
    if (wanted.length === heard.size && wanted.every((id) => heard.has(id))) return
    const before = heard
    heard = new Map(wanted.map((id) => [id, before.get(id) ?? listener(id)]))
    for (const [id, each] of before) {
      if (heard.has(id)) continue
      callIds.remove(MessageKey.callIdOfDialog(id))
      if (dialogs.get(id) === each) dialogs.delete(id)
    }
    for (const [id, each] of heard) {
      if (!before.has(id)) callIds.add(MessageKey.callIdOfDialog(id))
      dialogs.set(id, each)
    }
  }

  const listener = (dialog: string): DialogListener => ({
    request: (id, request, from) =>
      within(dialog, { type: "request", id, request, flow: Via.responseFlowOf(request, from) }),
    ack: (ack) => {
      if (care?.ack(ack) === true) within(dialog, { type: "acknowledged", ack })
    }
  })

  const arm = (): void => {
    const at = machine.deadline(state)
    if (at === (alarm?.at ?? null)) return
    alarm?.disarm()
    alarm = at === null ? null : { at, disarm: transactions.after(at - transactions.now(), rung) }
  }

  const rung = (): void => {
    alarm = null
    feed({ type: "due" })
  }

  /** A request of ours with its Via, and its flow to the next hop of the dialog. */
  const routed = ({ dialog, flow, request }: Session.Sent): Routed => {
    const to = NextHop.within(context, dialog, flow)
    return { request: Requests.by(request, to.hop), flow: to.flow }
  }

  const ask = (output: Extract<LegMachine.Output, { readonly type: "request" }>): void => {
    const { flow, request } = routed(output)
    const { cseq } = output
    const dialog = Dialog.id(output.dialog)
    transactions.request(request, flow, {
      response: (response) => within(dialog, { type: "response", cseq, response }),
      failed: (reason) => within(dialog, { type: "failed", cseq, reason })
    })
  }

  const carryOut = (output: LegMachine.Output): void => {
    switch (output.type) {
      case "respond":
        return transactions.respond(output.id, output.response)
      case "succeed": {
        const { dialog, id, response } = output
        invites.delete(id)
        care?.stop()
        care = SuccessCare.send(transactions, id, response, () => within(dialog, { type: "abandoned" }))
        return
      }
      case "stopRepeating":
        return care?.stop()
      case "request":
        return ask(output)
      case "ack": {
        const ack = acks.get(output.request) ?? routed(output)
        acks.set(output.request, ack)
        return transactions.send(ack.request, ack.flow)
      }
      case "connect":
        return lifecycle().connect(output.terms, output.isEarly ?? false)
      case "tell": {
        const { after, report } = output
        return lifecycle().tell(report, after === null ? ignore : (told) => feed({ type: "told", after, told }))
      }
      case "outcome": {
        const { commandId, status } = output
        const hear = asked.get(commandId)
        asked.delete(commandId)
        return hear?.({ commandId, status })
      }
      case "end":
        return lifecycle().end(output.end, (told) => feed({ type: "endTold", told }))
      case "leave":
        return lifecycle().leave(output.end)
      case "takePlace":
        return lifecycle().media.open(output.signallingAddress, (place) => feed({ type: "placed", place }))
      case "forget":
        return lifecycle().refused()
      case "invite": {
        const { flow, invite } = output
        if (invited === null) return
        return transactions.request(invite, flow, {
          response: (response) => feed(invited.response(invite, response)),
          failed: (reason) => feed(invited.failed(invite, reason))
        })
      }
      case "cancel":
        transactions.request(Requests.cancel(output.invite), output.flow, { response: ignore, failed: ignore })
        return transactions.cancelled(output.invite)
      case "nonces":
        return context.nonces.keep(output.trunk, output.nonces)
      case "stray":
        return stray(output, ignore)
    }
  }

  listen()
  arm()
  return {
    feed,
    perform: (action, hear) => {
      if (action.type !== "refer") asked.set(action.commandId, hear)
      feed({ type: "action", action })
    }
  }
}
