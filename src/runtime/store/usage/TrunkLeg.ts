import type { RouteId } from "../../../domain/Id.ts"

/** An answered leg, as its trunk counts it. */
export interface CarriedLeg {
  readonly direction: "inbound" | "outbound"
  /** The first digits of the called number, as many as a rate deck distinguishes; null: unknown. */
  readonly digits: string | null
  /** When it was answered, in epoch milliseconds. */
  readonly started_at: number
  /** The started minutes. */
  readonly minutes: number
  /** The started seconds. Rows of an earlier version that still wait to be counted have none. */
  readonly seconds: number
}

/** The legs that a trunk carried of an ended call, and the charge for their minutes. */
export interface Carried {
  readonly route_id: RouteId
  readonly debited_cents: number
  readonly legs: ReadonlyArray<CarriedLeg>
}

/**
 * SQL that writes the rows of `trunk_leg` from rows `(tenant_id, id, at, destination, carried)`: one for each leg,
 * once. Each has the charge of the whole call.
 */
export const insert = (from: string): string => `
  INSERT INTO trunk_leg (call_id, ordinal, tenant_id, route_id, destination, ended_at, direction, digits, started_at, minutes,
    seconds, debited_cents)
  SELECT c.id, l.ordinal, c.tenant_id, c.carried->>'route_id', c.destination, to_timestamp(c.at / 1000.0), l.leg->>'direction',
    l.leg->>'digits', to_timestamp((l.leg->>'started_at')::float8 / 1000.0), (l.leg->>'minutes')::int,
    (l.leg->>'seconds')::int, (c.carried->>'debited_cents')::bigint
  FROM (SELECT * FROM ${from}) AS c CROSS JOIN LATERAL jsonb_array_elements(c.carried->'legs') WITH ORDINALITY AS l(leg, ordinal)
  ON CONFLICT (call_id, ordinal) DO NOTHING`
