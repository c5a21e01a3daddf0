import { Clock, Context, Effect, Layer } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as Portability from "./Portability.ts"
import * as PortingChange from "./PortingChange.ts"
import * as PortingDocuments from "./PortingDocuments.ts"
import * as PortingMachine from "./PortingMachine.ts"
import * as PortingOrders from "./PortingOrders.ts"
import * as PortingRepo from "./PortingRepo.ts"
import * as PortingView from "./PortingView.ts"

export * as DocumentBytes from "./DocumentBytes.ts"
export * as DocumentSource from "./DocumentSource.ts"
export {
  DocumentStatus,
  ExceptionCode,
  type PortingOrderView,
  PortingStatus,
  DocumentType,
  EndUser,
  EndUserChange,
  Portability,
  PortingDocument,
  PortingOrder,
  portability
} from "./PortingView.ts"

const sweepKind = "porting.sweep"
/** The most orders that one round of the sweep cancels; the next round continues. */
const sweepLimit = 500

/**
 * Numbers that move here from another carrier, guide/porting.md. The machine decides (`PortingMachine`). A step, its
 * numbers, its letter, its audit line and its receipt are one transaction, under the lock of the order.
 *
 * A submitted order claims its numbers, so that no other tenant can order or port them meanwhile.
 */
export class Porting extends Context.Service<
  Porting,
  {
    readonly check: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PortingView.Portability>>
    /** 201, `draft`; 422 `porting_not_supported`, 409 `porting_in_progress`. */
    readonly create: Audit.Request<[request: PortingOrders.OrderRequest]>
    readonly list: (
      tenantId: Id.TenantId,
      filters: PortingRepo.OrderFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<PortingView.PortingOrderView>>
    readonly find: (
      tenantId: Id.TenantId,
      id: Id.PortingOrderId
    ) => Effect.Effect<PortingView.PortingOrderView, ApiError>
    /** Changes a draft or an exception; numbers change only in a draft. */
    readonly update: Audit.Request<[id: Id.PortingOrderId, change: PortingOrders.OrderChange]>
    /** 204: a draft is deleted; an exception is cancelled. */
    readonly remove: Audit.Request<[id: Id.PortingOrderId]>
    /** 422 `documents_required`, `csr_mismatch`, 409 `porting_in_progress`. */
    readonly submit: Audit.Request<[id: Id.PortingOrderId]>
    readonly cancel: Audit.Request<[id: Id.PortingOrderId]>
    readonly addDocument: Audit.Request<[id: Id.PortingOrderId, request: PortingDocuments.DocumentRequest]>
    readonly documents: (
      tenantId: Id.TenantId,
      id: Id.PortingOrderId
    ) => Effect.Effect<ReadonlyArray<PortingView.PortingDocumentView>, ApiError>
    /** `tenantId` is null when the operator reads. */
    readonly file: (
      tenantId: Id.TenantId | null,
      id: Id.PortingDocumentId
    ) => Effect.Effect<PortingDocuments.DocumentFile, ApiError>
    /** For the operator: the orders that need work, or all of one status. */
    readonly queue: (
      status: PortingView.PortingStatus | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<PortingView.OrderRow>>
    /** For the operator: includes the fields that tenants are never shown again. */
    readonly inspect: (id: Id.PortingOrderId) => Effect.Effect<
      {
        readonly tenantId: Id.TenantId
        readonly order: PortingView.PortingOrderView
        readonly accountNumber: string | null
        readonly pinPasscode: string | null
      },
      ApiError
    >
    /** The operator enters an answer of the losing carrier. */
    readonly told: (id: Id.PortingOrderId, news: News) => Effect.Effect<PortingView.PortingOrderView, ApiError>
    readonly judge: (
      id: Id.PortingDocumentId,
      status: PortingView.DocumentStatus
    ) => Effect.Effect<PortingView.PortingDocumentView, ApiError>
    /** Runs one round of the job, which cancels exceptions that were not answered in time. */
    readonly sweep: Effect.Effect<void>
  }
>()("trunkline/porting/Porting") {
  static readonly layer = Layer.effect(
    Porting,
    Effect.gen(function* () {
      const { transaction } = yield* Sql.make
      const jobs = yield* Jobs
      const repo = yield* PortingRepo.make
      const portability = yield* Portability.make
      const change = yield* PortingChange.make
      const documents = yield* PortingDocuments.make
      const orders = yield* PortingOrders.make

      const sweep = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.forEach(
          yield* repo.unanswered(now - PortingMachine.answerMs, sweepLimit),
          (id) =>
            // The exception may have been answered meanwhile.
            Effect.ignore(
              change({
                tenantId: null,
                id,
                by: Audit.bySystem,
                slot: null,
                input: () => ({ type: "unanswered" })
              })
            ),
          { discard: true }
        )
      })
      jobs.declare({
        kind: sweepKind,
        everyMs: 3_600_000,
        concurrency: 1,
        timeoutMs: 600_000,
        retry: { attempts: Infinity, firstMs: 30_000, maxMs: 3_600_000 },
        run: () => sweep
      })

      return Porting.of({
        check: (phoneNumbers) =>
          Effect.forEach(phoneNumbers, (phoneNumber) =>
            Effect.map(portability.reason(phoneNumber), (reason) => ({
              phoneNumber,
              portable: reason === null,
              fastPortable: false,
              notPortableReason: reason
            }))
          ),
        ...orders,
        list: repo.list,
        find: Effect.fnUntraced(function* (tenantId, id) {
          const row = yield* repo.find(tenantId, id)
          if (row === null) return yield* PortingChange.noOrder
          return PortingView.order(row, yield* repo.documents(id))
        }),
        addDocument: documents.add,
        documents: Effect.fnUntraced(function* (tenantId, id) {
          if ((yield* repo.find(tenantId, id)) === null) return yield* PortingChange.noOrder
          return (yield* repo.documents(id)).map((row) => PortingView.document(row))
        }),
        file: documents.file,
        queue: repo.queue,
        inspect: Effect.fnUntraced(function* (id) {
          const stored = yield* transaction(repo.lock(null, id))
          if (stored === null) return yield* PortingChange.noOrder
          const { accountNumber, pinPasscode } = stored.endUser
          const order = PortingView.order(stored.row, yield* repo.documents(id))
          return { tenantId: stored.row.tenantId, order, accountNumber, pinPasscode }
        }),
        told: Effect.fn("Porting.told")(function* (id, news) {
          const done = yield* change({
            tenantId: null,
            id,
            by: yield* Audit.byOperator,
            slot: null,
            input: ({ endUser }) => (news.type === "exception" ? { ...news, endUser } : news)
          })
          if (done === null) return yield* PortingChange.noOrder
          return PortingView.order(done.row, done.documents)
        }),
        judge: documents.judge,
        sweep
      })
    })
  )
}

/** An answer of the losing carrier. */
export type News =
  | { readonly type: "exception"; readonly details: ReadonlyArray<PortingView.ExceptionDetail> }
  | { readonly type: "foc"; readonly at: number; readonly losingCarrier: string | null }
  | { readonly type: "complete" }
  | { readonly type: "carrier_cancelled" }
  | { readonly type: "cancel_refused" }
