/**
 * Two networks in network namespaces, IPv4 and IPv6: a public one with the service, and a private one with a peer. A
 * router between them translates addresses and ports (NAT), and forwards port 5060 to the peer. The Internet around
 * them takes every packet and delivers none, as it does with packets to private addresses.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createServer, connect, type Server } from "node:net"
import { join } from "node:path"
import { end, eventually, type Host } from "./Service.ts"

export interface Network {
  readonly service: Host
  readonly peer: Host
  readonly close: () => Promise<void>
}

export const addresses = {
  service: { ipv4: "203.0.113.1", ipv6: "2001:db8:113::1" },
  /** The outer side of the router. */
  outside: { ipv4: "203.0.113.10", ipv6: "2001:db8:113::10" },
  inside: { ipv4: "192.168.178.23", ipv6: "fd00:0:0:178::23" }
} as const

const relay = new URL("./Relay.fixture.ts", import.meta.url).pathname

const run = (command: string, input = ""): string | null => {
  const [program = "", ...words] = command.split(" ")
  const { error, status, stderr } = spawnSync(program, words, { input, encoding: "utf8" })
  return error === undefined && status === 0 ? null : `${command}: ${error?.message ?? stderr.trim()}`
}

/** The rules of the router: peers of the peer see its outer address, with ports that are not those inside. */
const rules = `
table inet translation {
  chain incoming {
    type nat hook prerouting priority dstnat
    iifname "outer" udp dport 5060 dnat ip to ${addresses.inside.ipv4}
    iifname "outer" udp dport 5060 dnat ip6 to ${addresses.inside.ipv6}
  }
  chain outgoing {
    type nat hook postrouting priority srcnat
    oifname "outer" meta l4proto udp masquerade to :61000-61999
  }
}
`

interface Namespaces {
  readonly service: string
  readonly peer: string
  readonly remove: () => void
}

/** Builds the networks; the reason why that is not possible here, as text. */
const build = (): Namespaces | string => {
  const names = { service: `service-${process.pid}`, router: `router-${process.pid}`, peer: `peer-${process.pid}` }
  const { peer, router, service } = names
  const remove = () => {
    for (const name of Object.values(names)) run(`ip netns del ${name}`)
  }
  const inNamespace = (name: string) => (command: string, input?: string) =>
    [`ip netns exec ${name} ${command}`, input] as const
  const [atService, atRouter, atPeer] = [inNamespace(service), inNamespace(router), inNamespace(peer)]
  const address = (at: ReturnType<typeof inNamespace>, device: string, ipv4: string, ipv6: string) => [
    at(`ip addr add ${ipv4}/24 dev ${device}`),
    at(`ip addr add ${ipv6}/64 dev ${device} nodad`),
    at(`ip link set ${device} up`)
  ]
  const commands: ReadonlyArray<readonly [command: string, input?: string | undefined]> = [
    ...Object.values(names).map((name) => [`ip netns add ${name}`] as const),
    [`ip link add outer netns ${router} type veth peer name public netns ${service}`],
    [`ip link add inner netns ${router} type veth peer name private netns ${peer}`],
    ...[atService, atRouter, atPeer].map((at) => at("ip link set lo up")),
    ...address(atService, "public", addresses.service.ipv4, addresses.service.ipv6),
    ...address(atRouter, "outer", addresses.outside.ipv4, addresses.outside.ipv6),
    ...address(atRouter, "inner", "192.168.178.1", "fd00:0:0:178::1"),
    ...address(atPeer, "private", addresses.inside.ipv4, addresses.inside.ipv6),
    atPeer("ip route add default via 192.168.178.1"),
    atPeer("ip -6 route add default via fd00:0:0:178::1"),
    // A device that resolves no neighbours, so that packets leave by it and are lost without an error.
    atService("ip link add internet arp off type veth peer name nowhere"),
    atService("ip link set internet up"),
    atService("ip link set nowhere up"),
    atService("ip route add default dev internet"),
    atService("ip -6 route add default dev internet"),
    atRouter("sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"),
    atRouter("nft -f -", rules)
  ]
  for (const [command, input] of commands) {
    const failure = run(command, input)
    if (failure === null) continue
    remove()
    return failure
  }
  return { service, peer, remove }
}

/** Why the networks cannot be built here; null: they can. */
export const refusal = (): string | null => {
  const built = build()
  if (typeof built === "string") return built
  built.remove()
  return null
}

export const open = (): Network => {
  const built = build()
  if (typeof built === "string") throw new Error(built)
  const { peer, remove, service } = built
  const relays: Array<ChildProcess> = []
  const servers: Array<Server> = []
  const host = (name: string): Host => {
    const prefix = ["ip", "netns", "exec", name]
    return {
      prefix,
      reach: async (port, folder) => {
        const path = join(folder, `${port}.sock`)
        const [program, ...words] = [...prefix, process.execPath, relay, path, String(port)]
        const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] })
        relays.push(child)
        let isReady = false
        child.stdout.on("data", () => {
          isReady = true
        })
        await eventually("the relay listens", () => (isReady ? true : undefined))
        const server = createServer((socket) => {
          const far = connect(path)
          for (const [one, other] of [
            [socket, far],
            [far, socket]
          ] as const)
            one.on("error", () => other.destroy()).pipe(other)
        })
        servers.push(server)
        await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve))
      }
    }
  }
  return {
    service: host(service),
    peer: host(peer),
    close: async () => {
      for (const server of servers) server.close()
      for (const child of relays) await end(child)
      remove()
    }
  }
}
