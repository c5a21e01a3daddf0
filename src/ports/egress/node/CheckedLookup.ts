import { lookup as systemLookup, Resolver } from "node:dns/promises"
import { isIPv6, type LookupFunction } from "node:net"

/** Gives all addresses of a host name, as IPv4 and IPv6 literals. Rejects when there are none. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>

/**
 * Asks the DNS servers of the machine, without its hosts file and off the thread pool, because two slow names of one
 * tenant would hold up `getaddrinfo` for everyone.
 */
export const dns = (): Resolve => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  return async (host) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
    if (addresses.length === 0 && four.status === "rejected") throw four.reason
    return addresses
  }
}

/** Asks the machine as any program does, including its hosts file, because private targets often are only there. */
export const system: Resolve = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)

/** A lookup found an address that may not be reached, or that the operator does not allow. */
class BlockedAddress extends Error {
  readonly code: "EBLOCKED" | "EDENIED"
  constructor(code: "EBLOCKED" | "EDENIED") {
    super("forbidden address")
    this.code = code
  }
}

/**
 * Gives every address of a host, each checked. One forbidden address among many refuses the name, because an honest
 * public name has none. The error does not name the address, because a tenant could map a private network with it.
 */
export const checked =
  (
    resolve: Resolve,
    permits: (address: string) => boolean,
    refuses: (host: string, addresses: ReadonlyArray<string>) => boolean = () => false
  ): Resolve =>
  async (host) => {
    const addresses = await resolve(host).catch((cause: unknown) => {
      throw Object.assign(new Error("not resolved", { cause }), { code: "ENOTFOUND" })
    })
    if (addresses.length === 0) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" })
    if (!addresses.every(permits)) throw new BlockedAddress("EBLOCKED")
    if (refuses(host, addresses)) throw new BlockedAddress("EDENIED")
    return addresses
  }

/**
 * The `lookup` of a socket, which gives exactly the addresses that were checked. There is no second resolution between
 * check and connect, so a DNS answer that changes in between has no effect.
 */
export const make =
  (resolve: Resolve): LookupFunction =>
  (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const [first] = found
        if (first === undefined) callback(new Error("no address"), "")
        else if (options.all === true) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, "")
    )
  }
