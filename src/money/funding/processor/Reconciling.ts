import { Clock, Effect, Metric } from "effect"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import type { LedgerEntryId, TenantId } from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { type Movement, type PaymentError, Payments } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { Exception, Reconciliation } from "./Reconciliation.ts"
import type { Reversals } from "./Reversals.ts"

const dayMs = 24 * 3_600_000
/** How far the daily round looks back, so that the next round makes up for one that failed. */
const roundMs = 4 * dayMs

/** The clocks of two companies differ. */
const slackMs = 3_600_000

const difference = Metric.gauge("payment_difference_cents", {
  description: "What the card processor has moved less what the ledger says, of the last days; 0 when all is well"
})
const exceptionCount = Metric.gauge("payment_exceptions", {
  description: "Payments of the last days where they differ"
})

/** An attempt, and its amount in the ledger with everything that went back. */
interface Booked {
  readonly id: LedgerEntryId
  readonly tenantId: TenantId
  readonly intentId: string | null
  readonly settledAt: number | null
  readonly cents: number
}

/**
 * Compares the processor with the ledger, payment by payment, guide/money.md#reconciliation. A movement that the ledger
 * lacks, because every message about it was lost, is booked first; a difference that remains is an exception.
 */
export const make = Effect.fnUntraced(function* (reversals: Reversals) {
  const { all, sql, transaction } = yield* Sql.make
  const jobs = yield* Jobs
  const payments = yield* Payments
  const journal = yield* Journal
  const entropy = yield* Entropy
  const repo = yield* FundingRepo.make

  const booked = (tenantId: TenantId | null, sinceMs: number) =>
    all<Booked>`
      SELECT a.id, a.tenant_id, a.intent_id, a.settled_at,
        coalesce((SELECT amount_cents FROM ledger WHERE id = a.id), 0) + coalesce((SELECT sum(amount_cents) FROM ledger l
          WHERE l.tenant_id = a.tenant_id AND l.reference_type = 'topup' AND l.reference_id = a.id), 0) AS cents
      FROM payment_attempt a
      WHERE a.processor = ${payments.name} AND (${tenantId}::text IS NULL OR a.tenant_id = ${tenantId}::text::uuid)
        AND (a.intent_id IS NOT NULL OR a.status = 'succeeded') AND a.created_at >= ${timestamptz(sinceMs)}`

  /** Books movements without an entry. A payment without an attempt here belongs to another service. */
  const heal = Effect.fnUntraced(function* (
    movements: ReadonlyArray<Movement>,
    sinceMs: number,
    tenantId: TenantId | null
  ) {
    const known = new Map((yield* booked(tenantId, sinceMs - dayMs)).map((attempt) => [attempt.intentId, attempt]))
    const net = netOf(movements)
    for (const [intentId, { cents, types }] of net) {
      const attempt = known.get(intentId)
      if (attempt?.cents === cents) continue
      if (types.has("charge") && attempt?.settledAt == null) yield* reversals.intent(yield* payments.intent(intentId))
      if (types.has("refund")) yield* reversals.refunds(intentId, yield* payments.refunds(intentId))
      for (const { id, type } of movements.filter((movement) => movement.intentId === intentId))
        if (type === "dispute") yield* reversals.dispute(yield* payments.dispute(id))
    }
  })

  const compare = Effect.fnUntraced(function* (
    movements: ReadonlyArray<Movement>,
    sinceMs: number,
    tenantId: TenantId | null
  ) {
    // An attempt is made before its charge, so the movements may lack charges of an attempt that was made before this.
    const attempts = (yield* booked(tenantId, sinceMs)).filter(({ intentId }) => intentId !== null)
    const net = netOf(movements)
    const exceptions = attempts.flatMap((attempt): ReadonlyArray<Exception> => {
      const cents = net.get(attempt.intentId ?? "")?.cents ?? 0
      return cents === attempt.cents
        ? []
        : [
            {
              tenant_id: attempt.tenantId,
              attempt_id: attempt.id,
              intent_id: attempt.intentId,
              processor_cents: cents,
              ledger_cents: attempt.cents
            }
          ]
    })
    const ours = new Set(attempts.map(({ intentId }) => intentId))
    const counted = movements.filter(({ intentId }) => ours.has(intentId))
    const sum = (wanted: (movement: Movement) => boolean) =>
      counted.reduce((cents, movement) => cents + (wanted(movement) ? movement.amountCents : 0), 0)
    const charged = sum(({ type }) => type === "charge")
    const refunded = -sum(({ type }) => type !== "charge")
    return {
      charged_cents: charged,
      refunded_cents: refunded,
      difference_cents: charged - refunded - attempts.reduce((cents, attempt) => cents + attempt.cents, 0),
      exceptions,
      checked_at: Timestamp.format(yield* Clock.currentTimeMillis)
    } satisfies Reconciliation
  })

  const reconcile: (tenantId: TenantId | null, sinceMs?: number) => Effect.Effect<Reconciliation, PaymentError> =
    Effect.fn("Reconciling.reconcile")(function* (tenantId: TenantId | null, sinceMs = 0) {
      const customerId = tenantId === null ? null : yield* repo.customer(tenantId, payments.name)
      const look = Effect.gen(function* () {
        const movements =
          tenantId !== null && customerId === null
            ? []
            : yield* payments.movements({ customerId, sinceMs: Math.max(0, sinceMs - slackMs) })
        yield* heal(movements, sinceMs, tenantId)
        return yield* compare(movements, sinceMs, tenantId)
      })
      const first = yield* look
      const result = first.exceptions.length === 0 ? first : standing(first, yield* look)
      if (tenantId !== null) yield* keep(tenantId, result)
      return result
    })

  /** Writes a line in the audit log when the result differs from the previous one. */
  const keep = Effect.fnUntraced(function* (tenantId: TenantId, result: Reconciliation) {
    const before = yield* last(tenantId)
    const told = (of: Reconciliation) => ({
      charged_cents: of.charged_cents,
      refunded_cents: of.refunded_cents,
      difference_cents: of.difference_cents,
      exceptions: of.exceptions.length
    })
    const [from, to] = [before === null ? null : told(before), told(result)]
    const fields = Object.keys(to) as ReadonlyArray<keyof typeof to>
    const changes = fields.flatMap((field) =>
      from?.[field] === to[field] ? [] : [{ field, from: from?.[field] ?? null, to: to[field] }]
    )
    const line = {
      tenantId,
      at: yield* Clock.currentTimeMillis,
      seed: entropy.hex(16),
      actor: Audit.system,
      action: "balance.reconciled",
      resourceType: "balance",
      resourceId: tenantId,
      changes
    }
    yield* write(tenantId, result).pipe(
      Effect.andThen(
        changes.length === 0 ? Effect.void : journal.commitWithin({ ...empty, audit: [Audit.line(line)] })
      ),
      transaction
    )
  })

  const write = (tenantId: TenantId, result: Reconciliation) => sql`
      INSERT INTO payment_reconciliation (tenant_id, charged_cents, refunded_cents, difference_cents, exceptions, checked_at)
      VALUES (${tenantId}, ${result.charged_cents}, ${result.refunded_cents}, ${result.difference_cents},
        ${JSON.stringify(result.exceptions)}::text::jsonb, ${result.checked_at}::text::timestamptz)
      ON CONFLICT (tenant_id) DO UPDATE SET charged_cents = excluded.charged_cents,
        refunded_cents = excluded.refunded_cents, difference_cents = excluded.difference_cents,
        exceptions = excluded.exceptions, checked_at = excluded.checked_at`

  /** The last reconciliation of a tenant; null when there was none. */
  const last = (tenantId: TenantId): Effect.Effect<Reconciliation | null> =>
    Effect.map(
      Effect.orDie(
        sql<Reconciliation>`
        SELECT charged_cents, refunded_cents, difference_cents, exceptions,
          to_char(checked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS checked_at
        FROM payment_reconciliation WHERE tenant_id = ${tenantId}`.withoutTransform
      ),
      ([row]) => row ?? null
    )

  /** Reconciles the last days of all tenants, then each tenant that paid in them, to update its own figures. */
  const round = Effect.gen(function* () {
    const sinceMs = (yield* Clock.currentTimeMillis) - roundMs
    const result = yield* reconcile(null, sinceMs)
    yield* Metric.update(difference, result.difference_cents)
    yield* Metric.update(exceptionCount, result.exceptions.length)
    if (result.exceptions.length > 0)
      yield* Effect.logError("the card processor and the ledger differ", { exceptions: result.exceptions.slice(0, 20) })
    const paid = new Set((yield* booked(null, sinceMs)).map(({ tenantId }) => tenantId))
    yield* Effect.forEach(paid, (tenantId) => reconcile(tenantId), { discard: true })
  })
  jobs.declare({
    kind: "funding.reconcile",
    everyMs: dayMs,
    concurrency: 1,
    timeoutMs: 3_600_000,
    retry: { attempts: Infinity, firstMs: 60_000, maxMs: 3_600_000 },
    run: () => round
  })

  return { reconcile, last } as const
})

/** Keeps only exceptions that a second look repeats: a payment under way does not differ twice in the same way. */
const standing = (before: Reconciliation, after: Reconciliation): Reconciliation => {
  const said = new Map(before.exceptions.map((exception) => [exception.attempt_id, exception]))
  const exceptions = after.exceptions.filter(({ attempt_id, ledger_cents, processor_cents }) => {
    const earlier = said.get(attempt_id)
    return earlier?.ledger_cents === ledger_cents && earlier.processor_cents === processor_cents
  })
  const difference_cents = exceptions.reduce((sum, of) => sum + of.processor_cents - of.ledger_cents, 0)
  return { ...after, exceptions, difference_cents }
}

const netOf = (movements: ReadonlyArray<Movement>) => {
  const net = new Map<string, { readonly cents: number; readonly types: ReadonlySet<Movement["type"]> }>()
  for (const { amountCents, intentId, type } of movements) {
    if (intentId === null) continue
    const before = net.get(intentId)
    net.set(intentId, {
      cents: (before?.cents ?? 0) + amountCents,
      types: new Set([...(before?.types ?? []), type])
    })
  }
  return net
}
