import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import type * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import { Numbers } from "../number/Number.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as PortingAudit from "./PortingAudit.ts"
import * as PortingLetter from "./PortingLetter.ts"
import * as PortingMachine from "./PortingMachine.ts"
import * as PortingRepo from "./PortingRepo.ts"
import * as PortingView from "./PortingView.ts"

export const noOrder = ApiError.of("not_found", "no such porting order")

/** A requested step of an order. */
export interface Change {
  /** Null for the operator, who may change every tenant's order. */
  readonly tenantId: Id.TenantId | null
  readonly id: Id.PortingOrderId
  readonly by: Audit.By
  readonly slot: Slot | null
  /** The input to the machine. */
  readonly input: (
    stored: PortingRepo.Stored,
    documents: ReadonlyArray<PortingView.DocumentRow>
  ) => PortingMachine.Input
  /** The order after an edit. */
  readonly edit?: (stored: PortingRepo.Stored) => Pick<PortingRepo.Stored, "row" | "endUser">
  readonly removes?: boolean
  /** Replaces the answer of 200 with the order. */
  readonly answer?: Rendered
  readonly action?: string
}

/**
 * Takes one step of an order, under its lock. The machine's state, the numbers that it claims or settles, its letter,
 * its audit line and its receipt are one transaction. Returns null when nothing has changed.
 */
export const make = Effect.gen(function* () {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const letters = yield* Letters
  const numbers = yield* Numbers
  const repo = yield* PortingRepo.make

  const claim = Effect.fnUntraced(function* (row: PortingView.OrderRow, at: number) {
    const priced = yield* Effect.forEach(row.numbers, (number) =>
      Effect.flatMap(numbers.portingPrice(number.countryCode, number.numberType), (price) =>
        price === null
          ? Effect.fail(
              ApiError.of("porting_not_supported", `${number.phoneNumber} has no price here any more`, "phone_numbers")
            )
          : Effect.succeed({ ...number, ...price })
      )
    )
    const claimed = yield* numbers.claimPortedWithin({ ...row, numbers: priced, at })
    const lost = row.numbers.find(({ phoneNumber }) => !claimed.has(phoneNumber))
    if (lost !== undefined)
      return yield* ApiError.of(
        "porting_in_progress",
        `${lost.phoneNumber} is here or on its way here already`,
        "phone_numbers"
      )
  })

  return Effect.fn("Porting.change")(function* (of: Change) {
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
        details,
        focAt,
        losingCarrier,
        portedAt,
        cancelledAt,
        status,
        submittedAt,
        updatedAt: at
      }
      const before = stored.state
      if (!PortingMachine.claims(before) && PortingMachine.claims(state)) yield* claim(row, at)
      if (PortingMachine.claims(before) && PortingMachine.isOver(state))
        yield* numbers.settlePortedWithin(row, status === "ported" ? "active" : "failed", at)
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
      const audited = PortingAudit.line({
        by: of.by,
        tenantId: row.tenantId,
        orderId: of.id,
        at,
        seed,
        action: of.action ?? (before.status === status ? "porting_order.updated" : "porting_order.status_changed"),
        changes: PortingAudit.changesOf(stored, { row, endUser })
      })
      yield* journal.commitWithin({ ...empty, audit: [audited], receipt: receipt(of.slot, rendered, at) })
      return { rendered, row, documents }
    }).pipe(transaction)
    if (done !== null) yield* numbers.ownersChanged(done.row.numbers.map(({ phoneNumber }) => phoneNumber))
    return done
  }, Effect.uninterruptible)
})
