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

/** The movements of one intent at the processor, added up. */
interface Payment {
  readonly intentId: string
  readonly cents: number
  readonly chargedCents: number
  readonly currency: string
  readonly attemptId: string | null
  readonly customerId: string | null
  readonly types: ReadonlySet<Movement["type"]>
  readonly disputes: ReadonlyArray<string>
}

/** A payment of this service that none of the compared attempts has. */
interface Stray {
  readonly intentId: string
  readonly tenantId: TenantId
  readonly attemptId: LedgerEntryId | null
  /** True when the attempt has this intent, and was made before the time that is compared. */
  readonly hasIntent: boolean
}

/**
 * Compares the processor with the ledger, payment by payment, guide/money.md#reconciliation. A movement that the ledger
 * lacks, because every message about it was lost, is booked first; a difference that remains is an exception.
 */
export const make = Effect.fnUntraced(function* (reversals: Reversals) {
  const { all, sql, transaction } = yield* Sql.make
  const jobs = yield* Jobs
  const payments = yield* Payments
  const { name: processor } = payments
  const journal = yield* Journal
  const entropy = yield* Entropy
  const repo = yield* FundingRepo.make

  const booked = (tenantId: TenantId | null, sinceMs: number) =>
    all<Booked>`
      SELECT a.id, a.tenant_id, a.intent_id, a.settled_at,
        coalesce((SELECT amount_cents FROM ledger WHERE id = a.id), 0) + coalesce((SELECT sum(amount_cents) FROM ledger l
          WHERE l.tenant_id = a.tenant_id AND l.reference_type = 'topup' AND l.reference_id = a.id), 0) AS cents
      FROM payment_attempt a
      WHERE a.processor = ${processor} AND (${tenantId}::text IS NULL OR a.tenant_id = ${tenantId}::text::uuid)
        AND (a.intent_id IS NOT NULL OR a.status = 'succeeded') AND a.created_at >= ${timestamptz(sinceMs)}`

  /**
   * The payments among these that belong to this service, without an attempt of `booked`: an attempt that was made
   * earlier has their intent, their charge names an attempt, or a customer of a tenant paid. All others belong to other
   * services on the processor's account, which is not asked for them.
   */
  const stray = (payments: ReadonlyArray<Payment>, tenantId: TenantId | null) =>
    payments.length === 0
      ? Effect.succeed([])
      : all<Stray>`
        SELECT p.intent_id, coalesce(i.tenant_id, a.tenant_id, c.tenant_id) AS tenant_id,
          coalesce(i.id, a.id) AS attempt_id, i.id IS NOT NULL AS has_intent
        FROM unnest(${payments.map(({ intentId }) => intentId)}::text[],
          ${payments.map(({ attemptId }) => attemptId)}::text[],
          ${payments.map(({ customerId }) => customerId)}::text[]) AS p (intent_id, attempt_id, customer_id)
        LEFT JOIN payment_attempt i ON i.processor = ${processor} AND i.intent_id = p.intent_id
        LEFT JOIN payment_attempt a ON a.processor = ${processor} AND a.id = p.attempt_id
        LEFT JOIN payment_customer c ON c.processor = ${processor} AND c.customer_id = p.customer_id
        WHERE coalesce(i.id, a.id, c.customer_id) IS NOT NULL AND (${tenantId}::text IS NULL
          OR coalesce(i.tenant_id, a.tenant_id, c.tenant_id) = ${tenantId}::text::uuid)`

  /** Books movements without an entry. */
  const heal = Effect.fnUntraced(function* (
    moved: ReadonlyMap<string, Payment>,
    sinceMs: number,
    tenantId: TenantId | null
  ) {
    const known = byIntent(yield* booked(tenantId, sinceMs - dayMs))
    const others = [...moved.values()].filter(({ intentId }) => !known.has(intentId))
    const ours = new Set((yield* stray(others, tenantId)).map(({ intentId }) => intentId))
    for (const payment of moved.values()) {
      const { disputes, intentId, types } = payment
      const attempt = known.get(intentId)
      if (attempt === undefined ? !ours.has(intentId) : agrees(attempt, payment)) continue
      if (types.has("charge") && attempt?.settledAt == null) yield* reversals.intent(yield* payments.intent(intentId))
      if (types.has("refund")) yield* reversals.refunds(intentId, yield* payments.refunds(intentId))
      for (const id of disputes) yield* reversals.dispute(yield* payments.dispute(id))
    }
  })

  const compare = Effect.fnUntraced(function* (
    moved: ReadonlyMap<string, Payment>,
    sinceMs: number,
    tenantId: TenantId | null
  ) {
    // An attempt is made before its charge, so the movements may lack charges of an attempt that was made before this.
    const attempts = byIntent(yield* booked(tenantId, sinceMs))
    const others = [...moved.values()].filter(
      ({ cents, intentId, types }) => types.has("charge") && cents !== 0 && !attempts.has(intentId)
    )
    const unbooked = (yield* stray(others, tenantId)).filter(({ hasIntent }) => !hasIntent)
    const exceptions: Array<Exception> = []
    for (const [intentId, attempt] of attempts) {
      const payment = moved.get(intentId)
      if (!agrees(attempt, payment))
        exceptions.push(exceptionOf({ ...attempt, attemptId: attempt.id, intentId }, payment, attempt.cents))
    }
    for (const { attemptId, intentId, tenantId: of } of unbooked)
      exceptions.push(exceptionOf({ attemptId, intentId, tenantId: of }, moved.get(intentId), 0))
    const ours = [...attempts.keys(), ...unbooked.map(({ intentId }) => intentId)].flatMap((intentId) => {
      const payment = moved.get(intentId)
      return payment === undefined || payment.currency !== "usd" ? [] : [payment]
    })
    const charged = ours.reduce((sum, { chargedCents }) => sum + chargedCents, 0)
    const net = ours.reduce((sum, { cents }) => sum + cents, 0)
    return {
      charged_cents: charged,
      refunded_cents: charged - net,
      difference_cents: differenceOf(exceptions),
      exceptions,
      checked_at: Timestamp.format(yield* Clock.currentTimeMillis)
    } satisfies Reconciliation
  })

  const reconcile: (tenantId: TenantId | null, sinceMs?: number) => Effect.Effect<Reconciliation, PaymentError> =
    Effect.fn("Reconciling.reconcile")(function* (tenantId: TenantId | null, sinceMs = 0) {
      const customers = tenantId === null ? [null] : yield* repo.customers(tenantId, processor)
      const look = Effect.gen(function* () {
        const movements = yield* Effect.forEach(customers, (customerId) =>
          payments.movements({ customerId, sinceMs: Math.max(0, sinceMs - slackMs) }).pipe(
            // The customer is one of another account, and so are its payments.
            Effect.catchIf(
              ({ reason }) => reason === "gone",
              () => Effect.succeed([])
            )
          )
        )
        const moved = paymentsOf(movements.flat())
        yield* heal(moved, sinceMs, tenantId)
        return yield* compare(moved, sinceMs, tenantId)
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
    const differing = result.exceptions.map(({ tenant_id: tenantId }) => ({ tenantId }))
    if (result.exceptions.length > 0)
      yield* Effect.logError("the card processor and the ledger differ", { exceptions: result.exceptions.slice(0, 20) })
    const paid = new Set([...(yield* booked(null, sinceMs)), ...differing].map(({ tenantId }) => tenantId))
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
  const keyOf = ({ attempt_id, currency, intent_id, ledger_cents, processor_cents }: Exception) =>
    [attempt_id, intent_id, processor_cents, currency, ledger_cents].join(" ")
  const said = new Set(before.exceptions.map(keyOf))
  const exceptions = after.exceptions.filter((exception) => said.has(keyOf(exception)))
  return { ...after, exceptions, difference_cents: differenceOf(exceptions) }
}

/** Payments that agree add nothing to the difference. An amount in another currency is no difference in cents. */
const differenceOf = (exceptions: ReadonlyArray<Exception>): number =>
  exceptions.reduce(
    (sum, { currency, ledger_cents, processor_cents }) =>
      sum + (currency === "usd" ? processor_cents : 0) - ledger_cents,
    0
  )

const exceptionOf = (
  of: { readonly tenantId: TenantId; readonly attemptId: string | null; readonly intentId: string },
  payment: Payment | undefined,
  ledgerCents: number
): Exception => ({
  tenant_id: of.tenantId,
  attempt_id: of.attemptId,
  intent_id: of.intentId,
  processor_cents: payment?.cents ?? 0,
  currency: payment?.currency ?? "usd",
  ledger_cents: ledgerCents
})

const agrees = ({ cents }: Booked, payment: Payment | undefined): boolean =>
  payment === undefined ? cents === 0 : payment.cents === cents && payment.currency === "usd"

const byIntent = (attempts: ReadonlyArray<Booked>): ReadonlyMap<string, Booked> =>
  new Map(attempts.flatMap((attempt) => (attempt.intentId === null ? [] : [[attempt.intentId, attempt] as const])))

/** The movements by their intents. A payment has one currency. */
const paymentsOf = (movements: ReadonlyArray<Movement>): ReadonlyMap<string, Payment> => {
  const moved = new Map<string, Payment>()
  for (const { amountCents, attemptId, currency, customerId, id, intentId, type } of movements) {
    if (intentId === null) continue
    const before = moved.get(intentId)
    moved.set(intentId, {
      intentId,
      currency,
      attemptId: before?.attemptId ?? attemptId,
      customerId: before?.customerId ?? customerId,
      cents: (before?.cents ?? 0) + amountCents,
      chargedCents: (before?.chargedCents ?? 0) + (type === "charge" ? amountCents : 0),
      types: new Set([...(before?.types ?? []), type]),
      disputes: [...(before?.disputes ?? []), ...(type === "dispute" ? [id] : [])]
    })
  }
  return moved
}
