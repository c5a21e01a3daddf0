import * as DialogMethod from "../../../../protocol/sip/dialog/DialogMethod.ts"
import * as Requests from "../../../../protocol/sip/message/Requests.ts"
import type { SipRequest } from "../../../../protocol/sip/message/SipMessage.ts"
import type { CarrierCommand, SipTrunk } from "../../../Carrier.ts"
import * as TrunkNumberPlan from "../../../number/TrunkNumberPlan.ts"
import * as Capabilities from "../../Capabilities.ts"
import * as CustomHeaders from "../../CustomHeaders.ts"
import * as DialIdentity from "./DialIdentity.ts"
import * as NextHop from "../../transport/NextHop.ts"
import * as SelfAddress from "../../transport/SelfAddress.ts"

type Wanted = Pick<Extract<CarrierCommand, { readonly type: "dial" }>, "from" | "to" | "callerIdName" | "headers">

export const identityOf = DialIdentity.of

/**
 * The INVITE of a dial. The same arguments give the same transaction, whichever process makes it. With `again` it is
 * the INVITE that was repeated after that many challenges, but without its credentials, which is enough for a CANCEL.
 */
export const make = (
  caller: { readonly self: SelfAddress.SelfAddress; readonly userAgent: string },
  identity: DialIdentity.DialIdentity,
  trunk: SipTrunk,
  { callerIdName, from, headers, to }: Wanted,
  body?: Requests.Body,
  again = 0
): SipRequest => {
  const sent = TrunkNumberPlan.sent(trunk.numbers ?? TrunkNumberPlan.none, { from, to })
  const uri = NextHop.uriAt(trunk, sent.called)
  const { self, userAgent } = caller
  const party = (user: string) => SelfAddress.identity(self, user, { name: callerIdName, domain: sent.domain })
  return Requests.invite({
    ...SelfAddress.hop(self, identity.branch(again)),
    uri,
    from: `${party(sent.from)};tag=${identity.fromTag}`,
    to: `<${uri}>`,
    callId: identity.callId,
    cseq: 1 + again,
    contact: SelfAddress.contact(self, sent.caller),
    headers: [
      ["P-Asserted-Identity", party(sent.asserted)],
      DialogMethod.allow,
      Capabilities.supported,
      ["User-Agent", userAgent],
      ...CustomHeaders.of(headers)
    ],
    ...(body === undefined ? {} : { body })
  })
}
