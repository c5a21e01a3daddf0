import { Clock, Data, Effect } from "effect"
import { Accounts } from "../../account/Account.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Payments } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Machine from "./PayoutMachine.ts"
import * as PayoutRepo from "./PayoutRepo.ts"
import type { Reversals } from "../processor/Reversals.ts"

/** Something is under way, so the pass has to be repeated later. */
export class PayoutWaits extends Data.TaggedError("PayoutWaits")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

/** The state of a payout, for the operator. */
export interface Payout extends PayoutRepo.Row {
  readonly refunds: ReadonlyArray<PayoutRepo.Asked>
}

/**
 * Returns the remaining balance of a closed tenant, guide/tenants.md#refund-of-the-balance.
 *
 * A pass decides under the locks of all top-ups of the tenant and of its balance, and only when no top-up and no refund
 * is under way. A refund leaves `pending` when it is in the ledger, so no pass returns money that another one returns.
 */
export const make = Effect.fnUntraced(function* (reversals: Reversals) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const accounts = yield* Accounts
  const entropy = yield* Entropy
  const payments = yield* Payments
  const repo = yield* PayoutRepo.make

  const lineOf = (
    of: Pick<Parameters<typeof Audit.line>[0], "tenantId" | "at" | "seed" | "actor" | "action" | "changes">
  ) => Audit.line({ ...of, resourceType: "tenant", resourceId: of.tenantId ?? "" })

  /** Returns the round that is under way, or else a new one, with the caller's writes in its transaction. */
  const request = Effect.fn("Payouts.request")(function* (
    tenantId: Id.TenantId,
    within: (round: number) => Effect.Effect<void>
  ) {
    const { status } = yield* accounts.overview(tenantId)
    if (status !== "closed") return yield* ApiError.of("conflict", `the tenant is ${status}; close it first`)
    const at = yield* Clock.currentTimeMillis
    return yield* Effect.gen(function* () {
      const { isNew, round } = yield* repo.start(tenantId, at)
      if (isNew) {
        const seed = entropy.hex(16)
        const changes = [{ field: "payout_round", from: round === 1 ? null : round - 1, to: round }]
        const action = "tenant.payout_requested"
        yield* journal.commitWithin({
          ...empty,
          audit: [lineOf({ tenantId, at, seed, actor: yield* Audit.operator, action, changes })]
        })
        yield* within(round)
      }
      return round
    }).pipe(transaction)
  }, Effect.uninterruptible)

  /** Requests the possible refunds, and returns their ids. When there are none, the round is finished. */
  const pass = Effect.fn("Payouts.pass")(function* (tenantId: Id.TenantId, round: number) {
    const at = yield* Clock.currentTimeMillis
    return yield* Effect.gen(function* () {
      if (!(yield* repo.lock(tenantId, round))) return []
      const underWay = yield* repo.lockTopUps(tenantId)
      if (underWay !== null) return yield* new PayoutWaits({ detail: underWay })
      const facts = yield* repo.facts(tenantId, payments.name, round)
      const refunds = Machine.refunds(facts)
      if (refunds.length === 0) {
        yield* repo.finish(tenantId, facts.balanceCents, at)
        const changes = [{ field: "left_cents", from: null, to: facts.balanceCents }]
        const line = { tenantId, at, seed: `payout ${tenantId} ${round}`, actor: Audit.system, changes }
        yield* journal.commitWithin({ ...empty, audit: [lineOf({ ...line, action: "tenant.paid_out" })] })
        return []
      }
      return yield* Effect.forEach(refunds, ({ attemptId, cents }) =>
        Effect.gen(function* () {
          const id = Id.deriveOpaque(`payout ${attemptId}`, "refund", yield* repo.asked(attemptId))
          yield* reversals.askWithin({
            id,
            attemptId,
            tenantId,
            amountCents: cents,
            reason: "the tenant is closed",
            payoutRound: round,
            createdAt: at,
            actor: Audit.system
          })
          return id
        })
      )
    }).pipe(transaction)
  }, Effect.uninterruptible)

  /** Runs passes until the round is finished, in the caller's job. Fails while something is under way. */
  const run = Effect.fn("Payouts.run")(function* (tenantId: Id.TenantId, round: number) {
    for (;;) {
      const asked = yield* pass(tenantId, round)
      if (asked.length === 0) return
      yield* Effect.forEach(asked, reversals.carryOutNow, { concurrency: 4, discard: true })
    }
  })

  /** Null when none was requested. */
  const find = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
    const row = yield* repo.find(tenantId)
    return row === null ? null : ({ ...row, refunds: yield* repo.refunds(tenantId) } satisfies Payout)
  })

  return { request, run, find } as const
})
