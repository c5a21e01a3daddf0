import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SubscriptionId } from "../../domain/Id.ts"
import type { Outcome } from "../claim/DeliveryQueue.ts"

/**
 * The rule by which an endpoint is disabled, guide/webhooks.md#an-endpoint-that-fails: its attempts have failed for
 * `afterDays` days without a success in between, and there were at least `attempts` of them.
 */
export interface Rule {
  /** Null: no endpoint is disabled. */
  readonly afterDays: number | null
  readonly attempts: number
}

export const attempts = 10

export interface Failed {
  readonly id: SubscriptionId
  readonly failedAttempts: number
  readonly days: number
}

/** The reason for the tenant, in the audit line and in the log of the deliveries that waited. */
export const reason = ({ days, failedAttempts }: Omit<Failed, "id">): string =>
  `the endpoint was disabled: it has failed for ${days} days, ${failedAttempts} times in a row`

/**
 * Counts failures. `$1`: JSON array of `{ id, failed }`; `$2`, `$3`: days and attempts of the rule. Returns the
 * endpoints that it disables. A row that another transaction has locked is skipped, because its next failure counts.
 */
const count = `
WITH failure AS MATERIALIZED (
  SELECT r.id, r.failed FROM jsonb_to_recordset($1::jsonb) AS r(id text, failed int)
),
locked AS MATERIALIZED (
  SELECT s.id FROM webhook_subscription s
  WHERE s.id = ANY (ARRAY(SELECT id FROM failure)) AND s.is_active FOR NO KEY UPDATE SKIP LOCKED
),
counted AS (
  UPDATE webhook_subscription s
  SET failing_since = coalesce(s.failing_since, now()), failed_attempts = s.failed_attempts + f.failed
  FROM locked l JOIN failure f ON f.id = l.id WHERE s.id = ANY (ARRAY(SELECT id FROM locked)) AND s.id = l.id
  RETURNING s.id, s.failing_since, s.failed_attempts
)
SELECT id, failed_attempts, extract(days FROM now() - failing_since) AS days FROM counted
WHERE failing_since <= now() - $2::float8 * interval '1 day' AND failed_attempts >= $3::int
`

const recover = `
UPDATE webhook_subscription SET failing_since = NULL, failed_attempts = 0
WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb))) AND failing_since IS NOT NULL
`

/** Records since when an endpoint has been failing, and how often. A success costs a statement only after a failure. */
export const make = (rule: Rule) =>
  Effect.map(SqlClient.SqlClient, (sql) => ({
    /** Gives the endpoints to disable. Only failures of sent requests count. */
    note: (outcomes: ReadonlyArray<Outcome>) =>
      Effect.gen(function* () {
        const recovered = new Set<string>()
        const failures = new Map<string, number>()
        for (const { endpoint, sentAt, status, wasFailing } of outcomes)
          if (status === "succeeded") {
            if (wasFailing) recovered.add(endpoint)
          } else if (sentAt !== null) failures.set(endpoint, (failures.get(endpoint) ?? 0) + 1)
        if (recovered.size > 0) yield* sql.unsafe(recover, [JSON.stringify([...recovered])])
        if (failures.size === 0) return []
        const failed = JSON.stringify([...failures].map(([id, failed]) => ({ id, failed })))
        const found = yield* sql.unsafe<Failed>(count, [failed, rule.afterDays ?? 0, rule.attempts])
        return rule.afterDays === null ? [] : found
      }).pipe(sql.withTransaction)
  }))
