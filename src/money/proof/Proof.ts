import { Clock, Context, Effect, Layer } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import type { TenantId } from "../../domain/Id.ts"
import type { Funding } from "../funding/Funding.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Chain from "./Chain.ts"
import * as ProofRepo from "./ProofRepo.ts"
import * as ProofView from "./ProofView.ts"
import * as Sealer from "./Sealer.ts"
import * as Verification from "./Verification.ts"

export { Proof as View } from "./ProofView.ts"

/** The last reconciliation with the card payment processor. */
type Reconciled = NonNullable<Effect.Success<ReturnType<Funding["Service"]["reconciled"]>>>

const kind = "ledger.sealing"
/** How often it checks whether the day is sealed. */
const everyMs = 3_600_000
const timeoutMs = 1_800_000
const retry = { attempts: 3, firstMs: 60_000, maxMs: 600_000 }

/**
 * Proves that the money adds up, guide/money.md#proof: it compares the ledger with the balance and with the calls, and
 * seals it, so that no booking can be changed unnoticed.
 */
export class Proofs extends Context.Service<
  Proofs,
  {
    /** The result of all comparisons, read from the last seal on. Fails with 404 for an unknown tenant. */
    readonly proof: (tenantId: TenantId, processor: Reconciled | null) => Effect.Effect<ProofView.ProofView, ApiError>
    /** Runs one round of the sealer. The job does it by itself. */
    readonly seal: Effect.Effect<void>
    /** Checks everything from the first entry on, for one tenant or for all. */
    readonly verify: (tenantId: TenantId | null) => Effect.Effect<Verification.Verified>
  }
>()("trunkline/proof/Proofs") {
  static readonly layer = Layer.effect(
    Proofs,
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const repo = yield* ProofRepo.make
      const round = yield* Sealer.make(repo)
      const verify = Verification.make(repo)
      const seal = Effect.flatMap(Clock.currentTimeMillis, round)
      jobs.declare({ kind, concurrency: 1, timeoutMs, retry, everyMs, run: () => seal })

      const proof = Effect.fn("Proofs.proof")(function* (tenantId: TenantId, processor: Reconciled | null) {
        const checkedAt = yield* Clock.currentTimeMillis
        const sealed = yield* repo.lastSeal(tenantId)
        const after = {
          ordinal: sealed?.throughOrdinal ?? ProofRepo.starting,
          balanceCents: sealed?.balanceCents ?? 0
        }
        const standing = yield* repo.standing(tenantId, after)
        if (standing === null) return yield* ApiError.of("not_found", "no such tenant")
        const counted = yield* repo.counting(sealed, checkedAt - Sealer.callsSettleMs)
        const recent = yield* repo.calls(tenantId, counted?.callsUntil ?? null, null)
        const ledgerSumCents = after.balanceCents + standing.sumCents
        const ratedWithCost = (counted?.callsRated ?? 0) + recent.rated
        const debited = (counted?.callsDebited ?? 0) + recent.debited
        const exceptions: Array<{ readonly code: ProofView.ExceptionCode; readonly message: string }> = []
        if (standing.balanceCents !== ledgerSumCents)
          exceptions.push({
            code: "balance_differs",
            message: `the balance is ${standing.balanceCents} cents, and the ledger's sum ${ledgerSumCents}`
          })
        if (standing.wrong > 0)
          exceptions.push({
            code: "entry_differs",
            message: `entries behind the seal that do not say what they left: ${standing.wrong}`
          })
        if (ratedWithCost !== debited)
          exceptions.push({
            code: "call_not_debited",
            message: `rated calls without their debit: ${ratedWithCost - debited}`
          })
        // Payments that differ may cancel each other out in the sum.
        if (processor !== null && (processor.difference_cents !== 0 || processor.exceptions.length > 0))
          exceptions.push({
            code: "processor_differs",
            message:
              `the processor has ${processor.difference_cents} cents more than the ledger says; ` +
              `payments that differ: ${processor.exceptions.length}`
          })
        return ProofView.view({
          balanceCents: standing.balanceCents,
          ledgerSumCents,
          entries: (sealed?.totalEntries ?? 0) + standing.entries,
          sealed: {
            through: sealed?.throughAt ?? null,
            entries: sealed?.totalEntries ?? 0,
            chainHash: sealed?.chainHash ?? Chain.genesis(tenantId)
          },
          tail: { entries: standing.entries, sumCents: standing.sumCents },
          calls: { ratedWithCost, debited },
          attemptsOpen: standing.attemptsOpen,
          processor:
            processor === null
              ? null
              : {
                  chargedCents: processor.charged_cents,
                  refundedCents: processor.refunded_cents,
                  differenceCents: processor.difference_cents,
                  checkedAt: processor.checked_at
                },
          exceptions,
          checkedAt
        })
      })

      return Proofs.of({
        proof: (tenantId, processor) => proof(tenantId, processor),
        seal,
        verify: (tenantId) => verify(tenantId)
      })
    })
  )
}
