import { Deferred, Effect, Exit, Fiber, FiberSet, Latch, Scope } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import * as Actor from "./Actor.ts"
import type { Behavior } from "./Behavior.ts"
import * as EntityTime from "./EntityTime.ts"
import { tellCapacity } from "./Mailbox.ts"
import * as Supervised from "../process/Supervised.ts"
import * as ActorEnvironment from "./ActorEnvironment.ts"

/**
 * The entities of one kind that are in memory, by id: one actor each, in the partitions that this process holds.
 *
 * An actor begins by `spawn` (a new entity), by recovery, or by being loaded for an ask. It leaves when it is settled,
 * when it was idle for a while, or with its partition. Beyond `maxLive`, new entities get 503; those of a recovery do
 * not.
 */
interface Kind<Id extends string, State, Input extends {}, Effects, Asked, Answer> {
  readonly behavior: Behavior<Id, State, Input, Effects, Asked, Answer>
  /** The time of the newest input; an actor's clock is never earlier. */
  readonly since: (state: State) => number
  /** The `offsetMs` with which an entity began (`EntityTime`); null: this kind measures no durations. */
  readonly offsetMs: ((state: State) => number) | null
  /**
   * Reads an entity that is not in memory; gives null when there is none. Null instead of a function: an ask never
   * loads this kind.
   */
  readonly load: ((id: Id) => Effect.Effect<Loaded<State> | null, ApiError>) | null
  /** The answer to an ask when the entity has ended. */
  readonly ended: ApiError
  /** The answer to an ask when there is no such entity. */
  readonly unknown: ApiError
  readonly askCapacity?: number
  readonly maxLive: number
  /**
   * An entity without messages for one to two times `afterMs` leaves memory if `mayLeave` allows it; null: none leaves.
   */
  readonly passivation: { readonly afterMs: number; readonly mayLeave: (state: State) => boolean } | null
}

interface Loaded<State> {
  readonly partition: number
  readonly state: State
}

/** A partition that this process holds. */
interface Held extends Actor.Place {
  /** How far its time is ahead of the monotonic clock, in milliseconds. */
  readonly originMs: number
  readonly scope: Scope.Closeable
  /**
   * Runs an actor until the partition is left. The actor inherits nothing from the fiber that started it: no
   * transaction, no limit.
   */
  readonly run: (actor: Effect.Effect<void>) => void
}

const full = ApiError.of("service_unavailable", "the service is full; try again later")
const elsewhere = ApiError.of("service_unavailable", "the service does not hold this partition now; try again")

