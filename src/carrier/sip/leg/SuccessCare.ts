import type { SipRequest, SipResponse } from "../../../protocol/sip/message/SipMessage.ts"
import * as SuccessRetransmission from "../../../protocol/sip/transaction/SuccessRetransmission.ts"
import * as Transaction from "../../../protocol/sip/transaction/Transaction.ts"
import { ignore } from "../Context.ts"
import type { TransactionLayer, TransactionId } from "../TransactionLayer.ts"

/** A 2xx of ours to an INVITE that waits for its ACK. */
export interface SuccessCare {
  /** Takes an ACK. True when it is the first one for this 2xx. */
  readonly ack: (request: SipRequest) => boolean
  /** Stops the repetition, because the dialog has ended in another way. */
  readonly stop: () => void
}

/**
 * Sends a 2xx to INVITE and repeats it, on every transport, until the ACK arrives; `abandoned` after 64*T1 without one.
 */
export const send = (
  transactions: TransactionLayer,
  invite: TransactionId,
  response: SipResponse,
  abandoned: () => void
): SuccessCare => {
  let { state } = SuccessRetransmission.start(response, transactions.now())
  let disarm = ignore
  const arm = (): void => {
    const next = Transaction.earliest(state.deadlines)
    if (next === null) return
    disarm = transactions.after(next.at - transactions.now(), () => {
      const step = SuccessRetransmission.step(state, { type: "due" }, transactions.now())
      state = step.state
      for (const output of step.outputs) {
        if (output.type === "send") transactions.respond(invite, response)
        else if (output.type === "failed") abandoned()
      }
      arm()
    })
  }
  transactions.respond(invite, response)
  arm()
  return {
    ack: (request) => {
      if (state.phase === "terminated") return false
      state = SuccessRetransmission.step(state, { type: "ack", request }, transactions.now()).state
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
