import { Context, type Effect } from "effect"
import type {
  AuditId,
  CallId,
  ConferenceId,
  EntityId,
  EventId,
  LedgerEntryId,
  RouteId,
  TenantId
} from "../../../domain/Id.ts"
import type { ApiError } from "../../../domain/ApiError.ts"
import type { EntryType } from "../../../domain/EntryType.ts"
import type { DeliveryListener, WebhookEndpointRef } from "./ClaimedDeliveries.ts"
import type { ListWrite } from "../list/ListTable.ts"
import type { UsageRow } from "../usage/UsageRow.ts"

/**
 * The journal, which makes sure that nothing is lost (src/runtime/README.md#commit-before-anything-leaves).
 *
 * A commit is one transaction: the input, the new state, the public events with their deliveries, money, audit lines
 * and the idempotency receipt. Nothing is sent before it. One fiber writes the commits of many actors as one statement
 * per batch; this port knows JSON and rows, but no feature.
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** An entity by its kind. An account belongs to its tenant, and the id identifies both. */
type Entity =
  | { readonly kind: "call"; readonly id: CallId }
  | { readonly kind: "conference"; readonly id: ConferenceId }
  | { readonly kind: "account"; readonly id: TenantId }
export type Kind = Entity["kind"]

/**
 * How the elements of one field of a state are stored: as rows of their own, so that a commit writes those that have
 * changed, however many there are. The field is an array of objects with an `id`, to which elements are only appended.
 */
export interface Elements {
  readonly field: string
  /** The ids of the elements that are new or have changed. */
  readonly changed: ReadonlySet<string>
  /**
   * The ids of the elements that are no longer there. Null: the state is stored whole, in one row, and the rows of its
   * elements are deleted.
   */
  readonly gone: ReadonlyArray<string> | null
}

/** The new state of an entity and the input that made it. */
export type EntityWrite = Entity & {
  readonly tenantId: TenantId
  /** 1, 2, 3 …; a gap or a repetition is a fault. */
  readonly seq: number
  /** The entity has ended, is rated and has nothing pending, so recovery need not rebuild it. */
  readonly settled: boolean
  readonly stateVersion: number
  /** The whole state, also where `elements` says which part of it is written. */
  readonly state: unknown
  readonly elements?: Elements
  readonly input: {
    readonly at: number
    readonly seed: string
    readonly machineVersion: number
    readonly body: unknown
  }
}

/** A public event. `body` is the rendered envelope, stored once, so every attempt sends the same bytes. */
export interface EventRow {
  readonly id: EventId
  readonly tenantId: TenantId
  /** The entity for which `sequence` counts. */
  readonly entityId: EntityId
  /** Deliveries of one lane are made one after another (`EventLane`). */
  readonly lane: string
  readonly sequence: number
  readonly type: string
  readonly routeId: RouteId | null
  readonly occurredAt: number
  readonly body: string
}

/** An amount, keyed by its cause: the same cause never moves money twice. Negative: a debit. */
export interface MoneyRow {
  readonly id: LedgerEntryId
  readonly tenantId: TenantId
  readonly cause: string
  readonly type: EntryType
  readonly amountCents: number
  readonly description: string
  readonly referenceType: string | null
  readonly referenceId: string | null
  readonly at: number
}

/** The stored first response to an Idempotency-Key, guide/idempotency.md#what-is-stored. */
export interface Receipt {
  /** API key id, or `email:` and the lower-cased address at signup. */
  readonly owner: string
  readonly key: string
  readonly method: string
  /** The path without a trailing slash. */
  readonly path: string
  readonly bodyHash: string
  readonly status: number
  /** The exact bytes of the response; sealed when they hold a secret. */
  readonly body: string | null
  readonly sealed: boolean
  readonly at: number
}

export interface AuditRow {
  readonly id: AuditId
  /** Null: the change concerns no single tenant. */
  readonly tenantId: TenantId | null
  readonly at: number
  readonly actor: {
    readonly type: "api_key" | "user" | "system" | "operator"
    readonly id: string | null
    readonly name: string | null
  }
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly changes: ReadonlyArray<{ readonly field: string; readonly from: Json; readonly to: Json }>
  readonly ip: string | null
}

/**
 * Rows that become durable together, or not at all. One commit may create or change several entities, and names each of
 * them once.
 */
export interface Commit {
  readonly entities: ReadonlyArray<EntityWrite>
  /** The rows of lists. The feature that owns a list makes them from its `ListTable`. */
  readonly lists: ReadonlyArray<ListWrite>
  readonly events: ReadonlyArray<EventRow>
  readonly money: ReadonlyArray<MoneyRow>
  readonly audit: ReadonlyArray<AuditRow>
  readonly receipt: Receipt | null
  /** The usage beyond the charges in `money`, which are counted by themselves. */
  readonly usage: UsageRow | null
}

