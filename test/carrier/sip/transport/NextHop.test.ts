import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as NextHop from "../../../../src/carrier/sip/transport/NextHop.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import type { TransportType } from "../../../../src/protocol/sip/Flow.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import * as Random from "../../../support/Random.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Rig from "../Rig.ts"

/** A transport of ours that reaches one family. */
const transport = (type: TransportType, address: string): Transports.Transport => {
  const local = { address, port: 5060 }
  const reaches = (peer: string) => (IpAddress.family(peer) === IpAddress.family(address) ? local : null)
  return {
    type,
    localTo: reaches,
    announcedTo: reaches,
    open: (remote) => ({ transport: type, local, remote, connection: null }),
    send: () => undefined,
    receive: () => undefined
  }
}

const both = Transports.make([
  transport("udp", "192.0.2.1"),
  transport("udp", "2001:db8::1"),
  transport("tcp", "192.0.2.1")
])
const random = () => "ab"
const flow = { ...SipSample.flow(Rig.peer), connection: "c1" }

const dialogTo = (contact: string, record?: string): Dialog.Dialog => {
  const headers = record === undefined ? [] : [["Record-Route", record] as const]
  const invite = SipSample.request("INVITE", { contact: `<${contact}>`, headers })
  return Dialog.fromRequest(invite, { localTag: "us", contact: "", cseq: 1 }) ?? expect.fail("no dialog")
}

describe("the next hop of a dialog", () => {
  const cases: ReadonlyArray<
    readonly [contact: string, transport: string, address: string, port: number, via: string]
  > = [
    ["sip:bob@192.0.2.9", "udp", "192.0.2.9", 5060, "192.0.2.1:5060"],
    ["sip:bob@192.0.2.9:5070;transport=TCP", "tcp", "192.0.2.9", 5070, "192.0.2.1:5060"],
    ["sip:bob@[2001:DB8:0::9]", "udp", "2001:db8::9", 5060, "[2001:db8::1]:5060"],
    ["sip:bob@[::ffff:192.0.2.9]", "udp", "192.0.2.9", 5060, "192.0.2.1:5060"]
  ]
  for (const [contact, transport, address, port, via] of cases)
    it(`is ${address}:${port} over ${transport} for ${contact}`, () => {
      const { flow: to, hop } = NextHop.within({ transports: both, random }, dialogTo(contact), flow)
      expect(to).toMatchObject({ transport, remote: { address, port } })
      expect(hop).toMatchObject({ sentBy: via, transport: transport.toUpperCase() })
    })

  it("is the flow of the call, with its connection, where that leads there, and for a host name", () => {
    for (const contact of [`sip:bob@${Rig.peer.address}:${Rig.peer.port}`, "sip:bob@phone.example.net"])
      expect(NextHop.within({ transports: both, random }, dialogTo(contact), flow).flow).toBe(flow)
  })

  for (const contact of [
    "sip:bob@[2001:db8::9];transport=tcp",
    "sip:bob@192.0.2.9;transport=sctp",
    "sips:bob@192.0.2.9",
    "sip:bob@192.0.2.9;transport=tls"
  ])
    it(`is the flow of the call for ${contact}, which no transport reaches`, () => {
      const { flow: to, hop } = NextHop.within({ transports: both, random }, dialogTo(contact), flow)
      expect(to).toBe(flow)
      expect(hop).toMatchObject({ sentBy: "192.0.2.1:5060", transport: "UDP" })
    })
})

