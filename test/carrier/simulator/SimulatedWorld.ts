import { Effect, Layer } from "effect"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import { InboundSimulator } from "../../../src/carrier/InboundSimulator.ts"
import * as SimulatorCarrier from "../../../src/carrier/simulator/SimulatorCarrier.ts"
import * as MediaPlaneInline from "../../../src/media/plane/MediaPlaneInline.ts"
import { Outside } from "../CarrierBench.ts"
import * as VirtualMedia from "../VirtualMedia.ts"

const outside = Layer.effect(
  Outside,
  Effect.gen(function* () {
    const inbound = yield* InboundSimulator
    return Outside.of({
      elapse: VirtualMedia.elapse,
      callIn: (call) => Effect.asVoid(inbound.simulateInbound(call))
    })
  })
)

/** The phones that the contract requires. */
export const phones = {
  answers: "+12025550100",
  busy: "+12025550101",
  silent: "+12025550102",
  rejects: "+12025550103",
  early: "+12025550118",
  refusesReferral: "+12025550119"
}

/** The simulator carrier with real sound, all on the test clock. */
export const layer = (maxLegs = 100) =>
  outside.pipe(
    Layer.provideMerge(SimulatorCarrier.layer),
    Layer.provideMerge(Carrier.layer),
    Layer.provideMerge(VirtualMedia.plane({ maxLegs, ports: MediaPlaneInline.noPorts })),
    Layer.provide(Entropy.layerFixed("simulated world"))
  )
