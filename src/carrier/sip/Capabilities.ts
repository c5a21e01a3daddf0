import * as DialogMethod from "../../protocol/sip/dialog/DialogMethod.ts"
import * as SessionBody from "../../protocol/sip/message/SessionBody.ts"
import type { Header } from "../../protocol/sip/message/SipMessage.ts"
import * as DtmfRelay from "./session/DtmfRelay.ts"

/** The types of body that this user agent reads, RFC 3261 section 20.1. */
export const accept: Header = ["Accept", [SessionBody.accept[1], ...DtmfRelay.types, "message/sipfrag"].join(", ")]

/** The headers of an answer to OPTIONS, section 11.2. An empty Supported means no extensions (section 20.37). */
export const options: ReadonlyArray<Header> = [
  DialogMethod.allow,
  accept,
  ["Accept-Encoding", "identity"],
  ["Supported", ""]
]
