import { Clock, Effect } from "effect"
import type { Step } from "../../runtime/actor/Behavior.ts"
import * as AskTimeout from "../../runtime/actor/AskTimeout.ts"
import * as Registry from "../../runtime/actor/Registry.ts"
import type { EntityId, TenantId } from "../../domain/Id.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { StoredEntity } from "../../runtime/store/journal/Journal.ts"
import * as Machine from "./AccountMachine.ts"
import type { Operator } from "./AccountRecord.ts"
import * as InFlight from "./InFlight.ts"
import * as Lives from "./Lives.ts"

/** An entity of the tenant that recovery would rebuild. */
export type Unsettled = Pick<StoredEntity, "id" | "kind" | "state" | "stateVersion">

/**
 * What the rows say of an account, in one snapshot: a charge is in the money if and only if the entity that owes it has
 * ended.
 */
export interface Rows {
  /** Of the account, where everything of its tenant lives. */
  readonly partition: number
  readonly settings: Machine.Settings
  readonly money: Pick<
    Machine.Tally,
    "balanceCents" | "creditLimitCents" | "rechargeFailed" | "planCallLimit" | "daySpentCents" | "monthSpentCents"
  >
  readonly unsettled: ReadonlyArray<Unsettled>
  /** Which of the asked ids have a row. */
  readonly born: ReadonlySet<EntityId>
}

export type AccountStep = Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>

/**
 * What an unsettled entity of a tenant reserves; null: nothing. Its stored state says so, and `inFlight`, where it was
 * given something that may not be stored yet.
 */
export type Reserving = (
  row: Pick<StoredEntity, "state" | "stateVersion">,
  inFlight: Lives.Live | null
) => Lives.Live | null

export interface Reserved {
  /** Where the tenant lives. */
  readonly partition: number
  /** The offer that was taken. */
  readonly reservedCents: number
}

/** A decision takes microseconds and waits for nothing: a burst of a tenant's requests is no reason for a 503. */
const askRoom = 1_024

const maxLive = 100_000

export const idleMs = 300_000

/**
 * Accounts in memory. Each is loaded when it is first needed, and leaves when nothing of its tenant lives and nobody
 * asked for a while. Settings are written; the tally is not. It is rebuilt from the rows and from what is in flight, so
 * that an account may die at any moment and forget nothing.
 */
