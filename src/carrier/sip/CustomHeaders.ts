import * as CustomHeader from "../../domain/CustomHeader.ts"
import type { Header, SipMessage } from "../../protocol/sip/message/SipMessage.ts"

type Headers = ReadonlyArray<CustomHeader.CustomHeader>

/** A tenant's custom headers for a message of ours. Headers that tenants may not set are left out. */
export const of = (headers: Headers = []): ReadonlyArray<Header> =>
  headers
    .filter(CustomHeader.isValid)
    .slice(0, CustomHeader.maxHeaders)
    .map(({ name, value }): Header => [name, value])

/** The custom headers of a peer's message, in order; those beyond the bounds of a tenant's are left out. */
export const within = ({ headers }: SipMessage): Headers =>
  headers
    .map(([name, value]) => ({ name, value }))
    .filter(CustomHeader.isValid)
    .slice(0, CustomHeader.maxHeaders)
