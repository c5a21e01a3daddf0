import * as DialogMethod from "../../protocol/sip/dialog/DialogMethod.ts"
import * as SessionBody from "../../protocol/sip/message/SessionBody.ts"
import type { Header } from "../../protocol/sip/message/SipMessage.ts"
import * as DtmfRelay from "./session/DtmfRelay.ts"

/** The types of body that this user agent reads, RFC 3261 section 20.1. */
export const accept: Header = ["Accept", [SessionBody.accept[1], ...DtmfRelay.types, "message/sipfrag"].join(", ")]

/** Our extensions: none (section 20.37). INVITE and its 2xx name them (sections 13.2.1 and 13.3.1.4). */
export const supported: Header = ["Supported", ""]

/** The headers of an answer to OPTIONS, section 11.2. */
export const options: ReadonlyArray<Header> = [DialogMethod.allow, accept, ["Accept-Encoding", "identity"], supported]
