import { Effect, Layer } from "effect"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { Carrier, RouteDirectory } from "../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import * as SipCarrier from "../../../src/carrier/sip/SipCarrier.ts"
import * as Transports from "../../../src/carrier/sip/transport/Transports.ts"
import type { PacketPort } from "../../../src/media/rtp/PacketPort.ts"
import type { Flow } from "../../../src/protocol/sip/Flow.ts"
import { Outside } from "../CarrierBench.ts"
import * as VirtualMedia from "../VirtualMedia.ts"
import * as Rig from "./Rig.ts"
import * as SipPhones from "./SipPhones.ts"

/** RTP peers that send each packet back to its sender: sound is an echo, digits come back. */
const echoes = (): PacketPort => {
  let next = 40_000
  return {
    open: (onPacket, opened) => {
      const port = next
      let isOpen = true
      next += 2
      opened({
        port,
        prepare: (channel, to) => {
          const send = (bytes: Uint8Array, length?: number) => {
            const back = bytes.slice(0, length)
            queueMicrotask(() => isOpen && onPacket(channel, back, to))
          }
          return { address: to, send, give: send }
        },
        close: () => {
          isOpen = false
        }
      })
    }
  }
}

const flow: Flow = { transport: "udp", local: Rig.self, remote: Rig.peer, connection: null }

const directory = Layer.succeed(RouteDirectory, {
  qualified: () => Effect.succeed([]),
  sipTrunk: (routeId) => Effect.succeed(routeId === Rig.trunk.routeId ? Rig.trunk : null),
  knownPeers: (listener) => Effect.forEach(PeerTable.snapshot(1, [Rig.peer.address]), listener, { discard: true })
})

/** The transport of the carrier, and the phones at its other end. */
const network = Effect.gen(function* () {
  const run = Effect.runForkWith(yield* Effect.context())
  let receiver: Transports.Receiver = () => undefined
  const phones = SipPhones.make({
    at: Rig.peer,
    send: (bytes) => queueMicrotask(() => receiver(bytes, flow)),
    after: (ms, then) => void run(Effect.andThen(Effect.sleep(ms), Effect.sync(then)))
  })
  const transport: Transports.Transport = {
    type: "udp",
    localTo: () => Rig.self,
    announcedTo: () => Rig.self,
    open: () => flow,
    send: (bytes) => queueMicrotask(() => phones.receive(bytes)),
    receive: (next) => {
      receiver = next
    }
  }
  return { phones, transports: Transports.make([transport]) }
})

/** The SIP carrier with real sound, towards phones in memory, all on the test clock. */
export const layer = Layer.unwrap(
  Effect.map(network, ({ phones, transports }) =>
    Layer.succeed(Outside, {
      elapse: VirtualMedia.elapse,
      callIn: (call) => Effect.sync(() => phones.call({ ...call, host: Rig.self.address }))
    }).pipe(
      Layer.provideMerge(SipCarrier.layerNoDeps({ userAgent: "trunkline/test" })),
      Layer.provideMerge(Carrier.layer),
      Layer.provide([
        Layer.succeed(Transports.Transports, transports),
        VirtualMedia.plane({ maxLegs: 100, ports: echoes() }),
        directory,
        Entropy.layerFixed("sip world")
      ])
    )
  )
)
