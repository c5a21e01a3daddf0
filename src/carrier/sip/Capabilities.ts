import type { Header } from "../../sip/SipMessage.ts"

/** What this user agent serves, RFC 3261 sections 11.2 and 20.5. */
export const allow: Header = ["Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO"]

export const accept: Header = ["Accept", "application/sdp, application/dtmf-relay"]

/** Answer to OPTIONS. No extension is supported, which an empty Supported says (section 20.37). */
export const options: ReadonlyArray<Header> = [allow, accept, ["Accept-Encoding", "identity"], ["Supported", ""]]

/** Methods with a meaning that is not served here: 405; any other is 501 (sections 8.2.1 and 21.5.2). */
const recognised = new Set(["REGISTER", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE", "PRACK", "UPDATE", "PUBLISH"])

export const refusalOf = (method: string): 405 | 501 => (recognised.has(method) ? 405 : 501)
