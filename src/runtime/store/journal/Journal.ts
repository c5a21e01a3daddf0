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
import type { DeliveryListener, WebhookEndpointRef } from "./Handover.ts"
import type { ListWrite } from "../list/ListTable.ts"
import type { UsageRow } from "../usage/UsageRow.ts"

/**
 * The journal: what "nothing is lost" means (src/README.md#commit-before-anything-leaves).
 *
 * A commit is one transaction: the input, the new state, the public events with their deliveries, money, audit lines
 * and the idempotency receipt. Nothing leaves before it. Commits of many actors are written by one fiber as one
 * statement per batch; this port knows JSON and rows, never a feature.
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** An entity by its kind. An account is its tenant's, and known by its id. */
type Entity =
  | { readonly kind: "call"; readonly id: CallId }
  | { readonly kind: "conference"; readonly id: ConferenceId }
  | { readonly kind: "account"; readonly id: TenantId }
export type Kind = Entity["kind"]

/** The new state of an entity and the input that made it. */
export type EntityWrite = Entity & {
  readonly tenantId: TenantId
  /** 1, 2, 3 …; a gap or a repetition is a fault. */
  readonly seq: number
  /** Terminal, rated, nothing pending: recovery need not rebuild it. */
  readonly settled: boolean
  readonly stateVersion: number
  readonly state: unknown
  readonly input: {
    readonly at: number
    readonly seed: string
    readonly machineVersion: number
    readonly body: unknown
  }
}

/** A public event; `body` is the rendered envelope, stored once, the same bytes on every attempt. */
export interface EventRow {
  readonly id: EventId
  readonly tenantId: TenantId
  /** What `sequence` counts for, and the delivery lane. */
  readonly entityId: EntityId
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
  /** Without a trailing slash. */
  readonly path: string
  readonly bodyHash: string
  readonly status: number
  /** Exact bytes of the response; sealed ones hold a secret. */
  readonly body: string | null
  readonly sealed: boolean
  readonly at: number
}

export interface AuditRow {
  readonly id: AuditId
  /** Null: it concerns no single tenant. */
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
 * What becomes durable together, or not at all. One commit may create several entities, or change several; it names
 * each of them once.
 */
export interface Commit {
  readonly entities: ReadonlyArray<EntityWrite>
  /** Rows of lists; the feature that owns a list makes them from its `ListTable`. */
  readonly lists: ReadonlyArray<ListWrite>
  readonly events: ReadonlyArray<EventRow>
  readonly money: ReadonlyArray<MoneyRow>
  readonly audit: ReadonlyArray<AuditRow>
  readonly receipt: Receipt | null
  /** What it counts; what it charges counts by itself. */
  readonly usage: UsageRow | null
}

export const empty: Commit = { entities: [], lists: [], events: [], money: [], audit: [], receipt: null, usage: null }

/** What the statement computed. */
export interface Committed {
  /** Balance after this commit's money, where it moved any. */
  readonly balanceCents: number | null
}

export type StoredEntity = Entity & {
  readonly tenantId: TenantId
  /** Its tenant's home. */
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
     * Goes through the batch writer, and completes when it is durable. It waits while the database is away
     * (`unavailableForMs` tells). It dies when the database refuses a row or the commit is too large or too slow to be
     * written, which is a fault of ours, and with
     * `JournalLost` when this process does not hold the partition of a tenant concerned. Rows of no tenant are written
     * under any partition that is held. When the journal closes, it dies with `JournalClosed`, as all that come later.
     */
    readonly commit: (commit: Commit) => Effect.Effect<Committed>
    /**
     * Like `commit`, for a caller that may give up meanwhile. `wanted` is asked when the commit's turn has come. When it
     * says true, the caller waits for the answer, however long that takes, because the database may have the commit. It
     * is asked again only when it is known that nothing was written. Null: the commit is withdrawn; nothing was written,
     * and nothing will be. `isAsked`: somebody waits for the answer; other commits may gather for some milliseconds.
     */
    readonly commitWhile: (commit: Commit, wanted: () => boolean, isAsked: boolean) => Effect.Effect<Committed | null>
    /**
     * `commit` for somebody who waits for the answer: fails with `service_unavailable` when it cannot be stored in time,
     * and then it is withdrawn.
     */
    readonly commitAsked: (commit: Commit) => Effect.Effect<Committed, ApiError>
    /**
     * The same statement inside the caller's `sql.withTransaction`, for writes with which a tenant can violate a
     * constraint (signup, orders, keys). The caller wakes the dispatcher with `wake` after its transaction.
     */
    readonly commitWithin: (
      commit: Commit
    ) => Effect.Effect<Committed & { readonly endpoints: ReadonlyArray<WebhookEndpointRef> }>
    /**
     * Inside the caller's transaction: holds the partition until its end, and gives the epoch. Nobody takes the
     * partition over meanwhile. Dies when this process no longer owns it.
     */
    readonly holdWithin: (partition: number) => Effect.Effect<number>
    readonly wake: (endpoints: ReadonlyArray<WebhookEndpointRef>) => Effect.Effect<void>
    /** There is one listener: the dispatcher. */
    readonly onDeliveries: (listener: DeliveryListener) => Effect.Effect<void>
    /** Milliseconds since something could last be stored, while somebody waited for that; 0 when all is well. */
    readonly unavailableForMs: Effect.Effect<number>
    /** Whether something can be stored now. Writes a probe when nothing was written just now. */
    readonly canWrite: Effect.Effect<boolean>
    /** Commits that wait for their statement, or for its answer. */
    readonly waiting: () => number
    readonly find: (entityId: EntityId) => Effect.Effect<StoredEntity | null>
    readonly unsettled: <K extends Kind>(kind: K, partition: number) => Effect.Effect<ReadonlyArray<StoredOf<K>>>
    readonly inputs: (entityId: EntityId) => Effect.Effect<ReadonlyArray<StoredInput>>
    /** The partitions that this process holds now. */
    readonly partitions: () => ReadonlyArray<number>
    /** Called once for each partition that is lost to another process; what lives there must stop. Must not fail. */
    readonly onPartitionLost: (listener: (partition: number) => void) => Effect.Effect<void>
    /**
     * The epoch that this process raised when it took the partition: whoever holds an older one has lost it. Null: not
     * held.
     */
    readonly epoch: (partition: number) => number | null
    /**
     * Says that the entities which the process before this one left in the partition have been told of its end. Until
     * then, or until a minute has passed, its last sign of life stands in place of ours: calls that nobody told are
     * billed to it, even when this process dies meanwhile.
     */
    readonly recovered: (partition: number) => Effect.Effect<void>
    /**
     * How far the time of a held partition is ahead of this process's monotonic clock, in milliseconds. That time
     * passes evenly, however the wall clock is set, and goes on from process to process; it began as the database's
     * epoch milliseconds.
     */
    readonly originMs: (partition: number) => number
    /**
     * The last sign of life of the process that held the partition before this one, in the partition's time; null when
     * nobody held it before.
     */
    readonly lastHeartbeatAt: (partition: number) => number | null
  }
>()("trunkline/store/Journal") {}
