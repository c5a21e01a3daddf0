import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Netem from "../support/network/Netem.ts"
import * as Pause from "./support/Pause.ts"
import * as SipPeer from "./support/peer/SipPeer.ts"
import * as World from "./support/World.ts"

/** A service that stood still continues every call. The long form is part of `npm run crash`. */
const seed = Number(process.env["CRASH_SEED"] ?? 1)

describe(`a service that stands still while calls talk (seed ${seed})`, () => {
  const random = Netem.random(seed)
  let made: { readonly world: World.World; readonly peer: SipPeer.OwnSipPeer } | null = null
  beforeAll(async () => {
    const peer = await SipPeer.start(Netem.random(seed + 1))
    const world = await World.make({ tenants: 1, random, sipPeerPort: peer.port, logLevel: "Info" })
    made = { world, peer }
  }, 300_000)
  afterAll(async () => {
    await made?.world.close()
    await made?.peer.close()
  })

  it.each([
    { name: "alone", paused: "process", pausedMs: 10_000 },
    { name: "with its database, while its clock is set", paused: "all", pausedMs: 10_000, setWallClockMs: 7_200_000 }
  ] as const)(
    "ends no call: $name",
    async ({ name, ...pause }) => {
      if (made === null) throw new Error("there is no world")
      const options = { calls: 3, name: name.replaceAll(/[ ,]+/g, "-"), ...pause }
      expect((await Pause.run(made.world, made.peer, options)).slice(0, 10)).toEqual([])
    },
    300_000
  )
})
