import { Clock, Effect } from "effect"
import { Accounts } from "../account/Account.ts"
import type { EntryType } from "../../domain/EntryType.ts"
import * as Id from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal, type MoneyRow } from "../../runtime/store/journal/Journal.ts"
import * as CoveredCharges from "./CoveredCharges.ts"
import * as Included from "./Included.ts"
import { type PlanRepo, portion } from "./PlanRepo.ts"

/** The parts of a call's or a conference's debit of one type; empty when they are no longer known. */
export type Metered = (
  id: Id.CallId | Id.ConferenceId,
  type: EntryType
) => Effect.Effect<ReadonlyArray<Included.Charged>>

/**
 * Gives back what a plan includes, guide/money.md#plans. A debit is made as usual; the part of it that the plan covers
 * comes back some seconds later as a separate entry, keyed by the debit.
 *
 * The debits of a tenant are processed in order, each once. The position in the ledger, the quantities taken, and the
 * entries are one transaction under the lock of the subscription. So never more is taken than is included, however many
 * calls end at once.
 */
export const make = (repo: PlanRepo, metered: Metered) =>
  Effect.gen(function* () {
    const { transaction } = yield* Sql.make
    const journal = yield* Journal
    const accounts = yield* Accounts
    const charges = yield* CoveredCharges.make

    const partsOf = (type: EntryType, cents: number, referenceId: string | null) =>
      type === "lookup_charge"
        ? Effect.succeed([{ quantity: 1, restMicroUsd: (covered: number) => (1 - covered) * cents * 10_000 }])
        : referenceId !== null && (Id.is("call", referenceId) || Id.is("conf", referenceId))
          ? metered(referenceId, type)
          : Effect.succeed([])

    /** Returns true when there may be more. */
    const cover = Effect.fnUntraced(function* (tenantId: Id.TenantId) {
      const at = yield* Clock.currentTimeMillis
      return yield* Effect.gen(function* () {
        const subscription = yield* repo.find(tenantId, true)
        if (subscription === null || subscription.status !== "active") return false
        const debits = yield* repo.debits(tenantId, subscription.throughOrdinal)
        const last = debits.at(-1)
        if (last === undefined) return false
        const used: Partial<Record<Included.Field, number>> = { ...subscription.used }
        const money: Array<MoneyRow> = []
        const covered: Array<CoveredCharges.Covered> = []
        for (const { cents, id, referenceId, type } of debits) {
          const field = cents > 0 ? Included.fieldOf(type) : null
          const left = field === null ? 0 : (subscription.included[field] ?? 0) - (used[field] ?? 0)
          if (field === null || left <= 0) continue
          const { backCents, taken } = Included.take(left, cents, yield* partsOf(type, cents, referenceId))
          used[field] = (used[field] ?? 0) + taken
          if (backCents > 0) {
            const backId = Id.derive(`included ${id}`, "ledger")
            const isCall = type === "call_charge" && referenceId !== null && Id.is("call", referenceId)
            covered.push({ id: backId, debitId: id, callId: isCall ? referenceId : null, cents: backCents })
            money.push({
              id: backId,
              tenantId,
              cause: `included:${id}`,
              type: "adjustment",
              amountCents: backCents,
              description: `Included in the plan: ${taken} ${field.replaceAll("_", " ")}`,
              referenceType: "ledger_entry",
              referenceId: id,
              at
            })
          }
        }
        yield* repo.update({ ...subscription, used, throughOrdinal: last.place }, at)
        if (money.length > 0) {
          yield* charges.takeOff(tenantId, covered)
          yield* journal.commitWithin({ ...empty, money })
        }
        return debits.length === portion
      }).pipe(transaction)
    })

    /** Covers everything in the tenant's ledger so far. */
    return Effect.fn("Coverage.run")(function* (tenantId: Id.TenantId) {
      while (yield* cover(tenantId)) {
        // Each portion is a transaction, so that no lock is held for long.
      }
      yield* accounts.moneyMoved(tenantId)
    })
  })
