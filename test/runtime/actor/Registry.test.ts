import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Latch, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Behavior } from "../../../src/runtime/actor/Behavior.ts"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { accepted, type Machine } from "../../../src/runtime/actor/Machine.ts"
import * as Registry from "../../../src/runtime/actor/Registry.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import { StatementLimit } from "../../../src/runtime/store/StatementLimit.ts"

/** A sum that is settled at 100, and grows by itself after ten minutes at 13. Its rows are a map. */
interface Sum {
  readonly total: number
}
type Input = { readonly add: number } | "will"

const machine: Machine<Sum, Input, null> = {
  step: (state, input) => accepted({ total: input === "will" ? 100 : (state?.total ?? 0) + input.add }, null),
  nextDeadline: ({ total }) => (total === 13 ? { at: 600_000, input: { add: 50 } } : null),
  isSettled: ({ total }) => total >= 100
}

const partition = 0
const other = 1

const setUp = Effect.fnUntraced(function* (options: { readonly maxLive?: number } = {}) {
  const rows = new Map<string, Sum>()
  const loads: Array<string> = []
  const limits: Array<number> = []
  /** Loads and commits wait here. */
  const loading = Latch.makeUnsafe(true)
  const committing = Latch.makeUnsafe(true)
  const behavior: Behavior<string, Sum, Input, null, string, number> = {
    machine,
    commit: Effect.fnUntraced(function* ({ state }, asked) {
      limits.push(yield* StatementLimit)
      yield* committing.await
      if (asked !== null) rows.set(asked, state)
      return state.total
    }),
    interpret: () => Effect.void,
    answer: ({ total }) => total,
    reload: (id) => Effect.sync(() => rows.get(id) ?? null),
    recovered: null,
    ready: null,
    prepare: null,
    lastWill: () => "will"
  }
  const registry = yield* Registry.make(
    {
      behavior,
      since: () => 0,
      offsetMs: null,
      load: Effect.fnUntraced(function* (id) {
        loads.push(id)
        const row = rows.get(id)
        yield* loading.await
        return row === undefined ? null : { partition: id.startsWith("other") ? other : partition, state: row }
      }),
      ended: ApiError.of("call_already_ended", "ended"),
      unknown: ApiError.of("not_found", "unknown"),
      maxLive: options.maxLive ?? 10,
      passivation: { afterMs: 60_000, mayLeave: ({ total }) => total !== 13 }
    },
    Effect.succeed(false)
  )
  yield* registry.hold(partition, 0)
  yield* registry.hold(other, 0)
  const add = (id: string, amount: number) => registry.ask(id, { add: amount }, id)
  return { registry, rows, loads, limits, loading, committing, add }
})

const test = <A, E>(body: Effect.Effect<A, E, Scope.Scope | Entropy>) =>
  Effect.orDie(Effect.scoped(Effect.provide(body, Entropy.layerFixed("registry test"))))

const settle = TestClock.adjust(1)

