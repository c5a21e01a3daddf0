import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Abuse from "../bench/neighbour/Abuse.ts"
import * as Abuses from "../bench/neighbour/Abuses.ts"
import * as NeighbourBench from "../bench/neighbour/NeighbourBench.ts"
import * as Quiet from "../bench/neighbour/Quiet.ts"
import * as World from "../crash/support/World.ts"

/** A tenth of what `npm run bench -- --only neighbour` does, for what happens at all, not for how soon. */
const size = 0.1
const names = Object.keys(Abuses.table) as ReadonlyArray<Abuses.Name>
/** Three at a time, which is worse than each alone, and sooner over. */
const rounds = [names.slice(0, 3), names.slice(3, 6), names.slice(6)].map((abuses) => ({ abuses }))

describe("While one tenant abuses what all share", () => {
  let world: World.World
  let abuser: World.Tenant
  let quiet: World.Tenant
  beforeAll(async () => {
    world = await World.make({ tenants: 2, lean: true })
    ;[abuser, quiet] = await NeighbourBench.prepare(world)
  }, 120_000)
  afterAll(() => world.close(), 60_000)

  it.each(rounds)(
    "($abuses) the calls of another are placed, hear their prompt, and are told in order",
    async ({ abuses }) => {
      const begun = await Promise.all(abuses.map((name) => Abuse.begin(world, abuser, name, size)))
      try {
        const seen = await Quiet.watch(world, quiet, { count: 6, perSecond: 3 })
        expect(seen.problems).toEqual([])
        expect([seen.placed, seen.whole]).toEqual([6, 6])
      } finally {
        for (const { stop } of begun) await stop()
        await NeighbourBench.endCalls(world, abuser)
      }
      expect(world.faults()).toEqual([])
    },
    90_000
  )
})
