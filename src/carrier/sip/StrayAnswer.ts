import * as Dialog from "../../sip/Dialog.ts"
import type { Endpoint, SipRequest } from "../../sip/SipMessage.ts"
import * as Via from "../../sip/Via.ts"
import type { SipTrunk } from "../Carrier.ts"
import * as Bye from "./Bye.ts"
import type { Context } from "./Context.ts"
import * as NextHop from "./NextHop.ts"
import * as SelfAddress from "./SelfAddress.ts"

/** Branches of one INVITE that are taken down; more are left to their own time-out. */
const maxBranches = 16

/** A 2xx to an INVITE of ours that nobody wants. */
export interface StrayAnswer {
  readonly invite: SipRequest
  readonly dialog: Dialog.Dialog
  readonly peer: Endpoint
  readonly trunk: SipTrunk | null
}

/**
 * ACK and BYE for each branch that answers an INVITE after another did or after it was given up, RFC 3261 section
 * 13.2.2.4; a repeated 2xx gets its ACK again. `done` when the BYE is answered or given up.
 */
export const make = (context: Pick<Context, "random" | "self" | "transactions">) => {
  const acks = new Map<string, SipRequest>()
  return ({ dialog, invite, peer, trunk }: StrayAnswer, done: () => void): void => {
    const { random, self, transactions } = context
    const known = acks.get(dialog.remoteTag)
    if (known !== undefined) return transactions.send(known, NextHop.of(known, peer))
    if (acks.size >= maxBranches) return
    const hop = { sentBy: SelfAddress.sentBy(self), branch: `${Via.magicCookie}${random(16)}` }
    const built = Dialog.acknowledge(dialog, invite, hop)
    acks.set(dialog.remoteTag, built.request)
    transactions.send(built.request, NextHop.of(built.request, peer))
    Bye.send(context, { dialog: built.dialog, peer, trunk }, done)
  }
}
