import { Effect, FiberSet, Latch, Result } from "effect"
import type { Actor, Handled } from "../../runtime/actor/Actor.ts"
import type { Behavior } from "../../runtime/actor/Behavior.ts"
import * as EntityTime from "../../runtime/actor/EntityTime.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as Registry from "../../runtime/actor/Registry.ts"
import type { Authority, Told } from "../../carrier/Carrier.ts"
import type { ApiError } from "../../domain/ApiError.ts"
import type { CallId, ConferenceId } from "../../domain/Id.ts"
import { Journal, type StoredEntity } from "../../runtime/store/journal/Journal.ts"
import * as Outage from "../../runtime/store/Outage.ts"

type Row<Id> = Pick<StoredEntity, "stateVersion" | "state" | "settled"> & { readonly id: Id }

/** The properties of an entity that its state holds. */
interface Carried<Id> {
  readonly id: Id
  readonly at: number
  readonly timeOffsetMs: number
  readonly adapter: string
}

type InTime = (at: number) => number

export interface Kind<
  Id extends CallId | ConferenceId,
  Stored extends Row<Id>,
  State extends Carried<Id>,
  Input extends {},
  Effects,
  Asked,
  Answer
> {
  /** The name of the kind in logs. */
  readonly name: string
  readonly behavior: Omit<Behavior<Id, State, Input, Effects, Asked, Answer>, "reload">
  readonly keys: {
    readonly load: (partition: number) => Effect.Effect<void>
    readonly opener: (id: Id) => (sealed: string) => string | null
    readonly retain: (isLive: (id: Id) => boolean) => void
  }
  readonly unsettled: (partition: number) => Effect.Effect<ReadonlyArray<Stored>>
  /** The row of an entity; null: it is not in the journal. */
  readonly find: (id: Id) => Effect.Effect<Stored | null>
  readonly decode: (
    row: Pick<StoredEntity, "stateVersion" | "state">,
    open: (sealed: string) => string | null
  ) => Result.Result<State, unknown>
  /** Makes a state for an entity whose row cannot be read any more, from the rest of the row. */
  readonly rebuild: (row: Stored) => Effect.Effect<State>
  /**
   * Gives the first input of each entity after a restart. `broken`: the entities that must end, because they were
   * rebuilt or have given up. `lostAt` is in the entity's time.
   */
  readonly recovering: (
    owner: Authority,
    states: ReadonlyArray<State>,
    broken: ReadonlySet<Id>
  ) => Effect.Effect<(state: State, lostAt: number) => Input>
  /** Called when these entities belong to another process from now on. */
  readonly left: (gone: ReadonlyArray<Actor<Id, State, Input, Asked, Answer>>) => Effect.Effect<void>
  readonly ended: ApiError
  readonly unknown: ApiError
  readonly maxLive: number
}

/** The waits between two attempts to end an entity of which nothing could be committed; each doubles. */
const firstWaitMs = 1_000
const longestWaitMs = 60_000

/**
 * Entities in the journal that hold something at a carrier: one actor each, found by id, gone when settled. They are
 * rebuilt when a partition is taken, leave with it, and receive the events of their carriers.
 */
