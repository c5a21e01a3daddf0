import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import type { SipTrunk } from "../../Carrier.ts"
import * as Bye from "../session/Bye.ts"
import type { Context } from "../Context.ts"
import * as NextHop from "../transport/NextHop.ts"

/** The most branches of one INVITE that are taken down. Further branches end by their own time-out. */
const maxBranches = 16

/** A 2xx to an INVITE of ours that is no longer wanted. */
interface StrayAnswer {
  readonly invite: SipRequest
  readonly dialog: Dialog.Dialog
  readonly flow: Flow
  readonly trunk: SipTrunk | null
}

/**
 * Sends ACK and BYE to each branch that answers an INVITE after another branch did, or after we gave it up, RFC 3261
 * section 13.2.2.4. A repeated 2xx gets its ACK again. `done` is called when the BYE is answered or given up.
 */
export const make = (context: Pick<Context, "nonces" | "random" | "transports" | "transactions" | "userAgent">) => {
  const acks = new Map<string, { readonly ack: SipRequest; readonly flow: Flow }>()
  return ({ dialog, flow, invite, trunk }: StrayAnswer, done: () => void): void => {
    const { transactions } = context
    const known = acks.get(dialog.remoteTag)
    if (known !== undefined) return transactions.send(known.ack, known.flow)
    if (acks.size >= maxBranches) return
    const to = NextHop.within(context, dialog, flow)
    const built = Dialog.acknowledge(dialog, invite, to.hop)
    acks.set(dialog.remoteTag, { ack: built.request, flow: to.flow })
    transactions.send(built.request, to.flow)
    Bye.send(context, { dialog: built.dialog, flow, trunk }, done)
  }
}
