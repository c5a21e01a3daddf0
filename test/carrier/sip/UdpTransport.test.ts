import { createSocket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as UdpTransport from "../../../src/carrier/sip/UdpTransport.ts"
import * as IpAddress from "../../../src/domain/IpAddress.ts"

const open = (port = 0) => UdpTransport.make({ host: "127.0.0.1", port, publicAddresses: IpAddress.only("127.0.0.1") })

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