export const make = Effect.fnUntraced(function* (rows: {
  /** The snapshot is taken after this is called. `ids` may have a row or not. */
  readonly read: (tenantId: TenantId, day: string, ids: Iterable<EntityId>) => Effect.Effect<Rows | null, ApiError>
  readonly write: (step: AccountStep, by: Operator | null) => Effect.Effect<void, ApiError>
  /** The balance of an account has changed, or was read. Must not fail, and waits for nothing. */
  readonly onBalance: (tenantId: TenantId, balanceCents: number) => void
  /** Those that this process holds. */
  readonly partitions: ReadonlyArray<number>
  /** How far a partition's time is ahead of the monotonic clock. */
  readonly originMs: (partition: number) => number
  /** True while nothing can be committed. */
  readonly outage: Effect.Effect<boolean>
}) {
  const readers = new Map<StoredEntity["kind"], Reserving>()
  const inFlight = InFlight.make()

  /** What the rows say, and what was reserved before they were read and may not be in them yet. */
  const load = Effect.fnUntraced(function* (tenantId: TenantId) {
    const reserved = inFlight.of(tenantId)
    const day = Machine.dayOf(yield* Clock.currentTimeMillis)
    const found = yield* rows.read(tenantId, day, reserved.keys())
    if (found === null) return null
    rows.onBalance(tenantId, found.money.balanceCents)
    const unborn = [...reserved].filter(([id]) => !found.born.has(id))
    const live = found.unsettled.flatMap((row) => {
      const own = readers.get(row.kind)?.(row, reserved.get(row.id) ?? null) ?? null
      return own === null ? [] : [[row.id, own] as const]
    })
    const state: Machine.AccountState = {
      settings: found.settings,
      tally: { ...found.money, day, before: null, live: Lives.from([...unborn, ...live]) }
    }
    return { partition: found.partition, state }
  })

  const registry = yield* Registry.make<
    TenantId,
    Machine.AccountState,
    Machine.AccountInput,
    Machine.Effects,
    Operator | null,
    Machine.AccountState
  >(
    {
      behavior: {
        machine: Machine.machine,
        commit: (step, by, wanted) => {
          const { before, input, state } = step
          const { balanceCents } = state.tally
          if (before?.tally.balanceCents !== balanceCents) rows.onBalance(state.settings.tenantId, balanceCents)
          if (input.type === "reserve") {
            const live = Lives.get(state.tally.live, input.id)
            if (live !== null) inFlight.add(state.settings.tenantId, input.id, live)
          }
          if (!step.effects.durable) return Effect.succeed(state)
          return wanted() ? Effect.as(rows.write(step, by), state) : Effect.fail(AskTimeout.unavailable)
        },
        interpret: () => Effect.void,
        answer: (state) => state,
        reload: (tenantId) => Effect.map(load(tenantId), (loaded) => loaded?.state ?? null),
        recovered: null,
        // Whoever needs the account next reads it again.
        ready: null,
        prepare: null,
        lastWill: null
      },
      since: () => 0,
      // Days and months are those of the calendar; the account measures no durations.
      offsetMs: null,
      load,
      ended: ApiError.of("service_unavailable", "the service is stopping"),
      unknown: ApiError.of("not_found", "no such tenant"),
      askRoom,
      maxLive,
      passivation: { afterMs: idleMs, mayLeave: ({ tally }) => Lives.isEmpty(tally.live) }
    },
    rows.outage
  )
  for (const partition of rows.partitions) yield* registry.hold(partition, rows.originMs(partition))

  /** As it is now. */
  const state = Effect.fnUntraced(function* (tenantId: TenantId) {
    const found = (yield* registry.get(tenantId)).state()
    if (found === null) return yield* Effect.die(new Error(`account ${tenantId} has no state`))
    return { ...found, tally: Machine.rolled(found.tally, yield* Clock.currentTimeMillis) }
  })

  const abandoned = (tenantId: TenantId, id: EntityId) =>
    Effect.sync(() => {
      inFlight.remove(tenantId, id)
      registry.post(tenantId, { type: "abandoned", id })
    })

  return {
    reserve: (tenantId: TenantId, id: EntityId, request: Machine.Request): Effect.Effect<Reserved, ApiError> =>
      registry.ask(tenantId, { type: "reserve", id, ...request }, null).pipe(
        Effect.flatMap(({ tally }) =>
          Effect.map(registry.get(tenantId), ({ place }) => ({
            partition: place.partition,
            reservedCents: Lives.get(tally.live, id)?.reservedCents ?? 0
          }))
        ),
        // A caller that got 503 while the account decided reserved all the same. What a call had before stays: it is
        // the call's own until its end.
        Effect.tapError((refused) =>
          refused.code === "service_unavailable" && request.purpose !== "renewal"
            ? abandoned(tenantId, id)
            : Effect.void
        )
      ),
    refusal: (tenantId: TenantId, id: EntityId, request: Machine.Request) =>
      Effect.map(state(tenantId), (now) => Machine.refusal(now, id, request)),
    /** Where the tenant lives, for what reserves nothing yet. */
    partition: Effect.fnUntraced(function* (tenantId: TenantId) {
      const { place, state } = yield* registry.get(tenantId)
      const refused = Machine.closedTo(state())
      return refused === null ? place.partition : yield* refused
    }),
    began: (tenantId: TenantId, id: EntityId) => Effect.sync(() => inFlight.remove(tenantId, id)),
    abandoned,
    holds: (
      tenantId: TenantId,
      id: EntityId,
      { places, reservedCents }: Pick<Lives.Live, "places" | "reservedCents">
    ) =>
      Effect.sync(() => {
        inFlight.remove(tenantId, id)
        registry.post(tenantId, { type: "holds", id, places, reservedCents })
      }),
    released: (tenantId: TenantId, id: EntityId) =>
      Effect.suspend(() => {
        inFlight.remove(tenantId, id)
        return registry.reread(tenantId)
      }),
    told: (tenantId: TenantId, told: Machine.Told) =>
      Effect.sync(() => {
        inFlight.remove(tenantId, told.from)
        registry.post(tenantId, { type: "told", ...told })
      }),
    reserving: (kind: StoredEntity["kind"], reader: Reserving) => Effect.sync(() => void readers.set(kind, reader)),
    reread: registry.reread,
    /** Of the accounts in memory, by the day of now. */
    states: Effect.map(Clock.currentTimeMillis, (now) =>
      [...registry.live.values()].flatMap((actor): ReadonlyArray<Machine.AccountState> => {
        const state = actor.state()
        return state === null ? [] : [{ ...state, tally: Machine.rolled(state.tally, now) }]
      })
    ),
    /** Of the accounts in memory: after a restart an account comes with the first message of one of its calls. */
    reservedCents: Effect.sync(() =>
      [...registry.live.values()].reduce((sum, actor) => {
        const state = actor.state()
        return state === null ? sum : sum + state.tally.live.reservedCents
      }, 0)
    ),
    drop: registry.drop,
    change: (tenantId: TenantId, input: Machine.AccountInput, by: Operator | null) =>
      Effect.asVoid(registry.ask(tenantId, input, by)),
    state
  } as const
})
