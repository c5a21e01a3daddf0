import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as NumberLife from "./NumberLife.ts"
import * as NumberRepo from "./NumberRepo.ts"
import * as NumberView from "./NumberView.ts"

/** The result of a change; null when nothing changes. */
interface Changed {
  readonly row: NumberView.NumberRow
  /** The form is `<resource>.<past>`. */
  readonly action: string
  readonly changes: AuditRow["changes"]
}

const notFound = ApiError.of("number_not_found", "no such number")
export const noAnchor = ApiError.of("conflict", "the number has no emergency address")
const nobodys = ApiError.of("number_not_found", "nobody has this number")

/**
 * Changes one number in one transaction under the lock of its row, with an audit line. When the number is dialled next,
 * its owner is read again. 404 without a row.
 */
export const make = Effect.fnUntraced(function* (options: {
  /** Called after the transaction, even if its answer was lost: forgetting a row in vain costs only one read. */
  readonly forget: (phoneNumber: string) => Effect.Effect<void>
}) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const repo = yield* NumberRepo.make

  const changing = Effect.fnUntraced(function* <E>(
    of: { readonly tenantId: Id.TenantId; readonly id: Id.NumberId },
    by: Audit.By,
    change: (row: NumberView.NumberRow, at: number) => Effect.Effect<Changed | null, E>,
    answer: { readonly slot: Slot | null; readonly render: (row: NumberView.NumberRow) => Rendered } | null = null
  ) {
    const found = yield* repo.find(of.tenantId, of.id)
    if (found === null) return yield* notFound
    const at = yield* Clock.currentTimeMillis
    const seed = entropy.hex(16)
    return yield* Effect.gen(function* () {
      const before = (yield* repo.lock(of.tenantId, of.id)) ?? found
      const changed = yield* change(before, at)
      const row = changed === null ? before : { ...changed.row, updatedAt: at }
      if (changed !== null) {
        yield* repo.configure(row, at)
        yield* repo.live([row], at)
      }
      const rendered = answer?.render(row) ?? null
      const line = (of_: Changed) =>
        Audit.line({
          tenantId: of.tenantId,
          at,
          seed,
          ...by,
          action: of_.action,
          resourceId: of.id,
          changes: of_.changes
        })
      yield* journal.commitWithin({
        ...empty,
        audit: changed === null ? [] : [line(changed)],
        receipt: rendered === null ? null : receipt(answer?.slot ?? null, rendered, at)
      })
      return { row, rendered }
    }).pipe(transaction, Effect.ensuring(options.forget(found.phoneNumber)))
  }, Effect.uninterruptible)

  /** The operator changes a number by its digits. */
  const changingPhone = Effect.fnUntraced(function* (
    phoneNumber: string,
    change: (row: NumberView.NumberRow, at: number) => Effect.Effect<Changed | null, ApiError>
  ) {
    const owner = yield* repo.owner(phoneNumber)
    if (owner === null) return yield* nobodys
    const by = yield* Audit.byOperator
    const { row } = yield* changing({ tenantId: owner.tenantId, id: owner.numberId }, by, change)
    return { tenantId: owner.tenantId, number: NumberView.number(row) }
  })

  return { changing, changingPhone }
})

export type NumberChange = Effect.Success<ReturnType<typeof make>>

/** Takes a step of the number's life; null when it changes nothing. */
export const living = (
  row: NumberView.NumberRow,
  input: NumberLife.Input,
  at: number,
  action: string,
  reason: string | null = null
): Effect.Effect<Changed | null, ApiError> => {
  const outcome = NumberLife.step(row, input, at)
  switch (outcome.type) {
    case "accepted": {
      const after = { ...row, ...outcome.life }
      return Effect.succeed({
        row: after,
        action,
        changes: [...changesOf(row, after), ...(reason === null ? [] : [{ field: "reason", from: null, to: reason }])]
      })
    }
    case "unchanged":
      return Effect.succeed(null)
    case "rejected":
      return Effect.fail(outcome.error)
  }
}

/** The fields that an audit line shows, by their names on the wire. */
const shown = [
  "status",
  "suspended_at",
  "name",
  "route_id",
  "caller_id_name",
  "inbound_recording",
  "emergency_address_id",
  "emergency_enabled",
  "customer_reference",
  "tags",
  "monthly_cost_cents"
] as const

export const changesOf = (before: NumberView.NumberRow, after: NumberView.NumberRow): AuditRow["changes"] => {
  const [was, is] = [NumberView.number(before), NumberView.number(after)]
  return shown.flatMap((field) =>
    JSON.stringify(was[field]) === JSON.stringify(is[field]) ? [] : [{ field, from: was[field], to: is[field] }]
  )
}
