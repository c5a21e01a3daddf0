import * as IpAddress from "../../../domain/network/IpAddress.ts"

/** The text of the answer (421) to a request with another host. */
export const refusal = "this port answers requests to localhost and to the hosts in OPERATOR_HOSTS\n"

const loopback = /^127\.|^::1$/

/**
 * Whether a request with this `Host` (RFC 9110 section 7.2) is answered: one to a loopback address, to `localhost` or
 * to a name in `others`, on any port. A page in the operator's browser may have a name that its DNS server suddenly
 * resolves to this machine (DNS rebinding). Its requests then have that name, because a page cannot choose the header.
 * A request without the header (HTTP/1.0) is from no browser.
 */
export const accepts = (others: ReadonlyArray<string>) => {
  const names = new Set(["localhost", ...others.map((name) => name.toLowerCase())])
  return (header: string | undefined): boolean => {
    if (header === undefined) return true
    const host = /^(?:\[([^\]]*)\]|([^:]*))(?::[0-9]*)?$/.exec(header.trim().toLowerCase())
    const name = host?.[1] ?? host?.[2] ?? ""
    return names.has(name) || loopback.test(IpAddress.canonical(name) ?? "")
  }
}
