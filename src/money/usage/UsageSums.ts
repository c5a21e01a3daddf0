import * as TrunkLeg from "../../runtime/store/usage/TrunkLeg.ts"
import { figures } from "../../runtime/store/usage/UsageRow.ts"

/**
 * Turns the counts of commits into sums of days. One statement takes rows of `usage_tail`, keeps their entries in
 * `usage_detail`, and adds them to `usage_day`. So each snapshot has a cause in exactly one of tail and sums. The
 * trunks' share goes to `trunk_leg` in the same statement.
 */

/** Sums are kept for each day and each value of these. */
export const dimensions = ["customer_reference", "number", "destination"] as const
export type Dimension = (typeof dimensions)[number]

/** The entries of a row of the tail, `t`. */
export const entries = `jsonb_to_recordset(t.entries) AS e(id text, at float8, customer_reference text, number text,
    destination text, carried jsonb, ${figures.map((figure) => `${figure} bigint`).join(", ")})`

/** The most references of a day with sums of their own. Usage with others is summed with usage that has none. */
const namedReferences = 1_000

const names = figures.join(", ")

/** Parameter `$1` is the number of commits to take. Returns how many were taken. */
export const statement = `
WITH taken AS MATERIALIZED (
  DELETE FROM usage_tail WHERE ctid = ANY (ARRAY(SELECT ctid FROM usage_tail LIMIT $1::int)) RETURNING tenant_id, entries
),
entry AS MATERIALIZED (
  SELECT t.tenant_id, e.* FROM taken t CROSS JOIN LATERAL ${entries}
),
carried AS (${TrunkLeg.insert("entry WHERE carried IS NOT NULL")}
),
detail AS (
  INSERT INTO usage_detail (id, tenant_id, at, customer_reference, number, destination, ${names})
  SELECT id, tenant_id, to_timestamp(at / 1000.0), customer_reference, number, destination,
    ${figures.map((figure) => `coalesce(${figure}, 0)`).join(", ")}
  FROM entry
  ON CONFLICT (id) DO NOTHING
  RETURNING *
),
dated AS MATERIALIZED (
  SELECT *, (at AT TIME ZONE 'UTC')::date AS day FROM detail
),
fresh AS MATERIALIZED (
  SELECT tenant_id, day, value, row_number() OVER (PARTITION BY tenant_id, day ORDER BY value) AS place
  FROM (SELECT DISTINCT tenant_id, day, customer_reference AS value FROM dated WHERE customer_reference <> '') r
  WHERE NOT EXISTS (
    SELECT 1 FROM usage_day d
    WHERE d.tenant_id = r.tenant_id AND d.kind = 'customer_reference' AND d.day = r.day AND d.value = r.value
  )
),
named AS MATERIALIZED (
  SELECT f.tenant_id, f.day, (
    SELECT count(*) FROM (
      SELECT 1 FROM usage_day d WHERE d.tenant_id = f.tenant_id AND d.kind = 'customer_reference' AND d.day = f.day
      LIMIT ${namedReferences}
    ) AS there
  ) AS there FROM (SELECT DISTINCT tenant_id, day FROM fresh) f
),
beyond AS MATERIALIZED (
  SELECT f.tenant_id, f.day, f.value FROM fresh f JOIN named n ON n.tenant_id = f.tenant_id AND n.day = f.day
  WHERE f.place + n.there > ${namedReferences}
),
sums AS (
  INSERT INTO usage_day (tenant_id, kind, day, value, ${names})
  SELECT u.tenant_id, of.kind, u.day, of.value, ${figures.map((figure) => `sum(u.${figure})`).join(", ")}
  FROM dated u
    LEFT JOIN beyond b ON b.tenant_id = u.tenant_id AND b.day = u.day AND b.value = u.customer_reference
    CROSS JOIN LATERAL (VALUES
      ('', ''),
      ('customer_reference', CASE WHEN b.value IS NULL THEN coalesce(u.customer_reference, '') ELSE '' END),
      ('number', coalesce(u.number, '')),
      ('destination', coalesce(u.destination, ''))
    ) AS of(kind, value)
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, kind, day, value) DO UPDATE SET
    ${figures.map((figure) => `${figure} = usage_day.${figure} + EXCLUDED.${figure}`).join(", ")}
)
SELECT (SELECT count(*) FROM taken) AS taken`
