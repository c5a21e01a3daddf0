import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { setTimeout as delay } from "node:timers/promises"
import * as Netem from "../support/network/Netem.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import type * as Client from "./support/peer/Client.ts"
import * as Invariants from "./support/Invariants.ts"
import * as Patience from "./support/Patience.ts"
import * as Round from "./support/Round.ts"
import * as SipPeer from "./support/peer/SipPeer.ts"
import * as World from "./support/World.ts"

/**
 * The short form of the crash tests (src/runtime/README.md#commit-before-anything-leaves): a service in a process of
 * its own is killed under load and started again, and everything that it promised before must hold. The long form is
 * `npm run crash`.
 *
 * They test the death of the process, not of the disk: bytes that the kernel has taken are there after a kill -9.
 */
const seed = Number(process.env["CRASH_SEED"] ?? 1)

/** How often each point is passed under load before it kills: within seconds. */
const crashPoints = [
  "before_commit:60",
  "after_commit:60",
  "after_command:150",
  "before_answer:150",
  "mid_delivery:150"
]
const [firstPoint] = crashPoints

const load = { calls: 20, sipCalls: 8, meetings: 2, talkSecs: 2, rampMs: 500 }
/** Activities that run when it dies have their time to end. */
const roundMs = 300_000

/** A world for the tests of one `describe`, removed after them. */
const worldOf = (options: { readonly external: boolean; readonly crashPoint?: string }) => {
  const scope = Scope.makeUnsafe()
  const random = Netem.random(seed)
  let made: { readonly world: World.World; readonly peer: SipPeer.OwnSipPeer } | null = null
  beforeAll(async () => {
    const url = options.external
      ? Redacted.value(await Effect.runPromise(Scope.provide(TestDatabase.empty, scope)))
      : null
    const peer = await SipPeer.start(Netem.random(seed + 1))
    const world = await World.make({
      tenants: 2,
      random,
      sipPeerPort: peer.port,
      ...(options.crashPoint === undefined ? {} : { crashPoint: options.crashPoint }),
      ...(url === null ? {} : { databaseUrl: url })
    })
    made = { world, peer }
  })
  afterAll(async () => {
    await made?.world.close()
    await made?.peer.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
  return {
    random,
    made: () => {
      if (made === null) throw new Error("there is no world")
      return made
    }
  }
}

/** The first ten violations, for a report. */
const first = (lines: ReadonlyArray<string>) => lines.slice(0, 10)

describe(`a service that is killed under load (seed ${seed})`, () => {
  const { made, random } = worldOf({ external: false })

  it(
    "keeps its word after kill -9 at a random moment, and again while it recovers",
    async () => {
      const { peer, world } = made()
      const round = await Round.run(world, peer, {
        load,
        random,
        name: "kill",
        killAfterMs: 1_500 + random() * 2_000,
        leastInFlight: 11,
        leastRooms: 2,
        killAgainAfterMs: 300 + random() * 1_500
      })
      expect(first(round.violations)).toEqual([])
      expect(round.inFlight).toBeGreaterThan(5)
      const [rooms] = await world
        .database()
        .query<{ readonly joined: number }>(
          "SELECT count(DISTINCT conference_id)::int AS joined FROM conference_participant WHERE joined_at IS NOT NULL"
        )
      expect(rooms?.joined, "rooms that somebody was in").toBeGreaterThan(0)
    },
    roundMs
  )
})

describe(`a service whose database outlives it (seed ${seed})`, () => {
  const { made, random } = worldOf({ external: true, ...(firstPoint === undefined ? {} : { crashPoint: firstPoint }) })

  it.each(crashPoints)(
    "keeps its word when it dies at its worst moments: %s",
    async (point) => {
      const { peer, world } = made()
      const nextCrashPoint = crashPoints[crashPoints.indexOf(point) + 1]
      const round = await Round.run(world, peer, {
        load,
        random,
        name: point,
        killAfterMs: null,
        ...(nextCrashPoint === undefined ? {} : { nextCrashPoint })
      })
      expect(first(round.violations)).toEqual([])
    },
    roundMs
  )

  /** The commit statement of a process waits for a lock; gives its backend. */
  const commitWaits = (world: World.World) =>
    until("a commit that waits", async () => {
      const [row] = await world.database().query<{ readonly pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE '%INSERT INTO journal %'`
      )
      return row?.pid
    })

  const epochRaised = (world: World.World, above: number) =>
    until("a new epoch", async () => ((await epoch(world)) > above ? true : undefined))

  const epoch = async (world: World.World) => {
    const [row] = await world
      .database()
      .query<{ readonly epoch: number }>("SELECT epoch::int AS epoch FROM journal_owner")
    return row?.epoch ?? 0
  }

  const gone = (world: World.World, pid: number) =>
    until("the end of the orphan", async () => {
      const rows = await world.database().query("SELECT pid FROM pg_stat_activity WHERE pid = $1", [pid])
      return rows.length === 0 ? true : undefined
    })

  /** The id of a placed call, when it is answered. */
  const answered = async (world: World.World, placed: Client.Answer | null): Promise<string> => {
    expect(placed?.status).toBe(201)
    const { id } = JSON.parse(placed?.body ?? "") as { readonly id: string }
    await until("an answered call", async () => {
      const rows = await world.database().query("SELECT id FROM call WHERE id = $1 AND status = 'answered'", [id])
      return rows[0]
    })
    return id
  }

  const endOf = async (world: World.World, callId: string) => {
    const [row] = await world
      .database()
      .query<{ readonly reason: string }>("SELECT end_reason AS reason FROM call WHERE id = $1", [callId])
    return row?.reason
  }

  /** Counts the events that reached the first tenant. */
  const delivered = ({ receiver, tenants }: World.World): number =>
    receiver.delivered(tenants[0]?.subscriptions[0]?.name ?? "").size

  const onSip = ({ sipRouteId }: World.Tenant) => ({ to: SipPeer.steadyNumber, route_id: sipRouteId })
  const echo = () => ({ to: "+12025550100" })

  const place = (world: World.World, key: string, callee: (tenant: World.Tenant) => object) => {
    const [tenant] = world.tenants
    if (tenant === undefined) throw new Error("there is no tenant")
    return world.client.command({
      apiKey: tenant.apiKey,
      key,
      path: "/v1/calls",
      body: { from: tenant.number, customer_reference: key, ...callee(tenant) },
      mark: `call ${key}`
    })
  }

  const callsOf = (world: World.World, key: string) =>
    world.database().query<{ readonly id: string }>("SELECT id FROM call WHERE customer_reference = $1", [key])

  it("sends nothing before its commit, and leaves a statement that writes nothing once the next process has raised the epoch", async () => {
    const { peer, world } = made()
    const before = await epoch(world)
    const talking = await answered(world, await place(world, "talks", onSip))
    const [line] = [...peer.dialogs.values()].slice(-1)
    expect(await Invariants.eventually(20_000, () => Invariants.deliveries(world))).toEqual([])
    const events = delivered(world)
    // The table's lock is taken before the statement looks at anything, the epoch included.
    const orphan = await world.database().holding("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE", async () => {
      const lines = peer.dialogs.size
      peer.hangUp(line?.callId ?? "")
      const pid = await commitWaits(world)
      const placed = place(world, "late", onSip)
      // Long enough to see an effect that did not wait for its commit: an answer to the BYE, an INVITE, a webhook.
      await delay(500)
      await world.service().kill("SIGKILL")
      expect(await placed).toBeNull()
      expect(line?.byeTakenAt).toBeNull()
      expect(peer.dialogs.size).toBe(lines)
      expect(delivered(world)).toBe(events)
      world.spawn()
      await epochRaised(world, before)
      return pid
    })
    await gone(world, orphan)
    expect(await callsOf(world, "late")).toEqual([])
    await world.ready()
    expect(await endOf(world, talking)).toBe("carrier_error")
    expect(await world.client.repeatUnanswered()).toBe(1)
    expect(await callsOf(world, "late")).toHaveLength(1)
    await hangUpAll(world)
    expect(first(await Invariants.check(world, peer))).toEqual([])
  })

  it("leaves a statement that is waited for when it holds the epoch, and then counts", async () => {
    const { peer, world } = made()
    const before = await epoch(world)
    const id = await answered(world, await place(world, "early", echo))
    // The charge of the call is the last row that the statement locks, after it has locked the epoch.
    await world.database().holding("SELECT 1 FROM balance FOR UPDATE", async () => {
      const hungUp = hangUp(world, id)
      await commitWaits(world)
      await world.service().kill("SIGKILL")
      expect(await hungUp).toBeNull()
      world.spawn()
      await until("a process that waits for the epoch", async () => {
        const [row] = await world.database().query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND query LIKE '%UPDATE journal_owner%'`
        )
        return row
      })
      expect(await epoch(world)).toBe(before)
    })
    await world.ready()
    expect(await endOf(world, id)).toBe("normal_clearing")
    expect(await world.client.repeatUnanswered()).toBe(1)
    expect(first(await Invariants.check(world, peer))).toEqual([])
  })

  const hangUp = (world: World.World, callId: string) =>
    world.client.command({
      apiKey: world.tenants[0]?.apiKey ?? "",
      key: `hangup-${callId}`,
      path: `/v1/calls/${callId}/actions/hangup`,
      body: {},
      mark: `hangup ${callId}`
    })

  const hangUpAll = async (world: World.World) => {
    for (const { id } of await world
      .database()
      .query<{ readonly id: string }>("SELECT id FROM call WHERE ended_at IS NULL"))
      await hangUp(world, id)
  }
})

/** Waits until `look` finds something and gives it; dies after fifteen seconds of a quiet machine. */
const until = async <A>(what: string, look: () => Promise<A | undefined>): Promise<A> => {
  for (const patience = Patience.make(15_000); !patience.isOver(); await delay(50)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`${what} was not seen within 15 s`)
}
