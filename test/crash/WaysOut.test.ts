import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Netem from "../support/network/Netem.ts"
import * as SipPeer from "./support/peer/SipPeer.ts"
import * as WaysOut from "./support/end/WaysOut.ts"
import * as World from "./support/World.ts"

/**
 * Whatever ends the service, calls get their BYE and are billed by the process itself, its Postgres stops last, and
 * nothing is left. The long form is part of `npm run crash`.
 */
const seed = Number(process.env["CRASH_SEED"] ?? 1)
const { SIGHUP, closedLog, databaseFirst, uncaught } = WaysOut.ways

describe(`a service with an embedded database that is ended while calls talk (seed ${seed})`, () => {
  const random = Netem.random(seed)
  let made: { readonly world: World.World; readonly peer: SipPeer.OwnSipPeer } | null = null
  beforeAll(async () => {
    const peer = await SipPeer.start(Netem.random(seed + 1))
    const world = await World.make({ tenants: 1, random, sipPeerPort: peer.port, logLevel: "Info" })
    made = { world, peer }
  })
  afterAll(async () => {
    await made?.world.close()
    await made?.peer.close()
  })

  it.each([closedLog, SIGHUP, databaseFirst, uncaught])(
    "goes the way of SIGTERM: $name",
    async (way) => {
      if (made === null) throw new Error("there is no world")
      expect((await WaysOut.run(made.world, made.peer, way, random)).slice(0, 10)).toEqual([])
    },
    300_000
  )
})