describe("the next hop of a dialog with a peer behind NAT", () => {
  const [ipv4, ipv6] = ["203.0.113.10", "2001:db8::10"]
  const from = (address: string) => ({ ...flow, remote: { address, port: 61_234 } })
  const host = (address: string) => IpAddress.host(address)
  const hop = (dialog: Dialog.Dialog, source: string) => {
    const packets = from(source)
    const { flow: to } = NextHop.within({ transports: both, random }, dialog, packets)
    return to === packets ? "the flow" : `${to.remote.address} ${to.remote.port}`
  }

  /** Networks without a meaning outside, each with two addresses. */
  const inside: ReadonlyArray<readonly [network: string, first: string, last: string]> = [
    ["10.0.0.0/8", "10.0.0.0", "10.255.255.255"],
    ["172.16.0.0/12", "172.16.0.1", "172.31.255.254"],
    ["192.168.0.0/16", "192.168.178.23", "192.168.255.255"],
    ["100.64.0.0/10", "100.64.0.1", "100.127.255.254"],
    ["169.254.0.0/16", "169.254.0.1", "169.254.255.254"],
    ["127.0.0.0/8", "127.0.0.1", "127.255.255.254"],
    ["::1/128", "::1", "::1"],
    ["fc00::/7", "fc00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]
  ]
  for (const [network, first, last] of inside) {
    it(`is the flow where the Contact is in ${network} and the packets come from elsewhere`, () => {
      for (const address of [first, last])
        for (const source of [ipv4, ipv6, ...inside.filter(([other]) => other !== network).map(([, one]) => one)])
          expect([address, source, hop(dialogTo(`sip:pbx@${host(address)}:5060`), source)]).toEqual([
            address,
            source,
            "the flow"
          ])
    })

    it(`is the Contact in ${network} where the packets come from that network too, or a router leads there`, () => {
      expect(hop(dialogTo(`sip:pbx@${host(first)}:5070`), last)).toBe(`${first} 5070`)
      for (const source of [ipv4, ipv6])
        expect(hop(dialogTo("sip:pbx@192.0.2.9", `<sip:${host(first)};lr>`), source)).toBe(`${first} 5060`)
    })
  }

  it("is the Contact right outside of these networks", () => {
    for (const address of [
      "9.255.255.255",
      "11.0.0.0",
      "172.15.255.255",
      "172.32.0.0",
      "192.167.255.255",
      "192.169.0.0",
      "100.63.255.255",
      "100.128.0.0",
      "169.253.255.255",
      "128.0.0.0",
      "fe00::1",
      "2001:db8::9"
    ])
      for (const source of [ipv4, ipv6])
        expect(hop(dialogTo(`sip:pbx@${host(address)}`), source)).toBe(`${address} 5060`)
  })

  it("is the flow for an IPv6 link-local Contact, whose interface a URI cannot name", () => {
    for (const source of [ipv6, ipv4, "fe80::2%eth0"])
      expect(hop(dialogTo("sip:pbx@[fe80::1]"), source)).toBe("the flow")
  })

  it("is the flow where no host has the address of the Contact", () => {
    for (const address of ["0.0.0.0", "::", "224.0.0.5", "ff02::1", "255.255.255.255", "240.0.0.1"])
      for (const source of [ipv4, "10.0.0.1"])
        expect(hop(dialogTo(`sip:pbx@${host(address)}`), source)).toBe("the flow")
  })

  it("is the flow for another spelling of such an address", () => {
    expect(hop(dialogTo("sip:pbx@[::ffff:192.168.178.23]"), ipv4)).toBe("the flow")
    expect(hop(dialogTo("sip:pbx@[::FFFF:C0A8:B217]"), ipv6)).toBe("the flow")
    expect(hop(dialogTo("sip:pbx@[FD00:0:0::23]"), ipv6)).toBe("the flow")
  })

  it.prop(
    "is the Contact exactly where that is public or of the network of the packets, and no route set ever changes",
    { seed: Schema.Int },
    ({ seed }) => {
      const draw = Random.make(seed)
      const address = () => {
        const [network = "", prefix = "", to = ""] =
          [
            ["10.0.0.0/8", "10.1.", ".3"],
            ["172.16.0.0/12", "172.20.", ".3"],
            ["192.168.0.0/16", "192.168.", ".3"],
            ["100.64.0.0/10", "100.99.", ".3"],
            ["127.0.0.0/8", "127.0.", ".3"],
            ["fc00::/7", "fd00::", ""],
            ["", "198.51.", ".3"],
            ["", "2001:db8::", ""]
          ][draw.below(8)] ?? []
        return { network, address: `${prefix}${draw.below(200) + 1}${to}` }
      }
      const [contact, source] = [address(), address()]
      const isDirect = contact.network === "" || contact.network === source.network
      const target = `${contact.address} 5071`
      const uri = `sip:pbx@${host(contact.address)}:5071`
      expect(hop(dialogTo(uri), source.address)).toBe(isDirect ? target : "the flow")
      expect(hop(dialogTo("sip:pbx@192.0.2.9", `<${uri};lr>`), source.address)).toBe(target)
    }
  )
})

describe("the way to a trunk", () => {
  const found = (transports: Transports.Transports["Service"], addresses: ReadonlyArray<string>) =>
    Effect.map(
      NextHop.trunkOf(
        {
          directory: {
            qualified: () => Effect.succeed([]),
            sipTrunk: () => Effect.succeed(Rig.trunk),
            knownPeers: () => Effect.void
          },
          resolve: () => (addresses.length === 0 ? Effect.fail("no such name") : Effect.succeed(addresses)),
          transports
        },
        Rig.trunk.routeId
      ),
      (reached) => reached?.flow.remote.address ?? null
    )
  const addresses = ["2001:db8::9", "192.0.2.9"]

  it.effect("leads to the first address of a family that we speak", () =>
    Effect.gen(function* () {
      expect(yield* found(both, addresses)).toBe("2001:db8::9")
      expect(yield* found(Transports.make([transport("udp", "192.0.2.1")]), addresses)).toBe("192.0.2.9")
    })
  )

  it.effect("is none where the name has no address", () =>
    Effect.gen(function* () {
      expect(yield* found(both, [])).toBeNull()
    })
  )
})

describe("a flow of an earlier process", () => {
  it("goes on by the transport that has its address, else by one that reaches its peer", () => {
    const other = { address: "192.0.2.5", port: 5060 }
    const second = {
      ...transport("udp", other.address),
      open: (remote: typeof other) => ({ ...flow, local: other, remote })
    }
    const transports = Transports.make([transport("udp", "192.0.2.1"), second])
    const before = { ...SipSample.flow(Rig.peer), local: other }
    expect(transports.resume(before).local).toEqual(other)
    expect(transports.self(before)).toEqual({ transport: "udp", ...other })
    expect(transports.resume({ ...before, local: { address: "0.0.0.0", port: 5060 } }).local).toEqual(Rig.self)
  })
})
