/** SIP carriers on sockets of this machine, for calls between them. */
import { expect } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Entropy } from "../../../../src/runtime/process/Entropy.ts"
import { Carrier, type CarrierCommand, RouteDirectory, type SipTrunk } from "../../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../../src/carrier/peer/PeerTable.ts"
import * as SipCarrier from "../../../../src/carrier/sip/SipCarrier.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import * as UdpTransport from "../../../../src/carrier/sip/transport/UdpTransport.ts"
import type { LegId } from "../../../../src/domain/Id.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import { AudioSource } from "../../../../src/media/sound/AudioSource.ts"
import * as MediaPlaneInline from "../../../../src/media/plane/MediaPlaneInline.ts"
import type { PacketPort } from "../../../../src/media/rtp/PacketPort.ts"
import * as MediaPlaneUdp from "../../../../src/media/udp/MediaPlaneUdp.ts"
import * as Sample from "../../../support/fake/CarrierSample.ts"
import { RecordingSink } from "../../RecordingSink.ts"
import * as Rig from "../Rig.ts"
import { AudioDecoder } from "../../../../src/media/sound/AudioDecoder.ts"
import * as NoEgress from "../../../support/network/NoEgress.ts"

/** RTP ports on which nothing arrives. */
const silent = (): PacketPort => {
  let port = 40_000
  return {
    open: (_, opened) =>
      opened({
        port: (port += 2),
        prepare: (_channel, address) => ({ address, send: () => undefined, give: () => undefined }),
        close: () => undefined
      })
  }
}

interface Options {
  readonly label: string
  readonly host: string
  readonly peer: string
  /** The first of its ports for RTP, in a thread of its own; null: it has no sound. */
  readonly portMin: number | null
  /** The address by which it names itself; default: its own. */
  readonly announced?: string
}

/** A carrier on `host` whose only peer is at `peer`. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { announced = options.host, portMin } = options
  const publicAddresses = announced === "::" ? { ipv4: "127.0.0.1", ipv6: "::1" } : IpAddress.only(announced)
  const udp = yield* UdpTransport.make({ host: options.host, port: 0, publicAddresses })
  let trunk: SipTrunk = { ...Rig.trunk, host: options.peer }
  const directory = Layer.succeed(RouteDirectory, {
    qualified: () => Effect.succeed([]),
    sipTrunk: () => Effect.sync(() => trunk),
    knownPeers: (listener) => Effect.forEach(PeerTable.snapshot(1, [options.peer]), listener, { discard: true })
  })
  const plane =
    portMin === null
      ? MediaPlaneInline.layer({
          ports: silent(),
          random: () => 0,
          publicAddresses,
          mediaTimeoutMs: 0,
          maxLegs: 4
        })
      : MediaPlaneUdp.layer({
          bindAddress: options.host,
          publicAddresses,
          portMin,
          portMax: portMin + 9,
          mediaTimeoutMs: 0
        })
  const services = yield* Layer.build(
    SipCarrier.layerNoDeps({ userAgent: "trunkline/test" }).pipe(
      Layer.provideMerge([Carrier.layer, RecordingSink.layer]),
      Layer.provide([
        Layer.succeed(Transports.Transports, Transports.make([udp])),
        Layer.provide(plane, [
          Layer.succeed(AudioSource, { open: () => Effect.never }),
          AudioDecoder.layerInline,
          NoEgress.layer
        ]),
        directory,
        Entropy.layerFixed(options.label)
      ])
    )
  )
  const carrier = Context.get(services, Carrier)
  return {
    sink: Context.get(services, RecordingSink),
    port: udp.bound.port,
    command: (command: CarrierCommand) => carrier.interpret("sip", Sample.order(command)),
    dialTo: (port: number) => {
      trunk = { ...trunk, port }
    }
  }
})

/** Polls until it holds, at most 30 s. */
export const until = (what: string, holds: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 3_000; i++) {
      if (holds()) return
      yield* Effect.sleep(10)
    }
    expect.fail(`in vain: ${what}`)
  })

export const saw = (sink: RecordingSink["Service"], leg: LegId, type: string): boolean =>
  sink.of(leg).some((report) => report.type === type)
