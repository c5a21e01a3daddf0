import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import * as KnownPeers from "../../../src/numbers/trunk/KnownPeers.ts"

const make = Effect.fnUntraced(function* (initial: ReadonlyArray<string>, life = 1) {
  const rows: Array<KnownPeers.TrunkHost> = []
  const state = {
    names: new Map<string, ReadonlyArray<string> | "slow">(),
    away: false,
    asked: 0,
    changed: 0,
    put: (host: string, isActive = true) => {
      const at = rows.findIndex((row) => row.host === host)
      if (at !== -1) rows.splice(at, 1)
      rows.push({ host, isActive, version: (rows.at(-1)?.version ?? 0) + 1 })
    }
  }
  for (const host of initial) state.put(host)
  const start = KnownPeers.make({
    life: Effect.succeed(life),
    changedSince: (since, limit) =>
      Effect.suspend(() =>
        state.away
          ? Effect.die(new Error("the database is away"))
          : Effect.succeed(rows.filter((row) => row.version > since.version).slice(0, limit))
      ),
    lookup: (name) =>
      Effect.suspend(() => {
        state.asked++
        const answer = state.names.get(name) ?? []
        return answer === "slow" ? Effect.as(Effect.sleep(10_000), ["192.0.2.99"]) : Effect.succeed(answer)
      }),
    onChange: Effect.sync(() => void state.changed++)
  })
  return Object.assign(state, { start })
})

const listening = Effect.fnUntraced(function* (directory: Effect.Success<ReturnType<typeof KnownPeers.make>>) {
  const table = PeerTable.make()
  const taken: Array<PeerTable.PeerUpdate["type"]> = []
  const state = { table, taken, stuck: false }
  yield* directory.listen((update) =>
    Effect.suspend(() => {
      if (state.stuck) return Effect.never
      taken.push(update.type)
      return Effect.succeed(table.take(update))
    })
  )
  return state
})

