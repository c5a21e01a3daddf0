import { describeCarrier } from "../CarrierContract.ts"
import * as VirtualMedia from "../VirtualMedia.ts"
import * as Rig from "./Rig.ts"
import * as SipPhones from "./SipPhones.ts"
import * as SipWorld from "./SipWorld.ts"

const { hangsUp, ...phones } = SipPhones.numbers

describeCarrier("The SIP adapter", {
  adapter: "sip",
  routeId: Rig.trunk.routeId,
  phones,
  hangsUp: { number: hangsUp, withinMs: 7000 },
  sounds: VirtualMedia.sounds,
  layer: SipWorld.layer
})
