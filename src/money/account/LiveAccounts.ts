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

/** One snapshot of an account's rows. The money includes a charge if and only if the entity that owes it has ended. */
export interface Rows {
  /** The account's partition, which holds all entities of its tenant. */
  readonly partition: number
  readonly settings: Machine.Settings
  readonly money: Pick<
    Machine.Tally,
    | "balanceCents"
    | "testMoneyCents"
    | "creditLimitCents"
    | "rechargeFailed"
    | "planCallLimit"
    | "daySpentCents"
    | "monthSpentCents"
  >
  readonly unsettled: ReadonlyArray<Unsettled>
  /** The requested ids that have a row. */
  readonly born: ReadonlySet<EntityId>
}

export type AccountStep = Step<Machine.AccountState, Machine.AccountInput, Machine.Effects>

/**
 * Reads what an unsettled entity of a tenant reserves, from its stored state, and from `inFlight` if it was granted
 * something that may not be stored yet; null when it reserves nothing.
 */
export type Reserving = (
  row: Pick<StoredEntity, "state" | "stateVersion">,
  inFlight: Lives.Live | null
) => Lives.Live | null

export interface Reserved {
  /** The partition of the tenant. */
  readonly partition: number
  /** The offer that was accepted. */
  readonly reservedCents: number
}

/** A decision takes microseconds and waits for nothing, so a burst of a tenant's requests is no reason for a 503. */
const askCapacity = 1_024

const maxLive = 100_000

export const idleMs = 300_000

/**
 * Accounts in memory. Each is loaded when it is first needed, and leaves when nothing of its tenant is live and it has
 * not been used for a while. Settings are written; the tally is not. It is rebuilt from the rows and from the
 * reservations in flight, so that an account may die at any moment and lose nothing.
 */
export const make = Effect.fnUntraced(function* (rows: {
  /** The snapshot is taken after the call. `ids` may or may not have rows. */
  readonly read: (tenantId: TenantId, day: string, ids: Iterable<EntityId>) => Effect.Effect<Rows | null, ApiError>
  readonly write: (step: AccountStep, by: Operator | null) => Effect.Effect<void, ApiError>
  /** Called when the balance of an account was read or has changed. It must not fail, and nothing waits for it. */
  readonly onBalance: (tenantId: TenantId, balanceCents: number) => void
  /** The partitions that this process holds. */
  readonly partitions: ReadonlyArray<number>
  /** How far a partition's time is ahead of the monotonic clock. */
  readonly originMs: (partition: number) => number
  /** True while nothing can be committed. */
  readonly outage: Effect.Effect<boolean>
}) {
  const readers = new Map<StoredEntity["kind"], Reserving>()
  const inFlight = InFlight.make()

  /** The state from the rows, and the earlier reservations that the rows may not include yet. */
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
        // The next caller that needs the account reads it again.
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
      askCapacity,
      maxLive,
      passivation: { afterMs: idleMs, mayLeave: ({ tally }) => Lives.isEmpty(tally.live) }
    },
    rows.outage
  )
  for (const partition of rows.partitions) yield* registry.hold(partition, rows.originMs(partition))

  /** The current state of an account. */
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
        // A caller may get a 503 although the account has reserved, so the reservation is abandoned. A renewal keeps
        // what the call had before, which is the call's own until its end.
        Effect.tapError((refused) =>
          refused.code === "service_unavailable" && request.purpose !== "renewal"
            ? abandoned(tenantId, id)
            : Effect.void
        )
      ),
    refusal: (tenantId: TenantId, id: EntityId, request: Machine.Request) =>
      Effect.map(state(tenantId), (now) => Machine.refusal(now, id, request)),
    /** The tenant's partition, for an entity that reserves nothing yet. */
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
    /** The states of accounts in memory, rolled to the current day. */
    states: Effect.map(Clock.currentTimeMillis, (now) =>
      [...registry.live.values()].flatMap((actor): ReadonlyArray<Machine.AccountState> => {
        const state = actor.state()
        return state === null ? [] : [{ ...state, tally: Machine.rolled(state.tally, now) }]
      })
    ),
    /** The sum over accounts in memory. After a restart, the first message of a call loads its account. */
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
