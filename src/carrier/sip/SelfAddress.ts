import * as NameAddr from "../../sip/NameAddr.ts"
import * as SipUri from "../../sip/SipUri.ts"

/** What we call ourselves on the wire: addresses that peers can reach, and our name. */
export interface SelfAddress {
  /** IP literal in Via, Contact and From. */
  readonly address: string
  readonly port: number
  readonly userAgent: string
}

/** An address as a host of a URI or a Via: IPv6 in brackets, RFC 3261 section 25.1. */
export const hostOf = (address: string): string => (address.includes(":") ? `[${address}]` : address)

/** `host:port` of our Via. */
export const sentBy = (self: SelfAddress): string => `${hostOf(self.address)}:${self.port}`

/** Our Contact, with the number that is called or calls. */
export const contact = (self: SelfAddress, number: string): string =>
  `<sip:${SipUri.escapedUser(number)}@${sentBy(self)}>`

/** Value of a From of ours, without tag. */
export const identity = (self: SelfAddress, number: string): string =>
  NameAddr.format({ displayName: "", uri: `sip:${SipUri.escapedUser(number)}@${hostOf(self.address)}`, params: [] })
