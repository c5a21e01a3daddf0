import { Context, Layer } from "effect"
import * as Bridges from "./Bridges.ts"

/**
 * The bridges of all carriers in this process whose legs share one media plane: any two of these legs can be bridged,
 * whichever carriers have them. Each carrier gets the commands for its own legs, and reports its own legs.
 */
export class SharedBridges extends Context.Service<
  SharedBridges,
  {
    /** Adds a carrier whose legs are in `plane`, for as long as the plane lives. */
    readonly add: (plane: object, carrier: Bridges.Options) => Bridges.Bridges
  }
>()("trunkline/carrier/SharedBridges") {
  static readonly layer = Layer.sync(SharedBridges, () => {
    const planes = new WeakMap<object, Plane>()
    return SharedBridges.of({
      add: (key, carrier) => {
        const plane = planes.get(key) ?? makePlane()
        planes.set(key, plane)
        plane.carriers.push(carrier)
        return plane.bridges
      }
    })
  })
}

interface Plane {
  readonly carriers: Array<Bridges.Options>
  readonly bridges: Bridges.Bridges
}

const makePlane = (): Plane => {
  const carriers: Array<Bridges.Options> = []
  const carrierOf = (legId: Parameters<Bridges.Options["legOf"]>[0]): Bridges.Options | null =>
    carriers.find((carrier) => carrier.legOf(legId) !== null) ?? null
  const bridges = Bridges.make({
    legOf: (legId) => carrierOf(legId)?.legOf(legId) ?? null,
    join: (legId, peerLegId, settled) => carrierOf(legId)?.join(legId, peerLegId, settled),
    part: (legId) => carrierOf(legId)?.part(legId),
    leaveRoom: (legId) => carrierOf(legId)?.leaveRoom(legId)
  })
  return { carriers, bridges }
}
