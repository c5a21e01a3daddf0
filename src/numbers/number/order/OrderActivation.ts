import { Clock, Effect } from "effect"
import * as Audit from "../../../runtime/audit/Audit.ts"
import type { NumberOrderEvent } from "../../../domain/event/NumberOrderEvent.ts"
import * as Id from "../../../domain/Id.ts"
import type { Job } from "../../../runtime/job/Jobs.ts"
import * as EventRecord from "../../../runtime/store/journal/EventRecord.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, type EventRow, Journal, type MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import * as NumberLife from "../NumberLife.ts"
import * as NumberRepo from "../NumberRepo.ts"
import { failureReasons, NumberSupply, type Outcome, SupplyError } from "./NumberSupply.ts"
import type { NumberRow, OrderedNumberView, OrderRow } from "../NumberView.ts"

/** An order's numbers, to be reported after the order is finished. */
interface Activated {
  readonly tenantId: Id.TenantId
  readonly phoneNumbers: ReadonlyArray<string>
}

/** A job whose key is the order. Its row is part of the order's transaction. */
export const kind = "number_order.activation"

/** The request that places the order waits for the first attempt. */
const answerMs = 10_000
/** A number that is undecided for this long has failed. The job's retries last longer than that. */
const undecidedMs = 6 * 3_600_000

const nothing: ReadonlyMap<string, Outcome> = new Map()

/**
 * Finishes pending orders, guide/numbers.md#ordering, when each number is decided. A supplied number becomes active;
 * the others fail and are refunded. Status, refund and events of an order are one transaction, so that it can be
 * repeated after a crash.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** Called after the transaction. */
  readonly onActivated: (activated: Activated) => Effect.Effect<void>
}) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const supply = yield* NumberSupply
  const repo = yield* NumberRepo.make

  /** The outcome for each number. Fails while any is unknown. */
  const decided = Effect.fnUntraced(function* (orderId: Id.OrderId, at: number) {
    const order = yield* repo.pending(orderId)
    if (order === null) return nothing
    const phoneNumbers = (yield* repo.ofOrder(orderId)).map(({ phoneNumber }) => phoneNumber)
    const isLate = at - order.createdAt >= undecidedMs
    const outcomes = yield* supply.activate({ id: orderId, tenantId: order.tenantId, phoneNumbers }).pipe(
      Effect.timeoutOrElse({
        duration: answerMs,
        orElse: () => Effect.fail(new SupplyError({ detail: "no answer in time" }))
      }),
      Effect.catchIf(
        () => isLate,
        () => Effect.succeed(nothing)
      )
    )
    const missing = phoneNumbers.filter((phone) => !outcomes.has(phone))
    if (missing.length > 0 && !isLate)
      return yield* new SupplyError({ detail: `${missing.length} numbers are not decided` })
    return new Map([...missing.map((phone) => [phone, "timeout"] as const), ...outcomes])
  })

  const finish = Effect.fn("OrderActivation.finish")(function* (orderId: Id.OrderId) {
    const at = yield* Clock.currentTimeMillis
    const outcomes = yield* decided(orderId, at)
    const outcomeOf = (phone: string): Outcome => outcomes.get(phone) ?? "not_available"
    const done = yield* Effect.gen(function* () {
      const order = yield* repo.lockPending(orderId)
      if (order === null) return null
      const numbers = yield* repo.ofOrder(orderId)
      const active = numbers.filter(({ phoneNumber }) => outcomeOf(phoneNumber) === "active")
      const failed = numbers.filter(({ phoneNumber }) => outcomeOf(phoneNumber) !== "active")
      const status = failed.length === 0 ? "completed" : active.length === 0 ? "failed" : "partial"
      const refundedCents = total(failed)
      yield* repo.live([...active.map(become("activated", at)), ...failed.map(become("failed", at))], at)
      const phoneNumbers = order.phoneNumbers.map((number): OrderedNumberView => {
        const outcome = outcomeOf(number.phone_number)
        return outcome === "active"
          ? { ...number, status: "active" }
          : { ...number, status: "failed", failure_reason: outcome }
      })
      yield* repo.finishOrder(orderId, { status, phoneNumbers, refundedCents, at })
      const { endpoints } = yield* journal.commitWithin({
        ...empty,
        events: rowsOf(order, eventsOf(order, status, active, failed, outcomeOf, at), at),
        money: refundedCents === 0 ? [] : [refundOf(order, refundedCents, at)],
        audit: [
          Audit.line({
            tenantId: order.tenantId,
            at,
            seed: order.id,
            actor: Audit.system,
            action: "number_order.status_changed",
            resourceId: order.id,
            changes: [{ field: "status", from: "pending", to: status }]
          })
        ]
      })
      const activated = { tenantId: order.tenantId, phoneNumbers: numbers.map((n) => n.phoneNumber) }
      return { endpoints, activated }
    }).pipe(transaction)
    if (done === null) return
    yield* options.onActivated(done.activated)
    yield* journal.wake(done.endpoints)
  })

  return {
    kind,
    concurrency: 4,
    timeoutMs: 30_000,
    // The retries last about eight hours; then an operator has to look.
    retry: { attempts: 100, firstMs: 5_000, maxMs: 300_000 },
    run: ({ key }) => finish(Id.OrderId.make(key))
  } satisfies Job
})

