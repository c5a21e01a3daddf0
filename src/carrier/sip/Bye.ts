import * as Dialog from "../../sip/Dialog.ts"
import * as Requests from "../../sip/Requests.ts"
import type { Endpoint, SipRequest } from "../../sip/SipMessage.ts"
import * as Via from "../../sip/Via.ts"
import type { SipTrunk } from "../Carrier.ts"
import type { Context } from "./Context.ts"
import * as Credentials from "./Credentials.ts"
import * as NextHop from "./NextHop.ts"
import * as SelfAddress from "./SelfAddress.ts"

export interface Options {
  readonly dialog: Dialog.Dialog
  readonly peer: Endpoint
  readonly trunk: SipTrunk | null
}

/**
 * Ends a dialog with BYE, RFC 3261 section 15.1.1, answering challenges; `done` when it has its final response, whatever
 * that is, or none will come. Returns the dialog as it is then.
 */
export const send = (
  { random, self, transactions }: Pick<Context, "random" | "self" | "transactions">,
  { dialog, peer, trunk }: Options,
  done: () => void
): Dialog.Dialog => {
  const hop = () => ({ sentBy: SelfAddress.sentBy(self), branch: `${Via.magicCookie}${random(16)}` })
  const attempt = (request: SipRequest, credentials: Credentials.Credentials): void =>
    transactions.request(request, NextHop.of(request, peer), {
      response: (response) => {
        if (response.status < 200) return
        const answer = Credentials.answer(credentials, trunk, request, response, random(8))
        if (answer === undefined) return done()
        attempt(Requests.again(request, hop(), answer.header), answer.credentials)
      },
      failed: done
    })
  const built = Dialog.request(dialog, "BYE", hop(), { headers: [["User-Agent", self.userAgent]] })
  attempt(built.request, Credentials.none)
  return built.dialog
}
