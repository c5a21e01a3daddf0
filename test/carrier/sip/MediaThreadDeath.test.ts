/** The far end and the tenant learn that the media thread died in a call: over real sockets, up to the events. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Fatal } from "../../../src/runtime/process/Fatal.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import * as SipCarrier from "../../../src/carrier/sip/SipCarrier.ts"
import { Trunks } from "../../../src/numbers/trunk/Trunk.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import { AudioSource } from "../../../src/media/sound/AudioSource.ts"
import * as MediaPlaneUdp from "../../../src/media/udp/MediaPlaneUdp.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as CallSample from "../../telephony/call/CallSample.ts"
import { decodeAction } from "../../../src/telephony/call/verb/CallVerbs.ts"
import * as SipPeer from "../../crash/support/peer/SipPeer.ts"
import * as Features from "../../support/service/Features.ts"
import * as FreePorts from "../../support/network/FreePorts.ts"
import { AudioDecoder } from "../../../src/media/sound/AudioDecoder.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"

/** This media thread dies of digits. */
const media = MediaPlaneUdp.layerOf(
  {
    bindAddress: "127.0.0.1",
    publicAddresses: IpAddress.only("127.0.0.1"),
    portMin: 20_000,
    portMax: 20_099,
    mediaTimeoutMs: 0
  },
  new URL("../../media/udp/DyingWorker.ts", import.meta.url)
).pipe(
  Layer.provide([Layer.succeed(AudioSource, { open: () => Effect.never }), AudioDecoder.layerInline, NoEgress.layer]),
  Layer.provide(Layer.succeed(Fatal, () => undefined))
)

const sip = Layer.unwrap(
  Effect.map(
    Effect.promise(() => FreePorts.find()),
    ({ sip: port }) =>
      SipCarrier.layer({
        host: "127.0.0.1",
        port,
        publicAddresses: IpAddress.only("127.0.0.1"),
        userAgent: "trunkline/test"
      })
  )
)

const world = sip.pipe(
  Layer.provide(media),
  Layer.provideMerge(Calls.layer({ maxCallSecs: 3600 })),
  Layer.provideMerge(Layer.merge(DialingPermissions.layer, Carrier.layer)),
  Layer.provideMerge(Features.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const until = <A>(what: string, look: Effect.Effect<A | null>): Effect.Effect<A> =>
  Effect.gen(function* () {
    for (;;) {
      const seen = yield* look
      if (seen !== null) return seen
      yield* Effect.sleep("10 millis")
    }
  }).pipe(Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.die(new Error(`not in time: ${what}`)) }))

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("The death of the media thread", (it) => {
  it.effect(
    "gives the far end of a call its BYE and the call its end, and the next call has media again",
    () =>
      Effect.gen(function* () {
        const peer = yield* Effect.acquireRelease(
          Effect.promise(() => SipPeer.start(() => 1)),
          ({ close }) => Effect.promise(async () => close())
        )
        const { caller } = yield* Features.newTenant()
        const from = "+12025550150"
        yield* (yield* Numbers).order(
          caller,
          { phoneNumbers: [from], countryCode: "US", numberType: "local", routeId: null, customerReference: null },
          null
        )
        const { id: routeId } = yield* (yield* Trunks).addSipTrunk({
          tenantId: caller.tenantId,
          name: "peer",
          host: "127.0.0.1",
          port: peer.port,
          username: null,
          password: null,
          isDefault: false
        })
        const calls = yield* Calls
        const answered = Effect.gen(function* () {
          const request = CallSample.request(from, { to: SipPeer.steadyNumber, routeId })
          const placed = yield* calls.place(caller, request, null)
          const { id } = JSON.parse(placed.body ?? "") as { readonly id: string }
          const callId = Id.CallId.make(id)
          const look = Effect.orDie(calls.find(caller.tenantId, callId))
          yield* until(
            "the answer",
            Effect.map(look, ({ status }) => (status === "answered" ? status : null))
          )
          return { callId, look }
        })

        const first = yield* answered
        yield* calls.act(caller, first.callId, decodeAction("send_dtmf", { digits: "1" }), null)
        const ended = yield* until(
          "the end of the call",
          Effect.map(first.look, (call) => (call.status === "answered" ? null : call))
        )
        expect(ended).toMatchObject({ end_reason: "carrier_error" })
        const [dialog] = [...peer.dialogs.values()]
        yield* until(
          "the BYE",
          Effect.sync(() => dialog?.closed ?? null)
        )
        expect(dialog?.closed).toBe("hung up by the service")

        const second = yield* answered
        expect(second.callId).not.toBe(first.callId)
      }).pipe(Effect.scoped),
    60_000
  )
})
