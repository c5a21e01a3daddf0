import { Clock, Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { Entropy } from "../actor/Entropy.ts"
import * as Audit from "../audit/Audit.ts"
import { Connections } from "../connection/Connection.ts"
import { ApiError } from "../domain/ApiError.ts"
import * as Id from "../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../idempotency/Slot.ts"
import { Jobs } from "../job/Jobs.ts"
import { Letters } from "../letter/Letter.ts"
import { Numbers } from "../number/Number.ts"
import { empty, Journal } from "../store/Journal.ts"
import type * as Listing from "../store/Listing.ts"
import * as DocumentBytes from "./DocumentBytes.ts"
import * as DocumentSource from "./DocumentSource.ts"
import * as NumberPlan from "./NumberPlan.ts"
import * as PortingLetter from "./PortingLetter.ts"
import * as PortingMachine from "./PortingMachine.ts"
import * as PortingRepo from "./PortingRepo.ts"
import * as PortingView from "./PortingView.ts"

export type { OrderFilters } from "./PortingRepo.ts"

export interface OrderRequest {
  readonly phoneNumbers: ReadonlyArray<string>
  readonly customerReference: string | null
  readonly endUser: PortingView.EndUser
  readonly requestedFocAt: number | null
  readonly routeId: Id.RouteId | null
}

/** Absent: as it was. */
export interface OrderChange {
  readonly phoneNumbers?: ReadonlyArray<string>
  readonly customerReference?: string | null
  readonly endUser?: Partial<PortingView.EndUser>
  readonly requestedFocAt?: number | null
  readonly routeId?: Id.RouteId | null
}

export interface DocumentRequest {
  readonly documentType: PortingView.DocumentType
  readonly filename: string
  readonly source: DocumentSource.Source
}

/** A file for whoever may read it. */
export interface DocumentFile {
  readonly document: PortingView.DocumentRow
  readonly body: Stream.Stream<Uint8Array>
}

/** Orders of a tenant that go on, and documents of an order. */
const maxOpen = 200
const maxDocuments = 20

const noOrder = ApiError.of("not_found", "no such porting order")
const noDocument = ApiError.of("not_found", "no such document")

const sweepKind = "porting.sweep"
/** Orders that one round of the sweep cancels; the next round goes on. */
const sweepLimit = 500

interface Actor {
  readonly actor: Audit.Actor
  readonly ip: string | null
}
const byKey = (caller: Audit.Caller): Actor => ({ actor: Audit.keyOf(caller), ip: caller.ip })
const byOperator: Actor = { actor: Audit.operator, ip: null }
const bySystem: Actor = { actor: Audit.system, ip: null }

/**
 * Numbers that move here from another carrier, guide/porting.md. The machine decides (`PortingMachine`); a step, its
 * numbers, its letter, its audit line and its receipt are one transaction, under the lock of the order.
 *
 * A submitted order claims its numbers: nobody else can order or port them meanwhile.
 */
export class Porting extends Context.Service<
  Porting,
  {
    readonly check: (phoneNumbers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<PortingView.Portability>>
    /** 201, `draft`; 422 `porting_not_supported`, 409 `porting_in_progress`. */
    readonly create: (
      caller: Audit.Caller,
      request: OrderRequest,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly list: (
      tenantId: Id.TenantId,
      filters: PortingRepo.OrderFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<PortingView.PortingOrderView>>
    readonly find: (
      tenantId: Id.TenantId,
      id: Id.PortingOrderId
    ) => Effect.Effect<PortingView.PortingOrderView, ApiError>
    /** Of a draft or an exception; numbers of a draft only. */
    readonly update: (
      caller: Audit.Caller,
      id: Id.PortingOrderId,
      change: OrderChange,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 204: a draft is forgotten; an exception is cancelled. */
    readonly remove: (
      caller: Audit.Caller,
      id: Id.PortingOrderId,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** 422 `documents_required`, `csr_mismatch`, 409 `porting_in_progress`. */
    readonly submit: (
      caller: Audit.Caller,
      id: Id.PortingOrderId,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly cancel: (
      caller: Audit.Caller,
      id: Id.PortingOrderId,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly addDocument: (
      caller: Audit.Caller,
      id: Id.PortingOrderId,
      request: DocumentRequest,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    readonly documents: (
      tenantId: Id.TenantId,
      id: Id.PortingOrderId
    ) => Effect.Effect<ReadonlyArray<PortingView.PortingDocumentView>, ApiError>
    /** `tenantId` null: the operator reads. */
    readonly file: (
      tenantId: Id.TenantId | null,
      id: Id.PortingDocumentId
    ) => Effect.Effect<DocumentFile, ApiError>
    /** For the operator: what has to be worked at, or all of one status. */
    readonly queue: (
      status: PortingView.PortingStatus | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<PortingView.OrderRow>>
    /** For the operator: with what tenants are never shown again. */
    readonly inspect: (id: Id.PortingOrderId) => Effect.Effect<
      {
        readonly tenantId: Id.TenantId
        readonly order: PortingView.PortingOrderView
        readonly accountNumber: string | null
        readonly pinPasscode: string | null
      },
      ApiError
    >
    /** What the losing carrier said, by the operator. */
    readonly told: (
      id: Id.PortingOrderId,
      news: News
    ) => Effect.Effect<PortingView.PortingOrderView, ApiError>
    readonly judge: (
      id: Id.PortingDocumentId,
      status: PortingView.DocumentStatus
    ) => Effect.Effect<PortingView.PortingDocumentView, ApiError>
    /** One round of what the job does by itself: cancels exceptions that nobody answered. */
    readonly sweep: Effect.Effect<void>
  }
>()("trunkline/porting/Porting") {
  static readonly layer = Layer.effect(
    Porting,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const entropy = yield* Entropy
      const jobs = yield* Jobs
      const letters = yield* Letters
      const connections = yield* Connections
      const numbers = yield* Numbers
      const repo = yield* PortingRepo.make
      const source = yield* DocumentSource.make

      /** Why a number cannot come, or what it is. */
      const judged = Effect.fnUntraced(function* (phoneNumber: string) {
        const plan = NumberPlan.of(phoneNumber)
        if (plan === null) return { reason: "invalid_number" as const }
        const owner = yield* numbers.byDialled(phoneNumber)
        if (owner?.status === "port_pending") return { reason: "porting_in_progress" as const }
        if (owner !== null || (yield* numbers.ported.isOurs(phoneNumber))) return { reason: "already_here" as const }
        const { countryCode, numberType } = plan
        if (numberType === null || (yield* numbers.ported.price(countryCode, numberType)) === null)
          return { reason: "not_supported" as const }
        return { reason: null, countryCode, numberType }
      })

      const chosen = (phoneNumbers: ReadonlyArray<string>, seed: string) =>
        Effect.forEach(phoneNumbers, (phoneNumber, index) =>
          Effect.flatMap(judged(phoneNumber), (found) => {
            if (found.reason === null) {
              const { countryCode, numberType } = found
              const numberId = Id.derive(seed, "did", index)
              return Effect.succeed<PortingView.OrderedNumber>({ phoneNumber, countryCode, numberType, numberId })
            }
            return Effect.fail(
              found.reason === "porting_in_progress"
                ? ApiError.of("porting_in_progress", `${phoneNumber} is being ported already`, "phone_numbers")
                : ApiError.of(
                    "porting_not_supported",
                    `${phoneNumber} cannot be ported here: ${found.reason}`,
                    "phone_numbers"
                  )
            )
          })
        )
      const unique = (phoneNumbers: ReadonlyArray<string>) =>
        new Set(phoneNumbers).size === phoneNumbers.length
          ? Effect.void
          : Effect.fail(ApiError.of("unprocessable", "phone_numbers holds a number twice", "phone_numbers"))
      const later = (at: number | null | undefined, now: number) =>
        at === null || at === undefined || at > now
          ? Effect.void
          : Effect.fail(ApiError.of("unprocessable", "requested_foc_at is not in the future", "requested_foc_at"))

      const line = (of: {
        readonly by: Actor
        readonly tenantId: Id.TenantId
        readonly orderId: Id.PortingOrderId
        readonly at: number
        readonly seed: string
        readonly action: string
        readonly changes?: Parameters<typeof Audit.line>[0]["changes"]
      }) =>
        Audit.line({
          tenantId: of.tenantId,
          at: of.at,
          seed: of.seed,
          actor: of.by.actor,
          ip: of.by.ip,
          action: of.action,
          resourceType: "porting_order",
          resourceId: of.orderId,
          changes: of.changes ?? []
        })

      const create = Effect.fn("Porting.create")(function* (
        caller: Audit.Caller,
        request: OrderRequest,
        slot: Slot | null
      ) {
        const at = yield* Clock.currentTimeMillis
        const seed = entropy.hex(16)
        yield* unique(request.phoneNumbers)
        yield* later(request.requestedFocAt, at)
        if (request.routeId !== null) yield* connections.resolve(caller.tenantId, request.routeId)
        const found = yield* chosen(request.phoneNumbers, seed)
        const { customerReference, endUser, requestedFocAt, routeId } = request
        const id = Id.derive(seed, "port")
        const row: PortingView.OrderRow = {
          id,
          tenantId: caller.tenantId,
          status: "draft",
          details: [],
          numbers: found,
          endUser,
          requestedFocAt,
          focAt: null,
          losingCarrier: null,
          routeId,
          customerReference,
          parentId: null,
          submittedAt: null,
          portedAt: null,
          cancelledAt: null,
          createdAt: at,
          updatedAt: at
        }
        const rendered: Rendered = { status: 201, body: JSON.stringify(PortingView.order(row, [])) }
        yield* Effect.gen(function* () {
          if ((yield* repo.countOpen(caller.tenantId)) >= maxOpen)
            return yield* ApiError.of("conflict", `${maxOpen} porting orders go on already; finish or cancel some`)
          yield* repo.insert(row, endUser)
          const created = line({
            by: byKey(caller),
            tenantId: caller.tenantId,
            orderId: id,
            at,
            seed,
            action: "porting_order.created",
            changes: [{ field: "phone_numbers", from: null, to: [...request.phoneNumbers] }]
          })
          yield* journal.commitWithin({ ...empty, audit: [created], receipt: receipt(slot, rendered, at) })
        }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
        return rendered
      }, Effect.uninterruptible)

      /**
       * One step of an order. `edit` gives what a change makes of it; `input` what the machine is told. Null as the
       * answer: nothing changed.
       */
      const change = Effect.fn("Porting.change")(function* (of: {
        readonly tenantId: Id.TenantId | null
        readonly id: Id.PortingOrderId
        readonly by: Actor
        readonly slot: Slot | null
        readonly input: (
          stored: PortingRepo.Stored,
          documents: ReadonlyArray<PortingView.DocumentRow>
        ) => PortingMachine.Input
        readonly edit?: (stored: PortingRepo.Stored) => Pick<PortingRepo.Stored, "endUser"> & {
          readonly row: PortingView.OrderRow
        }
        readonly removes?: boolean
        readonly answer?: Rendered
        readonly action?: string
      }) {
        const at = yield* Clock.currentTimeMillis
        const seed = entropy.hex(16)
        const done = yield* Effect.gen(function* () {
          const stored = yield* repo.lock(of.tenantId, of.id)
          if (stored === null) return yield* noOrder
          const documents = yield* repo.documents(of.id)
          const step = PortingMachine.step(stored.state, of.input(stored, documents), { now: at })
          if (step.type === "rejected") return yield* Effect.fail(step.error)
          if (step.type === "unchanged") return null
          const { state } = step
          const { endUser, row: edited } = of.edit?.(stored) ?? stored
          const { details, focAt, losingCarrier, portedAt, cancelledAt, status, submittedAt } = state
          const row: PortingView.OrderRow = {
            ...edited,
            endUser,
            ...{ details, focAt, losingCarrier, portedAt, cancelledAt, status, submittedAt },
            updatedAt: at
          }
          const before = stored.state
          if (!PortingMachine.claims(before) && PortingMachine.claims(state)) yield* claim(row, at)
          if (PortingMachine.claims(before) && PortingMachine.isOver(state))
            yield* numbers.ported.settleWithin(of.id, status === "ported" ? "active" : "failed", at)
          if (of.removes === true) yield* repo.remove(of.id)
          else yield* repo.save(row, state, endUser)
          const letter = PortingLetter.of(row, before, state)
          if (letter !== null)
            yield* letters.postToWithin({
              cause: `porting:${of.id}:${status}:${at}`,
              tenantId: row.tenantId,
              audience: "owners",
              letter
            })
          const rendered = of.answer ?? { status: 200, body: JSON.stringify(PortingView.order(row, documents)) }
          const audited = line({
            by: of.by,
            tenantId: row.tenantId,
            orderId: of.id,
            at,
            seed,
            action:
              of.action ?? (before.status === status ? "porting_order.updated" : "porting_order.status_changed"),
            changes: before.status === status ? [] : [{ field: "status", from: before.status, to: status }]
          })
          yield* journal.commitWithin({ ...empty, audit: [audited], receipt: receipt(of.slot, rendered, at) })
          return { rendered, row, documents }
        }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
        if (done !== null) yield* numbers.ported.forget(done.row.numbers.map(({ phoneNumber }) => phoneNumber))
        return done
      }, Effect.uninterruptible)

      const claim = Effect.fnUntraced(function* (row: PortingView.OrderRow, at: number) {
        const priced = yield* Effect.forEach(row.numbers, (number) =>
          Effect.flatMap(numbers.ported.price(number.countryCode, number.numberType), (price) =>
            price === null
              ? Effect.fail(
                  ApiError.of("porting_not_supported", `${number.phoneNumber} has no price here any more`, "phone_numbers")
                )
              : Effect.succeed({ ...number, ...price })
          )
        )
        const claimed = yield* numbers.ported.claimWithin({ ...row, numbers: priced, at })
        const lost = row.numbers.find(({ phoneNumber }) => !claimed.has(phoneNumber))
        if (lost !== undefined)
          return yield* ApiError.of(
            "porting_in_progress",
            `${lost.phoneNumber} is here or on its way here already`,
            "phone_numbers"
          )
      })

      const asked = (
        caller: Audit.Caller,
        id: Id.PortingOrderId,
        slot: Slot | null,
        rest: Pick<Parameters<typeof change>[0], "input" | "edit" | "removes" | "answer" | "action">
      ) =>
        Effect.flatMap(
          change({ tenantId: caller.tenantId, id, by: byKey(caller), slot, ...rest }),
          (done) => (done === null ? Effect.fail(noOrder) : Effect.succeed(done.rendered))
        )

      const update = Effect.fn("Porting.update")(function* (
        caller: Audit.Caller,
        id: Id.PortingOrderId,
        wanted: OrderChange,
        slot: Slot | null
      ) {
        const { customerReference, endUser, phoneNumbers, requestedFocAt, routeId } = wanted
        if ((yield* repo.find(caller.tenantId, id)) === null) return yield* noOrder
        yield* later(requestedFocAt, yield* Clock.currentTimeMillis)
        if (routeId !== undefined && routeId !== null) yield* connections.resolve(caller.tenantId, routeId)
        if (phoneNumbers !== undefined) yield* unique(phoneNumbers)
        const found = phoneNumbers === undefined ? null : yield* chosen(phoneNumbers, entropy.hex(16))
        return yield* asked(caller, id, slot, {
          input: () => ({ type: "edit", numbers: found !== null }),
          edit: (stored) => ({
            endUser: { ...stored.endUser, ...endUser },
            row: {
              ...stored.row,
              ...(found === null ? {} : { numbers: found }),
              ...(customerReference === undefined ? {} : { customerReference }),
              ...(requestedFocAt === undefined ? {} : { requestedFocAt }),
              ...(routeId === undefined ? {} : { routeId })
            }
          })
        })
      })

      const submitInput: Parameters<typeof change>[0]["input"] = ({ endUser }, documents) => ({
        type: "submit",
        endUser,
        documents: documents.map(({ documentType, status }) => ({ type: documentType, status }))
      })

      const remove = Effect.fn("Porting.remove")(function* (
        caller: Audit.Caller,
        id: Id.PortingOrderId,
        slot: Slot | null
      ) {
        const found = yield* repo.find(caller.tenantId, id)
        if (found === null) return yield* noOrder
        // The losing carrier knows of an exception, so that order stays as cancelled.
        const answer: Rendered = { status: 204, body: null }
        if (found.status === "exception")
          return yield* asked(caller, id, slot, { input: () => ({ type: "cancel" }), answer })
        return yield* asked(caller, id, slot, {
          input: () => ({ type: "discard" }),
          removes: true,
          answer,
          action: "porting_order.deleted"
        })
      })

      const addDocument = Effect.fn("Porting.addDocument")(function* (
        caller: Audit.Caller,
        id: Id.PortingOrderId,
        request: DocumentRequest,
        slot: Slot | null
      ) {
        if ((yield* repo.find(caller.tenantId, id)) === null) return yield* noOrder
        const bytes = yield* source.read(caller.tenantId, request.source)
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
          sha256: hash("sha256", bytes, "hex"),
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
          yield* repo.insertDocument(caller.tenantId, document, bytes)
          const added = line({
            by: byKey(caller),
            tenantId: caller.tenantId,
            orderId: id,
            at,
            seed,
            action: "porting_order.document_added",
            changes: [{ field: document.documentType, from: null, to: document.sha256 }]
          })
          yield* journal.commitWithin({ ...empty, audit: [added], receipt: receipt(slot, rendered, at) })
        }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
        return rendered
      }, Effect.uninterruptible)

      const file = Effect.fn("Porting.file")(function* (tenantId: Id.TenantId | null, id: Id.PortingDocumentId) {
        const document = yield* repo.findDocument(tenantId, id)
        if (document === null) return yield* noDocument
        const body = Stream.unfold(0, (part) =>
          Effect.map(repo.part(id, part), (bytes) => (bytes === null ? undefined : ([bytes, part + 1] as const)))
        )
        return { document, body }
      })

      const told = Effect.fn("Porting.told")(function* (id: Id.PortingOrderId, news: News) {
        const done = yield* change({
          tenantId: null,
          id,
          by: byOperator,
          slot: null,
          input: ({ endUser }) => (news.type === "exception" ? { ...news, endUser } : news)
        })
        if (done === null) return yield* noOrder
        return PortingView.order(done.row, done.documents)
      })

      const judge = Effect.fn("Porting.judge")(function* (
        id: Id.PortingDocumentId,
        status: PortingView.DocumentStatus
      ) {
        const document = yield* repo.findDocument(null, id)
        if (document === null) return yield* noDocument
        const order = yield* repo.find(null, document.portingOrderId)
        if (order === null) return yield* noOrder
        const at = yield* Clock.currentTimeMillis
        const judgedLine = line({
          by: byOperator,
          tenantId: order.tenantId,
          orderId: order.id,
          at,
          seed: entropy.hex(16),
          action: "porting_order.document_judged",
          changes: [{ field: id, from: document.status, to: status }]
        })
        yield* Effect.andThen(
          repo.judge(id, status),
          journal.commitWithin({ ...empty, audit: [judgedLine] })
        ).pipe(sql.withTransaction, Effect.orDie)
        return PortingView.document({ ...document, status })
      }, Effect.uninterruptible)

      const sweep = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.forEach(
          yield* repo.unanswered(now - PortingMachine.answerMs, sweepLimit),
          (id) =>
            // Somebody may have answered meanwhile.
            Effect.ignore(change({ tenantId: null, id, by: bySystem, slot: null, input: () => ({ type: "unanswered" }) })),
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
            Effect.map(judged(phoneNumber), ({ reason }) => ({
              phoneNumber,
              portable: reason === null,
              fastPortable: false,
              notPortableReason: reason
            }))
          ),
        create,
        list: repo.list,
        find: Effect.fnUntraced(function* (tenantId, id) {
          const row = yield* repo.find(tenantId, id)
          if (row === null) return yield* noOrder
          return PortingView.order(row, yield* repo.documents(id))
        }),
        update,
        remove,
        submit: (caller, id, slot) => asked(caller, id, slot, { input: submitInput }),
        cancel: (caller, id, slot) => asked(caller, id, slot, { input: () => ({ type: "cancel" }) }),
        addDocument,
        documents: Effect.fnUntraced(function* (tenantId, id) {
          if ((yield* repo.find(tenantId, id)) === null) return yield* noOrder
          return (yield* repo.documents(id)).map((row) => PortingView.document(row))
        }),
        file,
        queue: repo.queue,
        inspect: Effect.fnUntraced(function* (id) {
          const stored = yield* Effect.orDie(sql.withTransaction(repo.lock(null, id)))
          if (stored === null) return yield* noOrder
          const { accountNumber, pinPasscode } = stored.endUser
          const order = PortingView.order(stored.row, yield* repo.documents(id))
          return { tenantId: stored.row.tenantId, order, accountNumber, pinPasscode }
        }),
        told,
        judge,
        sweep
      })
    })
  )
}

/** What a losing carrier says. */
export type News =
  | { readonly type: "exception"; readonly details: ReadonlyArray<PortingView.ExceptionDetail> }
  | { readonly type: "foc"; readonly at: number; readonly losingCarrier: string | null }
  | { readonly type: "complete" }
  | { readonly type: "carrier_cancelled" }
  | { readonly type: "cancel_refused" }
