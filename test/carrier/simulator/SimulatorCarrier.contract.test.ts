import * as Ids from "../../support/Ids.ts"
import { describeCarrier } from "../CarrierContract.ts"
import * as VirtualMedia from "../VirtualMedia.ts"
import * as SimulatedWorld from "./SimulatedWorld.ts"

describeCarrier("The simulator", {
  adapter: "simulator",
  routeId: Ids.route("svc_route_simulator"),
  phones: SimulatedWorld.phones,
  hangsUp: { number: "+12025550106", withinMs: 7000 },
  sounds: VirtualMedia.sounds,
  layer: SimulatedWorld.layer()
})
