import * as CustomHeader from "../../domain/CustomHeader.ts"
import type { Header, SipMessage } from "../../protocol/sip/message/SipMessage.ts"

type Headers = ReadonlyArray<CustomHeader.CustomHeader>

/** A tenant's own headers, for a message of ours. What is none of theirs to set is left out, whoever asks for it. */
export const of = (headers: Headers = []): ReadonlyArray<Header> =>
  headers
    .filter(CustomHeader.isValid)
    .slice(0, CustomHeader.maxHeaders)
    .map(({ name, value }): Header => [name, value])

/** The headers of the peer's own in a message, in order; what exceeds the bounds of a tenant's own is left out. */
export const within = ({ headers }: SipMessage): Headers =>
  headers
    .map(([name, value]) => ({ name, value }))
    .filter(CustomHeader.isValid)
    .slice(0, CustomHeader.maxHeaders)