/** `outage`: true while nothing can be committed. */
export const make = Effect.fnUntraced(function* <Id extends string, State, Input extends {}, Effects, Asked, Answer>(
  kind: Kind<Id, State, Input, Effects, Asked, Answer>,
  outage: Effect.Effect<boolean>
) {
  type Entity = Actor.Actor<Id, State, Input, Asked, Answer>
  /** A load under way, the callers that wait for it (`done`), and the inputs that were posted meanwhile. */
  interface Loading {
    readonly done: Deferred.Deferred<Entity, ApiError>
    posts: Array<Input>
    again: boolean
  }
  const surroundings = yield* ActorEnvironment.make(outage)
  const scope = yield* Effect.scope
  const live = new Map<Id, Entity>()
  const loading = new Map<Id, Loading>()
  const held = new Map<number, Held>()

  const start = Effect.fnUntraced(function* (
    partition: number,
    id: Id,
    initial: State | null,
    unborn: Effect.Effect<void>,
    first: Input | null = null
  ) {
    const place = held.get(partition)
    if (place === undefined) return yield* elsewhere
    const actor: Entity = yield* Actor.make({
      id,
      place,
      initial,
      since: initial === null ? 0 : kind.since(initial),
      time: timeOf(place, initial),
      surroundings,
      ended: kind.ended,
      behavior: kind.behavior,
      ...(kind.askCapacity === undefined ? {} : { askCapacity: kind.askCapacity })
    })
    const left = Effect.suspend(() => {
      forget(actor)
      return actor.state() === null ? unborn : Effect.void
    })
    // The actor gets this message before it runs, because a deadline that is already due must not overtake it.
    const told = first === null ? null : yield* Effect.forkDetach(actor.tell(first), { startImmediately: true })
    // One synchronous step: every actor in `live` runs, and its callers are answered when the partition is left.
    return yield* Effect.suspend(() => {
      if (held.get(partition) !== place) return Effect.fail(elsewhere)
      live.set(id, actor)
      place.run(Effect.ensuring(actor.run, left))
      return Effect.succeed({ actor, told })
    })
  })

  const timeOf = ({ originMs }: Held, initial: State | null): EntityTime.EntityTime => {
    if (kind.offsetMs === null) return EntityTime.wall
    return initial === null
      ? EntityTime.start(surroundings.clock, originMs)
      : EntityTime.resume(originMs, kind.offsetMs(initial))
  }

  const forget = (actor: Entity): void => {
    if (live.get(actor.id) === actor) live.delete(actor.id)
  }

  /**
   * Begins a new entity. `unborn` runs when its actor ends without ever having had a state, because its first input was
   * not committed.
   */
  const spawn = (partition: number, id: Id, unborn: Effect.Effect<void>): Effect.Effect<Entity, ApiError> =>
    Effect.suspend(() => (live.size >= kind.maxLive ? Effect.fail(full) : start(partition, id, null, unborn))).pipe(
      Effect.map(({ actor }) => actor),
      // An interrupted request must not leak half an entity.
      Effect.uninterruptible
    )

  const read = Effect.fnUntraced(function* (id: Id, load: NonNullable<typeof kind.load>, waiting: Loading) {
    if (live.size >= kind.maxLive) return yield* full
    let loaded: Loaded<State> | null
    do {
      waiting.again = false
      loaded = yield* load(id)
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- `reread` and `post` set it meanwhile
    } while (waiting.again)
    if (loaded === null) return yield* kind.unknown
    const { actor } = yield* start(loaded.partition, id, loaded.state, Effect.void)
    waiting.posts.forEach(actor.post)
    return actor
  })

  /** Gives the actor of an entity, and loads it if need be: once, however many callers ask for it meanwhile. */
  const get = (id: Id): Effect.Effect<Entity, ApiError> =>
    Effect.suspend(() => {
      const known = live.get(id)
      if (known !== undefined) return Effect.succeed(known)
      const underway = loading.get(id)
      if (underway !== undefined) return Deferred.await(underway.done)
      if (kind.load === null) return Effect.fail(kind.unknown)
      if (scope.state._tag === "Closed") return Effect.fail(elsewhere)
      const waiting: Loading = { done: Deferred.makeUnsafe(), posts: [], again: false }
      loading.set(id, waiting)
      const reading = Effect.onExit(Effect.uninterruptible(read(id, kind.load, waiting)), (exit) =>
        Effect.sync(() => {
          loading.delete(id)
          Deferred.doneUnsafe(waiting.done, Exit.hasInterrupts(exit) ? Exit.fail(elsewhere) : exit)
        })
      )
      // Others wait for this load too, so it does not end with the request that began it. It begins at once, because
      // closing must find it under way: then closing waits for the read, and all callers are answered.
      return Effect.andThen(
        Effect.forkIn(Effect.exit(reading), scope, { startImmediately: true }),
        Deferred.await(waiting.done)
      )
    })

  const ask = (id: Id, input: Input, asked: Asked): Effect.Effect<Answer, ApiError> =>
    Effect.flatMap(get(id), (actor) =>
      Effect.catch(actor.ask(input, asked), (refused) => {
        if (refused !== Actor.gone || kind.load === null) return Effect.fail(refused)
        // The actor left memory between being found and being asked.
        forget(actor)
        return ask(id, input, asked)
      })
    )

  /**
   * Passes on to an entity in memory what its rows already contain, and waits for nothing. A load under way may or may
   * not have read it. So the entity gets it after the load, and ignores a repetition.
   */
  const post = (id: Id, input: Input): void => {
    const waiting = loading.get(id)
    if (waiting === undefined) return live.get(id)?.post(input)
    if (waiting.posts.length < tellCapacity) waiting.posts.push(input)
    else {
      waiting.posts = []
      waiting.again = true
    }
  }

  /** Reads an entity again if it is in memory; completes when that is done. */
  const reread = (id: Id): Effect.Effect<void> =>
    Effect.suspend(() => {
      const waiting = loading.get(id)
      if (waiting !== undefined) waiting.again = true
      return live.get(id)?.reread() ?? Effect.void
    })

  /**
   * Rebuilds entities and gives each the input of `recovered` first; completes when each has committed what follows.
   */
  const recover = (
    partition: number,
    found: ReadonlyArray<{ readonly id: Id; readonly state: State }>,
    recovered: (state: State) => Effect.Effect<Input>
  ): Effect.Effect<void, ApiError> =>
    Effect.forEach(
      found,
      ({ id, state }) =>
        Effect.flatMap(recovered(state), (first) =>
          Effect.flatMap(Effect.uninterruptible(start(partition, id, state, Effect.void, first)), ({ told }) =>
            told === null ? Effect.void : Effect.asVoid(Fiber.join(told))
          )
        ),
      { concurrency: 256, discard: true }
    )

  /** This process holds the partition from now on. `originMs`: how far its time is ahead of the monotonic clock. */
  const hold = (partition: number, originMs: number): Effect.Effect<void> =>
    Effect.suspend(() => (held.has(partition) ? Effect.void : claim(partition, originMs)))

  const claim = Effect.fnUntraced(function* (partition: number, originMs: number) {
    const own = yield* Scope.fork(scope)
    const run = yield* Scope.provide(FiberSet.makeRuntime<never, void>(), own)
    const place: Held = { partition, originMs, gate: Latch.makeUnsafe(true), scope: own, run }
    held.set(partition, place)
    // This runs before the actors of the partition stop, so that none begins there any more.
    yield* Scope.addFinalizer(
      own,
      Effect.sync(() => leave(place))
    )
  })

  const leave = (place: Held): void => {
    held.delete(place.partition)
    for (const actor of live.values()) if (actor.place === place) forget(actor)
    // A state that was read under this claim may be out of date under the next one.
    for (const waiting of loading.values()) waiting.again = true
  }

  /** Leaves a lost partition: its actors stop where they are, without a last will, and waiting callers get 503. */
  const drop = (partition: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const place = held.get(partition)
      return place === undefined ? Effect.void : Scope.close(place.scope, Exit.void)
    })

  if (kind.passivation !== null) {
    const { afterMs, mayLeave } = kind.passivation
    const sweep = (): void => {
      for (const actor of live.values()) {
        const state = actor.state()
        if (state !== null && mayLeave(state) && actor.retire()) forget(actor)
      }
    }
    yield* Supervised.fork(
      "the sweep of idle entities",
      Effect.sleep(afterMs).pipe(Effect.andThen(Effect.sync(sweep)), Effect.forever)
    )
  }

  const setGate = (partition: number, set: (gate: Latch.Latch) => boolean): void => {
    const place = held.get(partition)
    if (place !== undefined) set(place.gate)
  }

  return {
    live: live as ReadonlyMap<Id, Entity>,
    clock: surroundings.clock,
    entropy: surroundings.entropy,
    spawn,
    ask,
    get,
    post,
    reread,
    recover,
    hold,
    drop,
    /** Called when the claim of a partition is in doubt: no message is decided there, asks get 503, tells wait. */
    park: (partition: number): void => setGate(partition, Latch.closeUnsafe),
    /** Called when the claim turns out to have held without a gap: the waiting messages are handled. */
    resume: (partition: number): void => setGate(partition, Latch.openUnsafe)
  } as const
})