export const make = Effect.fnUntraced(function* <
  Id extends CallId | ConferenceId,
  Stored extends Row<Id>,
  State extends Carried<Id>,
  Input extends {},
  Effects,
  Asked,
  Answer
>(kind: Kind<Id, Stored, State, Input, Effects, Asked, Answer>) {
  const { decode, keys } = kind
  const journal = yield* Journal
  /** Open once all entities that an earlier process left are in memory. */
  const recoveredAll = Latch.makeUnsafe(false)

  const authority = (partition: number): Authority | null => {
    const epoch = journal.epoch(partition)
    return epoch === null ? null : { partition, epoch }
  }

  const registry = yield* Registry.make(
    {
      behavior: {
        ...kind.behavior,
        abandon: (state: State) =>
          Effect.suspend(() => {
            endLater(state)
            return kind.behavior.abandon?.(state) ?? Effect.void
          }),
        reload: (id: Id) =>
          Effect.map(Outage.outlasted(journal.find(id)), (row) =>
            row === null ? null : Result.getOrThrow(decode(row, keys.opener(id)))
          )
      },
      since: (state: State) => state.at,
      offsetMs: (state: State) => state.timeOffsetMs,
      // A request for an entity that is not in memory is answered from its row.
      load: null,
      ended: kind.ended,
      unknown: kind.unknown,
      maxLive: kind.maxLive,
      passivation: null
    },
    Effect.map(journal.unavailableForMs, (ms) => ms > 0)
  )
  for (const partition of journal.partitions()) yield* registry.hold(partition, journal.originMs(partition))

  const fork = yield* FiberSet.makeRuntime()
  yield* journal.onPartitionLost((partition) => {
    const gone = [...registry.live.values()].filter(({ place }) => place.partition === partition)
    const forget = Effect.sync(() => keys.retain((id) => registry.live.has(id)))
    void fork(Effect.andThen(registry.drop(partition), Effect.andThen(kind.left(gone), forget)))
  })

  const inTimeOf =
    (actor: Actor<Id, State, Input, Asked, Answer>): InTime =>
    (at) =>
      EntityTime.ofMonotonic(actor.time, registry.clock, at)

  /** An entity whose row cannot be read any more is rebuilt, so that it ends cleanly. */
  const readable = (row: Stored) => {
    const decoded = decode(row, keys.opener(row.id))
    return Result.isSuccess(decoded)
      ? Effect.succeed({ id: row.id, state: decoded.success, isWhole: true })
      : Effect.logError(`${kind.name} ${row.id} cannot be read any more: it is ended`, decoded.failure).pipe(
          Effect.andThen(kind.rebuild(row)),
          Effect.map((state) => ({ id: row.id, state, isWhole: false }))
        )
  }

  /** Rebuilds entities from their rows. `isOver`: each of them must end. */
  const rebuild = Effect.fnUntraced(function* (
    partition: number,
    rows: ReadonlyArray<Stored>,
    lostAt: (state: State) => number,
    isOver: boolean
  ) {
    yield* keys.load(partition)
    const found = yield* Effect.forEach(rows, readable)
    const owner = authority(partition)
    if (owner === null) return
    const broken = new Set(found.flatMap(({ id, isWhole }) => (isWhole && !isOver ? [] : [id])))
    const states = found.map(({ state }) => state)
    const recovered = yield* kind.recovering(owner, states, broken)
    // This fails when the partition was lost meanwhile, and its entities belong to another process.
    yield* Effect.ignore(
      registry.recover(partition, found, (state) => Effect.sync(() => recovered(state, lostAt(state))))
    )
  })

  const recoverPartition = Effect.fnUntraced(function* (partition: number) {
    const rows = yield* kind.unsettled(partition)
    if (rows.length === 0) return 0
    const heartbeatAt = journal.lastHeartbeatAt(partition)
    /** A commit after the last heartbeat also shows that the process was alive. */
    const lostAt = (state: State): number =>
      Math.max(state.at, heartbeatAt === null ? 0 : Math.round(heartbeatAt + state.timeOffsetMs))
    yield* rebuild(partition, rows, lostAt, false)
    return rows.length
  })

  /** The current time of the entity, which never runs backward. */
  const nowOf = (state: State): number => {
    const time = registry.live.get(state.id)?.time
    return time === undefined ? state.at : Math.max(state.at, EntityTime.now(time, registry.clock))
  }

  /** The entities that gave up, because nothing of them could be committed. */
  const givenUp = new Set<Id>()

  /** Tries to end an entity that gave up, until its end is committed. It is billed up to when it gave up. */
  const endGivenUp = Effect.fnUntraced(function* (id: Id, partition: number, lostAt: number) {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      yield* Effect.sleep(waitMs)
      const row = yield* Outage.outlasted(kind.find(id))
      if (row === null || row.settled || authority(partition) === null) return
      if (!registry.live.has(id)) yield* rebuild(partition, [row], (state) => Math.max(state.at, lostAt), true)
    }
  })

  const endLater = (state: State): void => {
    const { id } = state
    const partition = registry.live.get(id)?.place.partition
    if (partition === undefined || givenUp.has(id)) return
    givenUp.add(id)
    const ending = Supervised.keep(`the end of ${kind.name}s that gave up`, endGivenUp(id, partition, nowOf(state)))
    void fork(
      Effect.ensuring(
        ending,
        Effect.sync(() => givenUp.delete(id))
      )
    )
  }

  /**
   * Passes an event of a carrier on to an entity, in its time. `isWanted` decides whether it does, where that is
   * uncertain, before `of` makes the input.
   */
  const tell = (
    id: Id,
    of: (inTime: InTime) => Input,
    isWanted: (state: State) => Effect.Effect<boolean> = () => Effect.succeed(true)
  ): Effect.Effect<Told> =>
    Effect.suspend(() => {
      const actor = registry.live.get(id)
      if (actor === undefined) return tellAbsent(id, of, isWanted)
      const state = actor.state()
      return Effect.flatMap(state === null ? Effect.succeed(true) : isWanted(state), (wanted) =>
        wanted ? Effect.map(actor.tell(of(inTimeOf(actor))), toldOf) : Effect.succeed("committed" as const)
      )
    })

  /** An entity that has not ended is absent before it is recovered, and after its actor gave up. */
  const tellAbsent = Effect.fnUntraced(function* (...[id, of, isWanted]: Parameters<typeof tell>) {
    const row = yield* Outage.outlasted(journal.find(id))
    if (row === null || row.settled) return "unknown" as const
    if (Latch.isOpen(recoveredAll)) return "fault" as const
    yield* Latch.await(recoveredAll)
    return yield* tell(id, of, isWanted)
  })

  return {
    live: registry.live,
    clock: registry.clock,
    entropy: registry.entropy,
    spawn: registry.spawn,
    /** The owner of an entity's partition; null: another process owns it. */
    ownerOf: (id: Id): Authority | null => {
      const partition = registry.live.get(id)?.place.partition
      return partition === undefined ? null : authority(partition)
    },
    anyOwner: (): Authority | null =>
      journal
        .partitions()
        .map(authority)
        .find((held) => held !== null) ?? null,
    nowOf,
    /** Whether nothing of the entity could be committed, and its end is tried. */
    hasGivenUp: (id: Id): boolean => givenUp.has(id),
    tell,
    /** Posts to all entities that hold something at this carrier. */
    tellAll: (adapter: string, of: (state: State, inTime: InTime) => Input): void => {
      for (const actor of registry.live.values()) {
        const state = actor.state()
        if (state !== null && state.adapter === adapter) actor.post(of(state, inTimeOf(actor)))
      }
    },
    /**
     * Rebuilds all unsettled entities and gives each its first input (src/telephony/README.md#recovery); gives their
     * number. Completes when each has committed what follows. `done` is called after each partition.
     */
    recover: (done: (partition: number) => Effect.Effect<void>): Effect.Effect<number> =>
      Effect.suspend(() =>
        Effect.forEach(journal.partitions(), (partition) =>
          Effect.tap(recoverPartition(partition), () => done(partition))
        )
      ).pipe(
        Effect.map((counts) => counts.reduce((sum, count) => sum + count, 0)),
        Effect.tap(() => Latch.open(recoveredAll))
      ),
    /** Completes once all entities that an earlier process left are in memory. */
    recovered: Latch.await(recoveredAll),
    isRecovered: (): boolean => Latch.isOpen(recoveredAll)
  } as const
})

const toldOf = (handled: Handled): Told => {
  switch (handled) {
    case "done":
      return "committed"
    case "ended":
      return "unknown"
    case "fault":
      return "fault"
  }
}
