import { createSocket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as UdpTransport from "../../../../src/carrier/sip/transport/UdpTransport.ts"
import type { Flow } from "../../../../src/protocol/sip/Flow.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"

const open = (port = 0, host = "127.0.0.1") =>
  UdpTransport.make({
    host,
    port,
    publicAddresses: host === "::" ? { ipv4: "192.0.2.1", ipv6: "2001:db8::1" } : IpAddress.only(host)
  })

describe("UdpTransport", () => {
  it.live("carries datagrams both ways", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* open(), yield* open()]
      const heard = yield* Deferred.make<readonly [string, number]>()
      b.receive((bytes, from) =>
        Deferred.doneUnsafe(heard, Effect.succeed([Buffer.from(bytes).toString(), from.remote.port] as const))
      )
      a.send(new TextEncoder().encode("hello"), a.open({ address: "127.0.0.1", port: b.bound.port }), () => undefined)
      expect(yield* Deferred.await(heard)).toEqual(["hello", a.bound.port])
    })
  )

  for (const [host, address] of [
    ["::", "127.0.0.1"],
    ["::", "::1"],
    ["::1", "::1"]
  ] as const)
    it.live(`on ${host} carries datagrams to and from ${address}, which it names so`, () =>
      Effect.gen(function* () {
        const [a, b] = [yield* open(0, host), yield* open(0, address)]
        const [atA, atB] = [yield* Deferred.make<Flow>(), yield* Deferred.make<Flow>()]
        a.receive((_, from) => Deferred.doneUnsafe(atA, Effect.succeed(from)))
        b.receive((bytes, from) => {
          Deferred.doneUnsafe(atB, Effect.succeed(from))
          b.send(bytes, from, () => undefined)
        })
        const to = { address, port: b.bound.port }
        a.send(new TextEncoder().encode("hello"), a.open(to), () => undefined)
        expect((yield* Deferred.await(atB)).remote).toEqual({ address, port: a.bound.port })
        const back = yield* Deferred.await(atA)
        expect(back.remote).toEqual(to)
        const announced = { "127.0.0.1": "192.0.2.1", "::1": "2001:db8::1" }[address]
        expect(back.local).toEqual({ address: host === "::" ? announced : host, port: a.bound.port })
      })
    )

  it.live("refuses a peer of a family that it does not speak", () =>
    Effect.gen(function* () {
      for (const [host, address] of [
        ["127.0.0.1", "::1"],
        ["::1", "127.0.0.1"]
      ] as const) {
        const a = yield* open(0, host)
        expect([a.localTo(address), a.announcedTo(address)]).toEqual([null, null])
        const refused = yield* Deferred.make<void>()
        a.send(new Uint8Array(1), a.open({ address, port: 5060 }), () => Deferred.doneUnsafe(refused, Effect.void))
        yield* Deferred.await(refused)
      }
    })
  )

  it.live("sends from where it is bound and names the address that peers can reach", () =>
    Effect.gen(function* () {
      const publicAddresses = IpAddress.only("203.0.113.5")
      const a = yield* UdpTransport.make({ host: "127.0.0.1", port: 0, publicAddresses })
      const { port } = a.bound
      expect(a.open({ address: "127.0.0.1", port: 9 }).local).toEqual({ address: "127.0.0.1", port })
      expect(a.announcedTo("127.0.0.1")).toEqual({ address: "203.0.113.5", port })
    })
  )

  it.live("fails with one line that names SIP_PORT when the port is taken", () =>
    Effect.gen(function* () {
      const taken = yield* open()
      const error = yield* Effect.flip(open(taken.bound.port))
      expect(error.message).toBe(`SIP_PORT: cannot listen on 127.0.0.1:${taken.bound.port}/udp (EADDRINUSE)`)
    })
  )

  it.live("frees the port with its scope", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(Effect.map(open(), ({ bound }) => bound))
      const socket = createSocket("udp4")
      yield* Effect.callback<void>((resume) => void socket.bind(port, "127.0.0.1", () => resume(Effect.void)))
      yield* Effect.callback<void>((resume) => void socket.close(() => resume(Effect.void)))
    })
  )

  it.live("tells of a datagram that cannot be sent, and never looks a name up", () =>
    Effect.gen(function* () {
      const a = yield* open()
      for (const to of [
        { address: "trunk.example.com", port: 5060 },
        { address: "127.0.0.1", port: 0 }
      ]) {
        const refused = yield* Deferred.make<void>()
        a.send(new Uint8Array(1), a.open(to), () => Deferred.doneUnsafe(refused, Effect.void))
        yield* Deferred.await(refused)
      }
      expect(a.counters.sendErrors).toBe(2)
    })
  )
})
