import type { SipRequest, SipResponse } from "../../sip/SipMessage.ts"
import * as SuccessRetransmission from "../../sip/SuccessRetransmission.ts"
import * as Transaction from "../../sip/Transaction.ts"
import { ignore } from "./Context.ts"
import type { Stack, TransactionId } from "./Stack.ts"

/** A 2xx of ours to an INVITE that waits for its ACK. */
export interface SuccessCare {
  /** `true`: this is the ACK, the first one. */
  readonly ack: (request: SipRequest) => boolean
  /** The dialog ended otherwise. */
  readonly stop: () => void
}

/** Sends a 2xx to INVITE and repeats it until the ACK comes; `abandoned` when 64*T1 pass without. */
export const send = (
  stack: Stack,
  invite: TransactionId,
  response: SipResponse,
  abandoned: () => void
): SuccessCare => {
  let { state } = SuccessRetransmission.start(response, stack.now(), stack.timers)
  let disarm = ignore
  const arm = (): void => {
    const next = Transaction.earliest(state.deadlines)
    if (next === undefined) return
    disarm = stack.after(next.at - stack.now(), () => {
      const step = SuccessRetransmission.step(state, { kind: "due" }, stack.now())
      state = step.state
      for (const output of step.outputs) {
        if (output.kind === "send") stack.respond(invite, response)
        else if (output.kind === "failed") abandoned()
      }
      arm()
    })
  }
  stack.respond(invite, response)
  arm()
  return {
    ack: (request) => {
      if (state.phase === "terminated") return false
      state = SuccessRetransmission.step(state, { kind: "ack", request }, stack.now()).state
      if (state.phase !== "terminated") return false
      disarm()
      return true
    },
    stop: () => {
      disarm()
      state = { ...state, phase: "terminated", deadlines: [] }
    }
  }
}
