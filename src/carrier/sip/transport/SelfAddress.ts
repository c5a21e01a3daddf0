import * as IpAddress from "../../../domain/IpAddress.ts"
import * as Flow from "../../../sip/Flow.ts"
import * as NameAddr from "../../../sip/message/NameAddr.ts"
import type * as Requests from "../../../sip/message/Requests.ts"
import * as SipUri from "../../../sip/message/SipUri.ts"

/** What we call ourselves on a flow: a transport and an address that peers can reach. */
export interface SelfAddress {
  readonly transport: Flow.TransportType
  /** IP literal in Via, Contact and From. */
  readonly address: string
  readonly port: number
}

const hostPort = (self: SelfAddress): string => `${IpAddress.host(self.address)}:${self.port}`

/** URI of a number at an address; it names the transport where that is not UDP. */
export const uri = (number: string, at: SelfAddress): string =>
  `sip:${SipUri.escapedUser(number)}@${hostPort(at)}${at.transport === "udp" ? "" : `;transport=${at.transport}`}`

/** What the Via of a request of ours says. */
export const hop = (self: SelfAddress, branch: string): Requests.Hop => ({
  transport: Flow.viaToken(self.transport),
  sentBy: hostPort(self),
  branch
})

/** Our Contact, with the number that is called or calls. */
export const contact = (self: SelfAddress, number: string): string => `<${uri(number, self)}>`

/** Value of a From of ours, without tag. */
export const identity = (self: SelfAddress, number: string): string =>
  NameAddr.format({
    displayName: "",
    uri: `sip:${SipUri.escapedUser(number)}@${IpAddress.host(self.address)}`,
    params: []
  })
