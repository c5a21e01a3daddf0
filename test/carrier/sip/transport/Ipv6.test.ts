/** Whole calls over IPv6 and between families: two carriers with real sockets, their sound in real threads. */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Entropy } from "../../../../src/runtime/process/Entropy.ts"
import { Carrier, type CarrierCommand, RouteDirectory, type SipTrunk } from "../../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../../src/carrier/peer/PeerTable.ts"
import * as SipCarrier from "../../../../src/carrier/sip/SipCarrier.ts"
import * as Transports from "../../../../src/carrier/sip/transport/Transports.ts"
import * as UdpTransport from "../../../../src/carrier/sip/transport/UdpTransport.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import { AudioSource } from "../../../../src/media/sound/AudioSource.ts"
import * as MediaPlaneUdp from "../../../../src/media/udp/MediaPlaneUdp.ts"
import * as Sample from "../../../support/fake/CarrierSample.ts"
import * as Ids from "../../../support/Ids.ts"
import { RecordingSink } from "../../RecordingSink.ts"
import * as Rig from "../Rig.ts"
import { AudioDecoder } from "../../../../src/media/sound/AudioDecoder.ts"
import * as NoEgress from "../../../support/network/NoEgress.ts"

/** A carrier on `host` whose only peer is at `peer`. */
const side = Effect.fnUntraced(function* (options: {
  readonly label: string
  readonly host: string
  readonly peer: string
  readonly portMin: number
}) {
  const publicAddresses = options.host === "::" ? { ipv4: "127.0.0.1", ipv6: "::1" } : IpAddress.only(options.host)
  const udp = yield* UdpTransport.make({ host: options.host, port: 0, publicAddresses })
  let trunk: SipTrunk = { ...Rig.trunk, host: options.peer }
  const directory = Layer.succeed(RouteDirectory, {
    qualified: () => Effect.succeed([]),
    sipTrunk: () => Effect.sync(() => trunk),
    knownPeers: (listener) => Effect.forEach(PeerTable.snapshot(1, [options.peer]), listener, { discard: true })
  })
  const plane = MediaPlaneUdp.layer({
    bindAddress: options.host,
    publicAddresses,
    portMin: options.portMin,
    portMax: options.portMin + 9,
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

/** Polls until it holds, at most 5 s. */
const until = (what: string, holds: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 500; i++) {
      if (holds()) return
      yield* Effect.sleep(10)
    }
    expect.fail(`in vain: ${what}`)
  })

describe("a call with digits in both directions", () => {
  for (const [caller, callee, address] of [
    ["::1", "::1", "::1"],
    ["::", "127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "::", "127.0.0.1"],
    ["::", "::1", "::1"]
  ] as const)
    it.live(
      `goes from ${caller} to ${callee}`,
      () =>
        Effect.gen(function* () {
          const a = yield* side({ label: "a", host: caller, peer: address, portMin: 43_100 })
          const b = yield* side({ label: "b", host: callee, peer: address, portMin: 43_120 })
          a.dialTo(b.port)
          yield* a.command(Rig.dial)
          yield* until("an offer", () => b.sink.offers.length > 0)
          const [offer] = b.sink.offers
          if (offer === undefined) return expect.fail("no offer")
          expect(offer.source).toBe(address)
          const inbound = { callId: Ids.call(`call of ${offer.legId}`), tenantId: Ids.tenant("t"), legId: offer.legId }
          yield* b.command({ ...inbound, commandId: Ids.command("answer"), type: "answer" })
          const saw = (sink: RecordingSink["Service"], leg: typeof offer.legId, type: string) =>
            sink.of(leg).some((report) => report.type === type)
          yield* until(
            "both answered",
            () => saw(a.sink, Rig.of.legId, "answered") && saw(b.sink, offer.legId, "answered")
          )
          const digits = (id: string, digit: string) =>
            ({ type: "send_dtmf", id: Ids.work(id), digits: digit, durationMs: 100 }) as const
          yield* a.command({
            ...Rig.of,
            commandId: Ids.command("d1"),
            type: "media",
            tenantId: Ids.tenant("t"),
            media: digits("d1", "7")
          })
          yield* b.command({
            ...inbound,
            commandId: Ids.command("d2"),
            type: "media",
            tenantId: Ids.tenant("t"),
            media: digits("d2", "8")
          })
          const heard = (sink: RecordingSink["Service"], leg: typeof offer.legId) =>
            sink
              .of(leg)
              .flatMap((report) =>
                report.type === "media" && report.event.type === "dtmf" ? [report.event.digit] : []
              )
          yield* until(
            "a digit on both sides",
            () => heard(a.sink, Rig.of.legId).length + heard(b.sink, offer.legId).length > 1
          )
          expect([heard(a.sink, Rig.of.legId), heard(b.sink, offer.legId)]).toEqual([["8"], ["7"]])
          yield* b.command({ ...inbound, commandId: Ids.command("h"), type: "hangup", origin: null, resume: null })
          yield* until("both ended", () => saw(a.sink, Rig.of.legId, "ended") && saw(b.sink, offer.legId, "ended"))
          const resume = a.sink.of(Rig.of.legId).find((report) => report.type === "answered")?.resume
          expect(resume).toMatchObject({
            version: 2,
            contact: `<sip:+12025550150@${IpAddress.host(address)}:${a.port}>`,
            flow: { transport: "udp", local: { address, port: a.port }, remote: { address, port: b.port } }
          })
        }),
      30_000
    )
})
