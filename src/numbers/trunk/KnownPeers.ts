import { Cause, Effect, Fiber, Option, Schedule, Semaphore } from "effect"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as PeerTable from "../../carrier/peer/PeerTable.ts"
import type { PeerListener } from "../../carrier/Carrier.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import * as HostAddresses from "./HostAddresses.ts"

/** A host of SIP trunks and the version of its last change. `isActive` when an active trunk has this host. */
export interface TrunkHost {
  readonly host: string
  readonly version: number
  readonly isActive: boolean
}

/** How soon a route that another process changed is known, and how often a push that failed is repeated. */
const pollMs = 2_000
/** How often a name is resolved again. While that fails, the last answer is used for a day. */
const resolveMs = 60_000
const staleMs = 86_400_000
/** How long the first table waits for names. Slower ones follow as changes. */
const firstMs = 3_000
/** How long after the start an unresolved name keeps the table from counting as whole. */
const wholeMs = 600_000
/** A listener that takes longer gets a snapshot later. */
const pushMs = 2_000
/** The most names that are watched. Trunks with further names can be dialled, but their calls are not accepted. */
const maxNames = 1_000
/** The most addresses of one name. */
const maxAddresses = 64
const page = 10_000

/**
 * Keeps the table of known peers (guide/connections.md#sip-trunks) and pushes it. It holds the addresses of every
 * active trunk, including those that its name resolves to.
 *
 * The first table is pushed when the database has been read. Changes by this process (`refresh`) follow at once, others
 * within seconds. The table has at most `PeerTable.maxPeers` addresses and `maxNames` names; the rest is left out and
 * logged.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** The next number for a process that pushes, higher than all numbers before it. */
  readonly life: Effect.Effect<number>
  /** The rows after this one, in order of version and host, at most `limit`. */
  readonly changedSince: (
    row: Pick<TrunkHost, "version" | "host">,
    limit: number
  ) => Effect.Effect<ReadonlyArray<TrunkHost>>
  /** The IPv4 and IPv6 addresses of a name; none while it cannot be resolved. */
  readonly lookup: (name: string) => Effect.Effect<ReadonlyArray<string>>
  /** Runs when routes or addresses of names have changed, before anything is pushed. */
  readonly onChange: Effect.Effect<void>
}) {
  const hosts = HostAddresses.make(PeerTable.maxPeers)
  /** When each name was last resolved; null for never. */
  const names = new Map<string, number | null>()
  /** Addresses in another than their canonical spelling, from manual SQL. */
  const spellings = new Set<string>()
  const listeners = new Map<PeerListener, { held: number }>()
  const reading = yield* Semaphore.make(1)
  const pushing = yield* Semaphore.make(1)
  let read: Pick<TrunkHost, "version" | "host"> = { version: 0, host: "" }
  /** The version of the table that is pushed; 0 when there is none yet. */
  let version = 0
  const startedAt = yield* Monotonic.now
  let wasWhole = true

  const isWhole = Effect.map(Monotonic.now, (now) => now - startedAt > wholeMs || ![...names.values()].includes(null))

  const noCapacity = (hosts: ReadonlyArray<string>) =>
    hosts.length === 0
      ? Effect.void
      : Effect.logWarning(`no room to know the addresses of ${hosts.length} hosts: calls from there are not taken in`, {
          first: hosts[0]
        })

  const take = ({ host, isActive }: TrunkHost): "taken" | "new name" | "no room" => {
    const address = IpAddress.canonical(host)
    if (address !== null) {
      if (address !== host && isActive) spellings.add(host)
      else spellings.delete(host)
      return hosts.set(host, isActive ? [address] : []) ? "taken" : "no room"
    }
    if (!isActive) {
      names.delete(host)
      hosts.set(host, [])
      return "taken"
    }
    if (names.has(host)) return "taken"
    if (names.size >= maxNames) return "no room"
    names.set(host, null)
    return "new name"
  }

  /** Applies the changes in the database and returns the names that are new. */
  const pull = Semaphore.withPermits(
    reading,
    1
  )(
    Effect.gen(function* () {
      const found: Array<string> = []
      for (;;) {
        const rows = yield* options.changedSince(read, page)
        const left: Array<string> = []
        for (const row of rows) {
          const taken = take(row)
          if (taken === "new name") found.push(row.host)
          if (taken === "no room") left.push(row.host)
          read = row
        }
        yield* noCapacity(left)
        if (rows.length > 0) yield* options.onChange
        if (rows.length < page) return found
      }
    })
  )

  const resolve = Effect.fnUntraced(function* (name: string) {
    const answer = yield* options.lookup(name)
    const now = yield* Monotonic.now
    const known = names.get(name)
    // The last trunk of this name went during the lookup.
    if (known === undefined) return
    const before = hosts.of(name)
    const found = answer.flatMap((address) => IpAddress.canonical(address) ?? []).slice(0, maxAddresses)
    if (found.length > 0) names.set(name, now)
    else if (known !== null && now - known < staleMs) return
    if (!hosts.set(name, found)) yield* noCapacity([name])
    if (found.toSorted().join() !== before.toSorted().join()) yield* options.onChange
  })

  const resolveAll = (wanted: ReadonlyArray<string>) =>
    Effect.forEach(wanted, resolve, { concurrency: 16, discard: true })

  /** Pushes the update and returns the version that the listener holds afterwards; -1 when it gave no answer. */
  const hand = (listener: PeerListener, update: PeerTable.PeerUpdate): Effect.Effect<number> =>
    listener(update).pipe(
      Effect.timeoutOption(pushMs),
      Effect.map(Option.getOrElse(() => -1)),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.as(Effect.logWarning("a carrier did not take the table of known peers", cause), -1)
      )
    )

  const handAll = Effect.fnUntraced(function* (listener: PeerListener) {
    let held = -1
    for (const part of PeerTable.snapshot(version, hosts.all(), wasWhole)) {
      held = yield* hand(listener, part)
      if (held === -1) break
    }
    return held
  })

  /** Pushes the changes to listeners that hold the previous version, and the whole table to the others. */
  const push = Semaphore.withPermits(
    pushing,
    1
  )(
    Effect.gen(function* () {
      if (version === 0) return
      const { added, removed } = hosts.changes()
      const since = version
      const whole = yield* isWhole
      if (added.length + removed.length > 0 || whole !== wasWhole) version++
      wasWhole = whole
      yield* Effect.forEach(
        listeners,
        ([listener, state]) =>
          Effect.gen(function* () {
            if (state.held === since && since !== version)
              state.held = yield* hand(listener, {
                type: "changes",
                since,
                version,
                added,
                removed,
                ...(whole ? {} : { isWhole: whole })
              })
            if (state.held !== version) state.held = yield* handAll(listener)
          }),
        { concurrency: "unbounded", discard: true }
      )
    })
  )

  const first = Effect.gen(function* () {
    const life = yield* options.life
    yield* pull
    const resolving = yield* Effect.forkScoped(resolveAll([...names.keys()]))
    yield* Effect.timeoutOption(Fiber.await(resolving), firstMs)
    hosts.changes()
    wasWhole = yield* isWhole
    version = life * 2 ** 32 + 1
    yield* push
  })
  /** Lets each outage of the database be logged once. */
  let failing = false
  const attempt = <E, R>(work: Effect.Effect<void, E, R>) =>
    Effect.matchCauseEffect(work, {
      onSuccess: () => Effect.sync(() => void (failing = false)),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        const told = failing
        failing = true
        return told ? Effect.void : Effect.logWarning("the table of known peers could not be brought up to date", cause)
      }
    })

  const poll = Effect.gen(function* () {
    if (version === 0) return yield* first
    const found = yield* pull
    if (found.length > 0) yield* Effect.forkScoped(Effect.andThen(resolveAll(found), push))
    yield* push
  })
  yield* Supervised.fork("the poll of known peers", Effect.repeat(attempt(poll), Schedule.spaced(pollMs)))
  yield* Supervised.fork(
    "the resolution of trunk names",
    Effect.suspend(() => resolveAll([...names.keys()])).pipe(attempt, Effect.schedule(Schedule.spaced(resolveMs)))
  )

  return {
    /** Brings the table up to date with the database and pushes it. When `host` is a name, it is resolved first. */
    refresh: (host: string) =>
      attempt(
        Effect.gen(function* () {
          const found = new Set(yield* pull)
          if (names.has(host)) found.add(host)
          yield* resolveAll([...found])
          yield* push
        })
      ),
    /** The hosts that trunks at this address may name themselves by. */
    hostsAt: (address: string): ReadonlyArray<string> => [
      address,
      ...[...names.keys(), ...spellings].filter((name) => hosts.of(name).includes(address))
    ],
    /** Pushes the table to this listener, now and from now on, until the scope closes. */
    listen: (listener: PeerListener) =>
      Effect.andThen(
        Effect.acquireRelease(
          Effect.sync(() => void listeners.set(listener, { held: -1 })),
          () => Effect.sync(() => listeners.delete(listener))
        ),
        push
      )
  }
})
