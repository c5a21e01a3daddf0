import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as Requests from "../../../protocol/sip/message/Requests.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import type { SipTrunk } from "../../Carrier.ts"
import type { Context } from "../Context.ts"
import * as Credentials from "../Credentials.ts"
import * as NextHop from "../transport/NextHop.ts"

interface Options {
  readonly dialog: Dialog.Dialog
  /** The flow by which the packets of the call arrived. */
  readonly flow: Flow
  readonly trunk: SipTrunk | null
}

/**
 * Ends a dialog with BYE, RFC 3261 section 15.1.1, and answers challenges. `done` is called with the final response of
 * any status, or when none will come. Returns the dialog after the BYE.
 */
export const send = (
  context: Pick<Context, "random" | "transports" | "transactions" | "userAgent">,
  { dialog, flow, trunk }: Options,
  done: () => void
): Dialog.Dialog => {
  const { random, transactions, userAgent } = context
  const to = NextHop.within(context, dialog, flow)
  const attempt = (request: SipRequest, credentials: Credentials.Credentials): void =>
    transactions.request(request, to.flow, {
      response: (response) => {
        if (response.status < 200) return
        const answer = Credentials.answer(credentials, trunk, request, response, random(8))
        if (answer === null) return done()
        const again = Requests.again(request, built.dialog.localCSeq + answer.credentials.attempts, answer.header)
        attempt(Requests.by(again, NextHop.by(context, to.flow).hop), answer.credentials)
      },
      failed: done
    })
  const built = Dialog.request(dialog, "BYE", to.hop, { headers: [["User-Agent", userAgent]] })
  attempt(built.request, Credentials.none)
  return built.dialog
}