describe("the known peers (guide/connections.md#sip-trunks)", () => {
  it.effect("are not whole while a name has never been resolved, at most for ten minutes after the start", () =>
    Effect.gen(function* () {
      const world = yield* make(["192.0.2.1", "late.example", "never.example"])
      world.names.set("late.example", [])
      const { table } = yield* listening(yield* world.start)
      yield* TestClock.adjust(10_000)
      expect([table.has("192.0.2.1"), table.isWhole()]).toEqual([true, false])
      world.names.set("late.example", ["192.0.2.2"])
      yield* TestClock.adjust(65_000)
      expect([table.has("192.0.2.2"), table.isWhole()]).toEqual([true, false])
      yield* TestClock.adjust(600_000)
      expect(table.isWhole()).toBe(true)
      const other = yield* make(["late.example"])
      const second = yield* listening(yield* other.start)
      yield* TestClock.adjust(10_000)
      expect(second.table.isWhole()).toBe(false)
      other.names.set("late.example", ["192.0.2.2"])
      yield* TestClock.adjust(65_000)
      expect(second.table.isWhole()).toBe(true)
    })
  )

  it.effect("come as one table when the database has been read, and as changes from then on", () =>
    Effect.gen(function* () {
      const world = yield* make(["192.0.2.1", "2001:DB8::1"])
      world.away = true
      const peers = yield* listening(yield* world.start)
      yield* TestClock.adjust(60_000)
      expect(peers.taken).toEqual([])
      world.away = false
      yield* TestClock.adjust(2_000)
      expect(peers.taken).toEqual(["snapshot"])
      expect(["192.0.2.1", "2001:db8::1"].map(peers.table.has)).toEqual([true, true])
      world.put("192.0.2.2")
      world.put("192.0.2.1", false)
      yield* TestClock.adjust(2_000)
      expect(peers.taken).toEqual(["snapshot", "changes"])
      expect(["192.0.2.1", "192.0.2.2"].map(peers.table.has)).toEqual([false, true])
      yield* TestClock.adjust(60_000)
      expect(peers.taken).toHaveLength(2)
    })
  )

  it.effect("begin above the versions of every process before", () =>
    Effect.gen(function* () {
      const before = yield* listening(yield* (yield* make(["192.0.2.1"], 1)).start)
      const after = yield* listening(yield* (yield* make(["192.0.2.1"], 2)).start)
      yield* TestClock.adjust(10_000)
      expect(before.table.version()).toBeGreaterThan(0)
      expect(after.table.version()).toBeGreaterThan(before.table.version() + 1_000_000)
    })
  )

  it.effect("hold what this process added when that is answered, its name resolved", () =>
    Effect.gen(function* () {
      const world = yield* make([])
      const directory = yield* world.start
      const peers = yield* listening(directory)
      yield* TestClock.adjust(1)
      world.names.set("sip.example.net", ["192.0.2.7", "2001:db8::7"])
      world.put("sip.example.net")
      yield* directory.refresh("sip.example.net")
      expect(["192.0.2.7", "2001:db8::7"].map(peers.table.has)).toEqual([true, true])
      expect(directory.hostsAt("192.0.2.7")).toEqual(["192.0.2.7", "sip.example.net"])
      world.put("2001:DB8:0::7")
      yield* directory.refresh("2001:DB8:0::7")
      expect(directory.hostsAt("2001:db8::7")).toEqual(["2001:db8::7", "sip.example.net", "2001:DB8:0::7"])
      expect(world.changed).toBeGreaterThan(0)
    })
  )

  it.effect("follow a name where it goes, and keep its last addresses for a day when it cannot be resolved", () =>
    Effect.gen(function* () {
      const world = yield* make(["sip.example.net"])
      world.names.set("sip.example.net", ["192.0.2.7"])
      const peers = yield* listening(yield* world.start)
      yield* TestClock.adjust(1_000)
      expect(peers.table.has("192.0.2.7")).toBe(true)
      world.names.set("sip.example.net", ["192.0.2.8"])
      yield* TestClock.adjust(65_000)
      expect(["192.0.2.7", "192.0.2.8"].map(peers.table.has)).toEqual([false, true])
      world.names.delete("sip.example.net")
      yield* TestClock.adjust("23 hours")
      expect(peers.table.has("192.0.2.8")).toBe(true)
      yield* TestClock.adjust("2 hours")
      expect(peers.table.has("192.0.2.8")).toBe(false)
    })
  )

  it.effect("wait three seconds for slow names, which follow as changes", () =>
    Effect.gen(function* () {
      const world = yield* make(["sip.example.net", "192.0.2.1"])
      world.names.set("sip.example.net", "slow")
      const peers = yield* listening(yield* world.start)
      yield* TestClock.adjust(2_900)
      expect(peers.table.version()).toBe(0)
      yield* TestClock.adjust(200)
      expect(peers.table.has("192.0.2.1")).toBe(true)
      yield* TestClock.adjust(9_000)
      expect(peers.table.has("192.0.2.99")).toBe(true)
      expect(peers.taken).toEqual(["snapshot", "changes"])
    })
  )

  it.effect("are told whole again to a listener that did not take them, and hold up nobody meanwhile", () =>
    Effect.gen(function* () {
      const world = yield* make(["192.0.2.1"])
      const directory = yield* world.start
      const slow = yield* listening(directory)
      const other = yield* listening(directory)
      yield* TestClock.adjust(1)
      slow.stuck = true
      world.put("192.0.2.2")
      yield* TestClock.adjust(2_100)
      expect([slow, other].map(({ table }) => table.has("192.0.2.2"))).toEqual([false, true])
      slow.stuck = false
      yield* TestClock.adjust(10_000)
      expect(slow.table.has("192.0.2.2")).toBe(true)
      expect([slow.taken, other.taken]).toEqual([
        ["snapshot", "snapshot"],
        ["snapshot", "changes"]
      ])
    })
  )

  it.effect("are no more than a thousand names", () =>
    Effect.gen(function* () {
      const world = yield* make(Array.from({ length: 1_001 }, (_, at) => `sip${at}.example.net`))
      yield* listening(yield* world.start)
      while (world.asked < 1_000) yield* TestClock.adjust(1)
      yield* TestClock.adjust(1_000)
      expect(world.asked).toBe(1_000)
    })
  )
})
