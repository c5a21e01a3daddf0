import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Abuse from "../bench/neighbour/Abuse.ts"
import * as Abuses from "../bench/neighbour/Abuses.ts"
import * as NeighbourBench from "../bench/neighbour/NeighbourBench.ts"
import * as Quiet from "../bench/neighbour/Quiet.ts"
import * as World from "../crash/support/World.ts"

/** A tenth of what `npm run bench -- --only neighbour` does, for what happens at all, not for how soon. */
const size = 0.1

describe("While one tenant abuses what all share", () => {
  let world: World.World
  beforeAll(async () => {
    world = await World.make({ tenants: 2, lean: true })
  }, 120_000)
  afterAll(() => world.close(), 60_000)

  // Everything at once is worse than each in turn, and sooner over.
  it("the calls of another are placed, hear their prompt, and are told in order", async () => {
    const [abuser, quiet] = await NeighbourBench.prepare(world)
    const abuse = await Abuse.begin(world, abuser, Object.keys(Abuses.table) as ReadonlyArray<Abuses.Name>, size)
    try {
      const seen = await Quiet.watch(world, quiet, { count: 6, perSecond: 3 })
      expect(seen.problems).toEqual([])
      expect([seen.placed, seen.whole]).toEqual([6, 6])
    } finally {
      await abuse.stop()
    }
    expect(world.faults()).toEqual([])
  }, 90_000)
})