describe("A registry of actors", () => {
  it.effect("loads an entity once, however many ask for it at the same time", () =>
    test(
      Effect.gen(function* () {
        const { add, loading, loads, registry, rows } = yield* setUp()
        rows.set("a", { total: 1 })
        loading.closeUnsafe()
        const asking = yield* Effect.forEach([1, 1, 1], (amount) => Effect.forkChild(add("a", amount)))
        yield* settle
        loading.openUnsafe()
        const totals = yield* Effect.forEach(asking, Fiber.join)
        expect(totals.toSorted((x, y) => x - y)).toStrictEqual([2, 3, 4])
        expect(loads).toStrictEqual(["a"])
        expect(registry.live.size).toBe(1)
      })
    )
  )

  it.effect("a load does not end with the request that began it", () =>
    test(
      Effect.gen(function* () {
        const { add, loading, rows } = yield* setUp()
        rows.set("a", { total: 1 })
        loading.closeUnsafe()
        const first = yield* Effect.forkChild(add("a", 1))
        yield* settle
        const second = yield* Effect.forkChild(add("a", 1))
        yield* Fiber.interrupt(first)
        loading.openUnsafe()
        expect(yield* Fiber.join(second)).toBe(2)
      })
    )
  )

  it.effect("what is told while an entity is loaded is told when it is there", () =>
    test(
      Effect.gen(function* () {
        const { add, loading, registry, rows } = yield* setUp()
        rows.set("a", { total: 1 })
        registry.post("a", { add: 50 })
        loading.closeUnsafe()
        const asking = yield* Effect.forkChild(add("a", 1))
        yield* settle
        registry.post("a", { add: 10 })
        loading.openUnsafe()
        // The one that was posted before the load began is not received, because the rows have it already.
        expect(yield* Fiber.join(asking)).toBe(12)
      })
    )
  )

  it.effect("an entity that has to be read again while it is loaded is read again", () =>
    test(
      Effect.gen(function* () {
        const { add, loading, loads, registry, rows } = yield* setUp()
        rows.set("a", { total: 1 })
        loading.closeUnsafe()
        const asking = yield* Effect.forkChild(add("a", 1))
        yield* settle
        rows.set("a", { total: 30 })
        yield* registry.reread("a")
        loading.openUnsafe()
        expect(yield* Fiber.join(asking)).toBe(31)
        expect(loads.length).toBe(2)
      })
    )
  )

  it.effect("an unknown entity is refused, and asked for again at the next ask", () =>
    test(
      Effect.gen(function* () {
        const { add, rows } = yield* setUp()
        expect((yield* Effect.flip(add("a", 1))).code).toBe("not_found")
        rows.set("a", { total: 1 })
        expect(yield* add("a", 1)).toBe(2)
      })
    )
  )

  it.effect("an idle entity leaves memory, one that may not stays; the next ask loads it from its rows", () =>
    test(
      Effect.gen(function* () {
        const { add, loads, registry, rows } = yield* setUp()
        rows.set("a", { total: 0 }).set("b", { total: 0 })
        yield* add("a", 1)
        yield* add("b", 13)
        yield* TestClock.adjust("60 seconds")
        yield* add("a", 1)
        yield* TestClock.adjust("60 seconds")
        expect(registry.live.size).toBe(2)
        yield* TestClock.adjust("60 seconds")
        expect([...registry.live.keys()]).toStrictEqual(["b"])
        expect(yield* add("a", 1)).toBe(3)
        expect(loads).toStrictEqual(["a", "b", "a"])
      })
    )
  )

  it.effect("an entity in the middle of a commit does not leave", () =>
    test(
      Effect.gen(function* () {
        const { add, committing, registry, rows } = yield* setUp()
        rows.set("a", { total: 0 })
        yield* add("a", 1)
        committing.closeUnsafe()
        const asking = yield* Effect.forkChild(add("a", 1))
        yield* TestClock.adjust("5 minutes")
        expect(registry.live.size).toBe(1)
        committing.openUnsafe()
        expect(yield* Fiber.join(asking)).toBe(2)
      })
    )
  )

  it.effect("an ask of an actor that has just left memory is not lost: it loads the entity again", () =>
    test(
      Effect.gen(function* () {
        const { add, registry, rows } = yield* setUp()
        rows.set("a", { total: 0 })
        yield* add("a", 1)
        const left = yield* registry.get("a")
        expect(left.retire()).toBe(false)
        yield* settle
        expect(left.retire()).toBe(true)
        expect((yield* Effect.flip(left.ask({ add: 1 }, "a"))).code).toBe("service_unavailable")
        expect(yield* add("a", 1)).toBe(2)
        expect(yield* registry.get("a")).not.toBe(left)
      })
    )
  )

  it.effect("an actor that leaves late takes no deadline from the one that came after it", () =>
    test(
      Effect.gen(function* () {
        const { add, registry, rows } = yield* setUp()
        rows.set("a", { total: 12 })
        yield* add("a", 1)
        const left = yield* registry.get("a")
        registry.park(partition)
        left.retire()
        yield* settle
        expect(left.retire()).toBe(true)
        expect((yield* Effect.flip(add("a", 1))).code).toBe("service_unavailable")
        const next = yield* registry.get("a")
        expect(next).not.toBe(left)
        yield* settle
        registry.resume(partition)
        yield* TestClock.adjust("10 minutes")
        expect(next.state()?.total).toBe(63)
      })
    )
  )

  it.effect("beyond its bound new entities are refused with 503; a place that comes free is taken again", () =>
    test(
      Effect.gen(function* () {
        const { add, registry, rows } = yield* setUp({ maxLive: 2 })
        rows.set("a", { total: 0 }).set("b", { total: 0 })
        yield* add("a", 1)
        const actor = yield* registry.spawn(partition, "new", Effect.void)
        yield* actor.ask({ add: 1 }, "new")
        expect((yield* Effect.flip(add("b", 1))).code).toBe("service_unavailable")
        expect((yield* Effect.flip(registry.spawn(partition, "newer", Effect.void))).code).toBe("service_unavailable")
        yield* actor.ask({ add: 99 }, "new")
        yield* settle
        expect(yield* add("b", 1)).toBe(1)
      })
    )
  )

  it.effect("recovery rebuilds what there is, also beyond the bound, and completes when each was told", () =>
    test(
      Effect.gen(function* () {
        const { registry } = yield* setUp({ maxLive: 1 })
        const found = ["a", "b", "c"].map((id) => ({ id, state: { total: 1 } }))
        yield* registry.recover(partition, found, () => Effect.succeed({ add: 1 }))
        expect([...registry.live.values()].map((actor) => actor.state()?.total)).toStrictEqual([2, 2, 2])
      })
    )
  )

  it.effect("a dropped partition's actors stop where they are: no last will, and who waits gets 503", () =>
    test(
      Effect.gen(function* () {
        const { add, committing, registry, rows } = yield* setUp()
        rows.set("a", { total: 1 }).set("b", { total: 1 }).set("other", { total: 1 })
        yield* Effect.forEach(["a", "b", "other"], (id) => add(id, 1))
        const actor = yield* registry.get("a")
        committing.closeUnsafe()
        const asking = yield* Effect.forEach([1, 2], (amount) => Effect.forkChild(Effect.exit(add("a", amount))))
        const elsewhere = yield* Effect.forkChild(add("other", 1))
        yield* settle
        yield* registry.drop(partition)
        for (const each of asking) {
          const exit = yield* Fiber.join(each)
          expect(Exit.isFailure(exit) && JSON.stringify(exit.cause).includes("service_unavailable")).toBe(true)
        }
        expect([...registry.live.keys()]).toStrictEqual(["other"])
        expect(actor.state()?.total).toBe(2)
        expect((yield* Effect.flip(add("b", 1))).code).toBe("service_unavailable")
        committing.openUnsafe()
        expect(yield* Fiber.join(elsewhere)).toBe(3)
        yield* registry.hold(partition, 0)
        expect(yield* add("b", 1)).toBe(3)
      })
    )
  )

  it.effect("one whose scope is closed answers all: who waited, who asks later, and who begins an entity", () =>
    test(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { add, committing, loading, registry, rows } = yield* Scope.provide(setUp(), scope)
        rows.set("a", { total: 1 }).set("b", { total: 1 })
        yield* add("a", 1)
        committing.closeUnsafe()
        const committed = yield* Effect.forkChild(Effect.exit(add("a", 1)))
        loading.closeUnsafe()
        const loaded = yield* Effect.forkChild(Effect.exit(add("b", 1)))
        yield* settle
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        const asked = yield* Effect.forkChild(Effect.exit(add("c", 1)))
        const born = yield* Effect.forkChild(
          Effect.exit(
            Effect.flatMap(registry.spawn(partition, "new", Effect.void), (actor) => actor.ask({ add: 1 }, "new"))
          )
        )
        yield* settle
        loading.openUnsafe()
        yield* settle
        for (const each of [closing, committed, loaded, asked, born])
          expect(each.pollUnsafe(), "everybody is answered").toBeDefined()
        for (const each of [committed, loaded, asked, born])
          expect(JSON.stringify(yield* Fiber.join(each))).toContain("service_unavailable")
        expect(registry.live.size).toBe(0)
      })
    )
  )

  it.effect("an actor inherits nothing of who asked for it first", () =>
    test(
      Effect.gen(function* () {
        const { add, limits, rows } = yield* setUp()
        rows.set("a", { total: 0 })
        yield* Effect.provideService(add("a", 1), StatementLimit, 7)
        yield* add("a", 1)
        expect(limits).toStrictEqual([yield* StatementLimit, yield* StatementLimit])
      })
    )
  )

  it.effect("what was read under a claim that was lost meanwhile is read again", () =>
    test(
      Effect.gen(function* () {
        const { add, loading, registry, rows } = yield* setUp()
        rows.set("a", { total: 1 })
        loading.closeUnsafe()
        const asking = yield* Effect.forkChild(add("a", 1))
        yield* settle
        yield* registry.drop(partition)
        rows.set("a", { total: 40 })
        yield* registry.hold(partition, 0)
        loading.openUnsafe()
        expect(yield* Fiber.join(asking)).toBe(41)
      })
    )
  )

  it.effect(
    "a parked partition decides nothing and keeps its state: asks get 503, what is told waits for the resume",
    () =>
      test(
        Effect.gen(function* () {
          const { add, loads, registry, rows } = yield* setUp()
          rows.set("a", { total: 1 }).set("other", { total: 1 })
          yield* add("a", 1)
          const actor = yield* registry.get("a")
          registry.park(partition)
          const told = yield* Effect.forkChild(actor.tell({ add: 5 }))
          expect((yield* Effect.flip(add("a", 1))).code).toBe("service_unavailable")
          expect(yield* add("other", 1)).toBe(2)
          yield* settle
          expect(actor.state()?.total).toBe(2)
          registry.resume(partition)
          yield* Fiber.join(told)
          expect(yield* add("a", 1)).toBe(8)
          expect(loads).toStrictEqual(["a", "other"])
        })
      )
  )

  it.effect("an entity whose first input is not committed leaves nothing behind, and says so", () =>
    test(
      Effect.gen(function* () {
        const { committing, registry } = yield* setUp()
        const unborn = yield* Deferred.make<string>()
        committing.closeUnsafe()
        const actor = yield* registry.spawn(partition, "new", Effect.asVoid(Deferred.succeed(unborn, "unborn")))
        const asking = yield* Effect.forkChild(Effect.exit(actor.ask({ add: 1 }, "new")))
        yield* settle
        yield* registry.drop(partition)
        expect(yield* Deferred.await(unborn)).toBe("unborn")
        expect(Exit.isFailure(yield* Fiber.join(asking))).toBe(true)
        expect(registry.live.size).toBe(0)
      })
    )
  )
})
