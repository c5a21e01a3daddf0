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
  context: Pick<Context, "nonces" | "random" | "transports" | "transactions" | "userAgent">,
  { dialog, flow, trunk }: Options,
  done: () => void
): Dialog.Dialog => {
  const { random, transactions, userAgent } = context
  const known = (): Credentials.Nonces => (trunk === null ? Credentials.noNonces : context.nonces.of(trunk))
  const keep = (nonces: Credentials.Nonces): void => {
    if (trunk !== null) context.nonces.keep(trunk, nonces)
  }
  const to = NextHop.within(context, dialog, flow)
  const attempt = (request: SipRequest, credentials: Credentials.Credentials): void =>
    transactions.request(request, to.flow, {
      response: (response) => {
        if (response.status < 200) return
        const { again, nonces } = Credentials.answer(credentials, trunk, request, response, random(8), known())
        keep(nonces)
        if (again === null) return done()
        const next = Requests.again(request, built.dialog.localCSeq + again.credentials.attempts, again.headers)
        attempt(Requests.by(next, NextHop.by(context, to.flow).hop), again.credentials)
      },
      failed: done
    })
  const built = Dialog.request(dialog, "BYE", to.hop, { headers: [["User-Agent", userAgent]] })
  const { nonces, request } = Credentials.signed(trunk, built.request, known())
  keep(nonces)
  attempt(request, Credentials.none)
  return built.dialog
}
