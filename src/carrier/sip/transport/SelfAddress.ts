import * as IpAddress from "../../../domain/network/IpAddress.ts"
import * as Flow from "../../../protocol/sip/Flow.ts"
import * as NameAddr from "../../../protocol/sip/message/header/NameAddr.ts"
import type * as Requests from "../../../protocol/sip/message/Requests.ts"
import * as SipUri from "../../../protocol/sip/message/header/SipUri.ts"

/** Our own name on a flow: a transport and an address that peers can reach. */
export interface SelfAddress {
  readonly transport: Flow.TransportType
  /** An IP literal, for Via, Contact and From. */
  readonly address: string
  readonly port: number
}

const hostPort = (self: SelfAddress): string => `${IpAddress.host(self.address)}:${self.port}`

/** The URI of a number at an address; it names the transport unless that is UDP. */
export const uri = (number: string, at: SelfAddress): string =>
  `sip:${SipUri.escapedUser(number)}@${hostPort(at)}${at.transport === "udp" ? "" : `;transport=${at.transport}`}`

/** The URI of an address without a user. */
export const host = (at: SelfAddress): string =>
  `sip:${hostPort(at)}${at.transport === "udp" ? "" : `;transport=${at.transport}`}`

/** The contents of the Via of a request of ours. */
export const hop = (self: SelfAddress, branch: string): Requests.Hop => ({
  transport: Flow.viaToken(self.transport),
  sentBy: hostPort(self),
  branch
})

/** Our Contact, with our number in the call. */
export const contact = (self: SelfAddress, number: string): string => `<${uri(number, self)}>`

/** The value of our From without a tag, or of P-Asserted-Identity. `domain` null: our address. */
export const identity = (
  self: SelfAddress,
  user: string,
  { domain, name = "" }: { readonly domain: string | null; readonly name?: string | undefined }
): string =>
  NameAddr.format({
    displayName: name.replace(/\p{Cc}/gu, " ").trim(),
    uri: `sip:${SipUri.escapedUser(user)}@${domain ?? IpAddress.host(self.address)}`,
    params: []
  })
