import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import * as Abuse from "../bench/neighbour/Abuse.ts"
import * as Abuses from "../bench/neighbour/Abuses.ts"
import * as NeighbourBench from "../bench/neighbour/NeighbourBench.ts"
import * as Quiet from "../bench/neighbour/Quiet.ts"
import * as World from "../crash/support/World.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A twentieth of the load of `npm run bench -- --only neighbour`, because the test checks outcomes and not times. */
const size = 0.05
const names = Object.keys(Abuses.table) as ReadonlyArray<Abuses.Name>
/** Three abuses run at a time, which is worse than each alone, and takes less time. */
const rounds = Array.from({ length: Math.ceil(names.length / 3) }, (_, n) => ({
  abuses: names.slice(3 * n, 3 * n + 3)
}))
const calls = { count: 3, perSecond: 3 }

describe("While one tenant abuses what all share", () => {
  const scope = Scope.makeUnsafe()
  let world: World.World
  let abuser: World.Tenant
  let quiet: World.Tenant
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.provide(TestDatabase.migrated, scope))
    world = await World.make({ tenants: 2, lean: true, databaseUrl: Redacted.value(url) })
    ;[abuser, quiet] = await NeighbourBench.prepare(world)
  }, 120_000)
  afterAll(async () => {
    await world.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  it.each(rounds)(
    "($abuses) the calls of another are placed, hear their prompt, and are told in order",
    async ({ abuses }) => {
      const abuse = await Abuse.start(world, abuser, abuses, size)
      try {
        const seen = await Quiet.watch(world, quiet, calls)
        expect(seen.problems).toEqual([])
        expect([seen.placed, seen.whole]).toEqual([calls.count, calls.count])
      } finally {
        await abuse.stop()
        await NeighbourBench.endCalls(world, abuser)
      }
      expect(world.faults()).toEqual([])
    },
    90_000
  )
})
