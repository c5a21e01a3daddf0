import { Clock, Effect, Stream } from "effect"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import { BodyTurns } from "../../domain/fair/RequestTurns.ts"
import * as Overdue from "../../runtime/process/Overdue.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as DocumentBytes from "./DocumentBytes.ts"
import * as DocumentSource from "./DocumentSource.ts"
import * as PortingAudit from "./PortingAudit.ts"
import { noOrder } from "./PortingChange.ts"
import * as PortingMachine from "./PortingMachine.ts"
import * as PortingRepo from "./PortingRepo.ts"
import * as PortingView from "./PortingView.ts"

export interface DocumentRequest {
  readonly documentType: PortingView.DocumentType
  readonly filename: string
  readonly source: DocumentSource.Source
}

/** A file for a reader with permission. */
export interface DocumentFile {
  readonly document: PortingView.DocumentRow
  readonly body: Stream.Stream<Uint8Array>
}

/** The most documents of an order. */
const maxDocuments = 20
/** The most bytes of a tenant, in finished orders too. Concurrent uploads may exceed it by a few files. */
const maxTenantBytes = 1024 ** 3

const crowded = ApiError.of("service_unavailable", "too many files come at once; try again")
const tooSlow = ApiError.of("service_unavailable", "the file came too slowly while others waited; try again")
const noDocument = ApiError.of("not_found", "no such document")

/** Documents of porting orders, guide/porting.md#documents. */
export const make = Effect.gen(function* () {
  const { sql, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const repo = yield* PortingRepo.make
  const source = yield* DocumentSource.make
  const files = yield* BodyTurns
  const writes = FairSemaphore.make(Policies.portingFiles)

  const insert = Effect.fnUntraced(function* (
    caller: Audit.Caller,
    id: Id.PortingOrderId,
    request: DocumentRequest,
    slot: Slot | null
  ) {
    if ((yield* repo.find(caller.tenantId, id)) === null) return yield* noOrder
    const reading = source.read(caller.tenantId, request.source)
    const { bytes, sha256 } = yield* request.source.type === "file"
      ? reading
      : reading.pipe(
          Effect.interruptible,
          Overdue.within(files, caller.tenantId, null),
          Effect.catchTag("Overdue", () => Effect.fail(tooSlow))
        )
    const contentType = DocumentBytes.contentTypeOf(bytes)
    if (contentType === null)
      return yield* ApiError.of(
        "unprocessable",
        "the file is no PDF, JPEG, PNG or TIFF, or not a whole one",
        request.source.type === "url" ? "url" : "content_base64"
      )
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    const document: PortingView.DocumentRow = {
      id: Id.derive(seed, "doc"),
      portingOrderId: id,
      documentType: request.documentType,
      filename: request.filename,
      contentType,
      sizeBytes: bytes.length,
      sha256,
      status: "pending",
      createdAt: at
    }
    const rendered: Rendered = { status: 201, body: JSON.stringify(PortingView.document(document)) }
    yield* Effect.gen(function* () {
      const stored = yield* repo.lock(caller.tenantId, id)
      if (stored === null) return yield* noOrder
      const step = PortingMachine.step(stored.state, { type: "add_document" }, { now: at })
      if (step.type === "rejected") return yield* Effect.fail(step.error)
      if ((yield* repo.documents(id)).length >= maxDocuments)
        return yield* ApiError.of("conflict", `the order has ${maxDocuments} documents already`)
      if ((yield* repo.documentBytes(caller.tenantId)) + bytes.length > maxTenantBytes)
        return yield* ApiError.of("conflict", "the documents of this workspace would be more than 1 GiB; delete drafts")
      yield* repo.insertDocument(caller.tenantId, document, bytes)
      const added = PortingAudit.line({
        by: Audit.byCaller(caller),
        tenantId: caller.tenantId,
        orderId: id,
        at,
        seed,
        action: "porting_order.document_added",
        changes: [{ field: document.documentType, from: null, to: document.sha256 }]
      })
      yield* journal.commitWithin({ ...empty, audit: [added], receipt: receipt(slot, rendered, at) })
    }).pipe(
      sql.withTransaction,
      writes.within(caller.tenantId),
      Effect.catchTags({ SqlError: Effect.die, NoCapacity: () => Effect.fail(crowded) })
    )
    return rendered
  }, Effect.uninterruptible)

  // A file in a request has its place in memory already (`edge/http/request/Authenticated.ts`).
  const addDocument = Effect.fn("Porting.addDocument")(
    (caller: Audit.Caller, id: Id.PortingOrderId, request: DocumentRequest, slot: Slot | null) =>
      request.source.type === "file"
        ? insert(caller, id, request, slot)
        : insert(caller, id, request, slot).pipe(
            files.within(caller.tenantId),
            Effect.catchTag("NoCapacity", () => Effect.fail(crowded)),
            // A caller that waits for its turn may leave; work that has begun is not interrupted.
            Effect.interruptible
          )
  )

  const file = Effect.fn("Porting.file")(function* (tenantId: Id.TenantId | null, id: Id.PortingDocumentId) {
    const document = yield* repo.findDocument(tenantId, id)
    if (document === null) return yield* noDocument
    const body = Stream.unfold(0, (part) =>
      Effect.map(repo.part(id, part), (bytes) => (bytes === null ? undefined : ([bytes, part + 1] as const)))
    )
    return { document, body }
  })

  const judge = Effect.fn("Porting.judge")(function* (id: Id.PortingDocumentId, status: PortingView.DocumentStatus) {
    const document = yield* repo.findDocument(null, id)
    if (document === null) return yield* noDocument
    const order = yield* repo.find(null, document.portingOrderId)
    if (order === null) return yield* noOrder
    const at = yield* Clock.currentTimeMillis
    const judgedLine = PortingAudit.line({
      by: yield* Audit.byOperator,
      tenantId: order.tenantId,
      orderId: order.id,
      at,
      seed: entropy.hex(16),
      action: "porting_order.document_judged",
      changes: [{ field: id, from: document.status, to: status }]
    })
    yield* Effect.andThen(repo.judge(id, status), journal.commitWithin({ ...empty, audit: [judgedLine] })).pipe(
      transaction
    )
    return PortingView.document({ ...document, status })
  }, Effect.uninterruptible)

  return { add: addDocument, file, judge }
})