const become =
  (type: "activated" | "failed", at: number) =>
  (number: NumberRow): NumberRow => {
    const outcome = NumberLife.step(number, { type }, at)
    return outcome.type === "accepted" ? { ...number, ...outcome.life } : number
  }
const total = (numbers: ReadonlyArray<NumberRow>) => numbers.reduce((sum, number) => sum + number.debitedCents, 0)

const refundOf = (order: OrderRow, cents: number, at: number): MoneyRow => ({
  id: Id.derive(order.id, "ledger"),
  tenantId: order.tenantId,
  cause: `number_order_refund:${order.id}`,
  type: "refund",
  amountCents: cents,
  description: "Numbers that could not be activated",
  referenceType: "number_order",
  referenceId: order.id,
  at
})

/** A partly filled order sends both events, each with its numbers. Each reason to fail is a separate event. */
const eventsOf = (
  order: OrderRow,
  status: "completed" | "partial" | "failed",
  active: ReadonlyArray<NumberRow>,
  failed: ReadonlyArray<NumberRow>,
  outcomeOf: (phoneNumber: string) => Outcome,
  at: number
): ReadonlyArray<NumberOrderEvent> => {
  const about = (numbers: ReadonlyArray<NumberRow>, numberStatus: "active" | "failed") => ({
    orderId: order.id,
    status,
    countryCode: order.countryCode,
    numberType: order.numberType,
    phoneNumbers: numbers.map(({ id, phoneNumber }) => ({ id, phoneNumber, status: numberStatus })),
    totalCents: total(numbers)
  })
  const events: Array<NumberOrderEvent> = []
  if (active.length > 0)
    events.push({
      type: "number_order.completed",
      data: { ...about(active, "active"), completedAt: at }
    })
  for (const failureReason of failureReasons) {
    const of = failed.filter(({ phoneNumber }) => outcomeOf(phoneNumber) === failureReason)
    if (of.length > 0)
      events.push({
        type: "number_order.failed",
        data: { ...about(of, "failed"), failureReason, refundedCents: total(of), failedAt: at }
      })
  }
  return events
}

/** The events have no route, so they go to subscriptions of the whole tenant. */
const rowsOf = (order: OrderRow, events: ReadonlyArray<NumberOrderEvent>, at: number): ReadonlyArray<EventRow> =>
  events.map((event, index) =>
    EventRecord.make({ tenantId: order.tenantId, entityId: order.id, routeId: null, occurredAt: at }, index + 1, event)
  )