export const empty: Commit = { entities: [], lists: [], events: [], money: [], audit: [], receipt: null, usage: null }

export interface Committed {
  /** The balance after this commit's money; null: it moved none. */
  readonly balanceCents: number | null
}

export type StoredEntity = Entity & {
  readonly tenantId: TenantId
  readonly partition: number
  readonly seq: number
  readonly settled: boolean
  readonly stateVersion: number
  readonly state: Json
}

export type StoredOf<K extends Kind> = Extract<StoredEntity, { readonly kind: K }>

export interface StoredInput {
  readonly seq: number
  readonly at: number
  readonly seed: string
  readonly machineVersion: number
  readonly input: Json
}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Queues the commit for the batch writer, and completes when it is durable. It waits while the database is
     * unreachable (`unavailableForMs` shows that). It dies when the database refuses a row, or when the commit is too
     * large or too slow to be written, which are faults of ours. It dies with `JournalLost` when this process does not
     * hold the partition of a tenant concerned. Rows of no tenant are written under any partition that is held. When
     * the journal closes, this and every later commit die with `JournalClosed`.
     */
    readonly commit: (commit: Commit) => Effect.Effect<Committed>
    /**
     * Like `commit`, for a caller that may give up meanwhile. `wanted` is called when the commit's turn has come. After
     * true, the caller waits for the answer, however long that takes, because the database may have the commit. It is
     * called again only when the database is known to have written nothing. Null: the commit is withdrawn; nothing was
     * written, and nothing will be. `isAsked`: a client waits for the answer; other commits may gather for some
     * milliseconds.
     */
    readonly commitWhile: (commit: Commit, wanted: () => boolean, isAsked: boolean) => Effect.Effect<Committed | null>
    /**
     * Like `commit`, for a client that waits for the answer: fails with `service_unavailable` when the commit cannot be
     * stored in time, and withdraws it. Fails with the refusal of the client's `WritePermit` where it may not write any
     * more.
     */
    readonly commitAsked: (commit: Commit) => Effect.Effect<Committed, ApiError>
    /**
     * Runs the same statement inside the caller's `sql.withTransaction`, for writes with which a tenant can violate a
     * constraint (signup, orders, keys). The caller wakes the dispatcher with `wake` after its transaction.
     */
    readonly commitWithin: (
      commit: Commit
    ) => Effect.Effect<Committed & { readonly endpoints: ReadonlyArray<WebhookEndpointRef> }>
    /**
     * Holds the partition until the caller's transaction ends, and gives the epoch. No other process takes the
     * partition over meanwhile. Dies when this process no longer owns it.
     */
    readonly holdWithin: (partition: number) => Effect.Effect<number>
    readonly wake: (endpoints: ReadonlyArray<WebhookEndpointRef>) => Effect.Effect<void>
    /** There is one listener: the dispatcher. */
    readonly onDeliveries: (listener: DeliveryListener) => Effect.Effect<void>
    /** For how long nothing can be stored while a commit waits, in milliseconds; 0: there is no outage. */
    readonly unavailableForMs: Effect.Effect<number>
    /** True when a commit can be stored now. Writes a probe unless something was written just now. */
    readonly canWrite: Effect.Effect<boolean>
    /** The number of commits that wait for their statement or for its answer. */
    readonly waiting: () => number
    readonly find: (entityId: EntityId) => Effect.Effect<StoredEntity | null>
    readonly unsettled: <K extends Kind>(kind: K, partition: number) => Effect.Effect<ReadonlyArray<StoredOf<K>>>
    readonly inputs: (entityId: EntityId) => Effect.Effect<ReadonlyArray<StoredInput>>
    readonly partitions: () => ReadonlyArray<number>
    /**
     * The listener is called once for each partition that is lost to another process, and stops the entities there. It
     * must not fail.
     */
    readonly onPartitionLost: (listener: (partition: number) => void) => Effect.Effect<void>
    /**
     * The epoch that this process raised when it took the partition. A process with an older one has lost the
     * partition. Null: the partition is not held.
     */
    readonly epoch: (partition: number) => number | null
    /**
     * Reports that the entities which the previous process left in the partition know of its end. Until then, or for
     * one minute, the last heartbeat of that process is kept in place of ours: calls without that knowledge are billed
     * up to it, even when this process dies meanwhile.
     */
    readonly recovered: (partition: number) => Effect.Effect<void>
    /**
     * How far the time of a held partition is ahead of this process's monotonic clock, in milliseconds. That time
     * passes evenly, however the wall clock is set, and continues from process to process; it began as the database's
     * epoch milliseconds.
     */
    readonly originMs: (partition: number) => number
    /**
     * The last heartbeat of the process that held the partition before this one, in the partition's time; null: no
     * process held it before.
     */
    readonly lastHeartbeatAt: (partition: number) => number | null
  }
>()("trunkline/store/Journal") {}
