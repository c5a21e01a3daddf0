import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NextHop from "../../../../src/carrier/sip/transport/NextHop.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import type { TransportType } from "../../../../src/protocol/sip/Flow.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
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

const dialogTo = (contact: string): Dialog.Dialog => {
  const invite = SipSample.request("INVITE", { contact: `<${contact}>` })
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
