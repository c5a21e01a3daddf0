import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { Trunks } from "../trunk/Trunk.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Portability from "./Portability.ts"
import * as PortingAudit from "./PortingAudit.ts"
import * as PortingChange from "./PortingChange.ts"
import * as PortingRepo from "./PortingRepo.ts"
import * as PortingView from "./PortingView.ts"

export interface OrderRequest {
  readonly phoneNumbers: ReadonlyArray<string>
  readonly customerReference: string | null
  readonly endUser: PortingView.EndUser
  readonly requestedFocAt: number | null
  readonly routeId: Id.RouteId | null
}

/** Absent fields stay unchanged. */
export interface OrderChange {
  readonly phoneNumbers?: ReadonlyArray<string>
  readonly customerReference?: string | null
  readonly endUser?: Partial<PortingView.EndUser>
  readonly requestedFocAt?: number | null
  readonly routeId?: Id.RouteId | null
}

/** The most orders of a tenant that have not ended. */
const maxOpen = 200

const later = (at: number | null | undefined, now: number) =>
  at === null || at === undefined || at > now
    ? Effect.void
    : Effect.fail(ApiError.of("unprocessable", "requested_foc_at is not in the future", "requested_foc_at"))

/** A tenant's requests for its porting orders. */
export const make = Effect.gen(function* () {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const connections = yield* Trunks
  const repo = yield* PortingRepo.make
  const { chosen, unique } = yield* Portability.make
  const change = yield* PortingChange.make

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
      const created = PortingAudit.line({
        by: Audit.byCaller(caller),
        tenantId: caller.tenantId,
        orderId: id,
        at,
        seed,
        action: "porting_order.created",
        changes: [{ field: "phone_numbers", from: null, to: [...request.phoneNumbers] }]
      })
      yield* journal.commitWithin({ ...empty, audit: [created], receipt: receipt(slot, rendered, at) })
    }).pipe(transaction)
    return rendered
  }, Effect.uninterruptible)

  const asked = (
    caller: Audit.Caller,
    id: Id.PortingOrderId,
    slot: Slot | null,
    rest: Pick<PortingChange.Change, "input" | "edit" | "removes" | "answer" | "action">
  ) =>
    Effect.flatMap(change({ tenantId: caller.tenantId, id, by: Audit.byCaller(caller), slot, ...rest }), (done) =>
      done === null ? Effect.fail(PortingChange.noOrder) : Effect.succeed(done.rendered)
    )

  const update = Effect.fn("Porting.update")(function* (
    caller: Audit.Caller,
    id: Id.PortingOrderId,
    wanted: OrderChange,
    slot: Slot | null
  ) {
    const { customerReference, endUser, phoneNumbers, requestedFocAt, routeId } = wanted
    if ((yield* repo.find(caller.tenantId, id)) === null) return yield* PortingChange.noOrder
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

  const submitInput: PortingChange.Change["input"] = ({ endUser }, documents) => ({
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
    if (found === null) return yield* PortingChange.noOrder
    // The losing carrier knows of an exception, so that order is kept as cancelled.
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

  const submit = (caller: Audit.Caller, id: Id.PortingOrderId, slot: Slot | null) =>
    asked(caller, id, slot, { input: submitInput })
  const cancel = (caller: Audit.Caller, id: Id.PortingOrderId, slot: Slot | null) =>
    asked(caller, id, slot, { input: () => ({ type: "cancel" }) })

  return { create, update, remove, submit, cancel }
})
