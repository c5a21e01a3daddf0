import type * as Id from "../../domain/Id.ts"

/** An endpoint with due rows, as a row that `due` returns. */
export interface Due {
  readonly partition: number
  readonly tenantId: Id.TenantId
  readonly endpoint: string
  /** How long the oldest of its rows that were found has been due. */
  readonly dueForMs: number
}

/**
 * How many endpoints of one tenant one look reaches. Each look begins at another one, so the next looks reach the
 * others.
 */
const perTenant = 128

/** Walks an index of unfinished rows: from tenant to tenant, and from endpoint to endpoint within each. */
const steps = (name: string, arm: string, due: string): string => {
  const next = (of: string) => {
    const first = (where: string, wrapped: string) => `
      (SELECT d.destination, ${wrapped} AS wrapped FROM webhook_delivery d
        WHERE ${where} AND d.partition = $1::int AND d.tenant_id = ${of}.tenant_id AND d.due_at IS NOT NULL AND ${arm}
        ORDER BY d.destination LIMIT (SELECT 1))`
    return `(
      ${first(`d.destination > ${of}.destination AND (NOT ${of}.wrapped OR d.destination <= $2)`, `${of}.wrapped`)}
      UNION ALL
      ${first(`NOT ${of}.wrapped AND d.destination <= $2`, "true")}
      LIMIT 1)`
  }
  return `
${name}_tenants AS (
  (SELECT d.tenant_id FROM webhook_delivery d
    WHERE d.partition = $1::int AND d.due_at IS NOT NULL AND ${arm} ORDER BY d.tenant_id LIMIT (SELECT 1))
  UNION ALL
  SELECT next.tenant_id FROM ${name}_tenants t CROSS JOIN LATERAL (
    SELECT d.tenant_id FROM webhook_delivery d
    WHERE d.partition = $1::int AND d.tenant_id > t.tenant_id AND d.due_at IS NOT NULL AND ${arm}
    ORDER BY d.tenant_id LIMIT (SELECT 1)
  ) next
),
${name}_endpoints AS (
  SELECT t.tenant_id, n.destination, n.wrapped, 1 AS step
  FROM (SELECT tenant_id, $2::text AS destination, false AS wrapped FROM ${name}_tenants) t CROSS JOIN LATERAL ${next("t")} n
  UNION ALL
  SELECT e.tenant_id, n.destination, n.wrapped, e.step + 1
  FROM ${name}_endpoints e CROSS JOIN LATERAL ${next("e")} n WHERE e.step < ${perTenant}
),
${name}_due AS (
  SELECT e.tenant_id, e.destination, nearest.due_at FROM ${name}_endpoints e CROSS JOIN LATERAL (
    SELECT d.due_at FROM webhook_delivery d
    WHERE d.partition = $1::int AND d.tenant_id = e.tenant_id AND d.destination = e.destination AND d.due_at <= now()
      AND ${arm}
    ORDER BY ${due} LIMIT (SELECT 1)
  ) nearest
)`
}

/**
 * Finds endpoints of a partition (`$1`) with due rows, those of each tenant from the name `$2` on. A long backlog costs
 * no more than a short one, and a tenant with thousands of endpoints no more than one with `perTenant`.
 */
export const due = `
WITH RECURSIVE ${steps("lane", "d.in_lane", "d.lane, d.sequence, d.ordinal")},
${steps("retry", "NOT d.in_lane", "d.due_at, d.ordinal")}
SELECT $1::int AS partition, tenant_id, destination AS endpoint,
  extract(epoch FROM now() - min(due_at)) * 1000 AS due_for_ms
FROM (SELECT * FROM lane_due UNION ALL SELECT * FROM retry_due) both_kinds GROUP BY tenant_id, destination
ORDER BY min(due_at)
`
