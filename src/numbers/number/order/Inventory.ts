import { Effect } from "effect"
import * as TimeSlices from "../../../domain/time/TimeSlices.ts"
import { isE164 } from "../../../domain/E164.ts"
import type { TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import { type AvailableNumberView, type NumberType, numberTypes } from "../NumberView.ts"

/** A number of the operator, with its price. */
export interface InventoryEntry {
  readonly phoneNumber: string
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string
  readonly numberType: NumberType
  readonly nationalDestinationCode: string | null
  readonly region: string | null
  readonly locality: string | null
  readonly rateCenter: string | null
  /** Lower-case words, for example `voice`. */
  readonly features: ReadonlyArray<string>
  readonly upfrontCostCents: number
  readonly monthlyCostCents: number
}

/**
 * The criteria of a search, guide/numbers.md#searching. Digit patterns may begin with `+`, and are then compared with
 * the whole number.
 */
export interface Search {
  readonly countryCode: string
  readonly numberType: NumberType
  readonly nationalDestinationCode?: string
  readonly contains?: string
  /** Without `+`, the digits after the country code (from the national destination code on). */
  readonly startsWith?: string
  readonly endsWith?: string
  /** Case-insensitive. */
  readonly locality?: string
  /** Case-insensitive. */
  readonly region?: string
  /** A number must have all of them. */
  readonly features?: ReadonlyArray<string>
  readonly limit: number
}

/** The tenant that looks for a number, and the time. */
interface Asker {
  readonly tenantId: TenantId
  /** Epoch milliseconds. */
  readonly at: number
}

/** `+12025550100` to `…0149` are the simulated phones, which no tenant can own. */
const isSimulated = (phoneNumber: string): boolean => /^\+120255501[0-4][0-9]$/.test(phoneNumber)

/** The inventory of an empty database. */
export const starter: ReadonlyArray<InventoryEntry> = Array.from({ length: 50 }, (_, index) => ({
  phoneNumber: `+12025550${150 + index}`,
  countryCode: "US",
  numberType: "local",
  nationalDestinationCode: "202",
  region: "DC",
  locality: "Washington",
  rateCenter: null,
  features: ["voice"],
  upfrontCostCents: 0,
  monthlyCostCents: 100
}))

const maxCents = 100_000_000
const isCents = (value: number) => Number.isInteger(value) && value >= 0 && value <= maxCents

/** The fault of an entry, naming the number; null when there is none. */
export const faultOf = (entry: InventoryEntry): string | null => {
  const of = (detail: string) => `${entry.phoneNumber}: ${detail}`
  if (!isE164(entry.phoneNumber)) return of("is not E.164")
  if (isSimulated(entry.phoneNumber)) return of("is a simulated phone")
  if (!/^[A-Z]{2}$/.test(entry.countryCode)) return of("country_code must be two upper-case letters")
  if (!numberTypes.includes(entry.numberType)) return of(`number_type must be one of ${numberTypes.join(", ")}`)
  const code = entry.nationalDestinationCode
  if (code !== null && !(/^[0-9]{1,8}$/.test(code) && entry.phoneNumber.includes(code)))
    return of("national_destination_code must be digits of the number")
  if (!entry.features.every((feature) => /^[a-z0-9_]{1,32}$/.test(feature)))
    return of("features must be lower-case words")
  if (!isCents(entry.upfrontCostCents) || !isCents(entry.monthlyCostCents))
    return of(`costs must be whole cents up to ${maxCents}`)
  return null
}

/** The first fault of the entries; null when there is none. */
export function* fault(entries: ReadonlyArray<InventoryEntry>): TimeSlices.Work<string | null> {
  const seen = new Set<string>()
  for (const entry of entries) {
    const found = seen.has(entry.phoneNumber) ? `${entry.phoneNumber}: appears twice` : faultOf(entry)
    if (found !== null) return found
    seen.add(entry.phoneNumber)
    yield
  }
  return null
}

/** The most entries in a statement: this thread writes them in one turn. */
const portion = 2_000

/**
 * Rows of `inventory`. A number is available while it has no living owner. It is available to everybody when its last
 * release is long enough ago, and before that, for a while, to its last owner (guide/numbers.md#releasing). Only the
 * last release says whether it is held for that owner: earlier ones may have been less strict. Failed statements die.
 */
export const make = Effect.map(Sql.make, ({ all, column, done, some, sql }) => {
  const columns = sql`i.phone_number, i.number_type, i.country_code, i.national_destination_code, i.region, i.locality,
    i.rate_center, i.features, i.upfront_cost_cents, i.monthly_cost_cents, true AS reservable,
    true AS immediate_activation`
  const unowned = ({ at, tenantId }: Asker) => {
    const now = timestamptz(at)
    return sql`NOT EXISTS (SELECT FROM phone_number p WHERE p.phone_number = i.phone_number
        AND p.status IN ('pending', 'active', 'port_pending'))
      AND (NOT EXISTS (SELECT FROM phone_number p WHERE p.phone_number = i.phone_number AND p.aged_until > ${now})
        OR (SELECT p.tenant_id = ${tenantId} AND p.held_until > ${now} FROM phone_number p
          WHERE p.phone_number = i.phone_number AND p.aged_until IS NOT NULL
          ORDER BY p.released_at DESC, p.created_at DESC LIMIT 1))
      AND i.phone_number !~ '^\\+120255501[0-4][0-9]$'`
  }
  const whole = (pattern: string) => pattern.startsWith("+")

  return {
    /** Within the caller's transaction. Imports lock the numbers in one order, so they never wait for each other. */
    put: Effect.fnUntraced(function* (entries: ReadonlyArray<InventoryEntry>) {
      const ordered = yield* TimeSlices.run(() =>
        TimeSlices.sorted(entries, (one, other) => (one.phoneNumber < other.phoneNumber ? -1 : 1))
      )
      for (let at = 0; at < ordered.length; at += portion)
        yield* done`
          INSERT INTO inventory (phone_number, country_code, number_type, national_destination_code, region, locality,
            rate_center, features, upfront_cost_cents, monthly_cost_cents)
          SELECT "phoneNumber", "countryCode", "numberType", "nationalDestinationCode", region, locality, "rateCenter",
            features, "upfrontCostCents", "monthlyCostCents"
          FROM jsonb_to_recordset(${JSON.stringify(ordered.slice(at, at + portion))}::text::jsonb) AS r(
            "phoneNumber" text, "countryCode" text, "numberType" text, "nationalDestinationCode" text, region text,
            locality text, "rateCenter" text, features text[], "upfrontCostCents" bigint, "monthlyCostCents" bigint)
          ORDER BY 1
          ON CONFLICT (phone_number) DO UPDATE SET country_code = EXCLUDED.country_code,
            number_type = EXCLUDED.number_type, national_destination_code = EXCLUDED.national_destination_code,
            region = EXCLUDED.region, locality = EXCLUDED.locality, rate_center = EXCLUDED.rate_center,
            features = EXCLUDED.features, upfront_cost_cents = EXCLUDED.upfront_cost_cents,
            monthly_cost_cents = EXCLUDED.monthly_cost_cents`
    }),

    isEmpty: Effect.map(some`SELECT 1 FROM inventory LIMIT 1`, (isStocked) => !isStocked),

    /** Whether a price exists for this country and type, sold out or not. */
    hasTier: (countryCode: string, numberType: NumberType) =>
      some`SELECT 1 FROM inventory WHERE country_code = ${countryCode} AND number_type = ${numberType} LIMIT 1`,

    search: (asker: Asker, search: Search) => {
      const national = sql`substr(i.phone_number, greatest(2, strpos(i.phone_number, coalesce(i.national_destination_code, ''))))`
      const { contains, endsWith, features, locality, nationalDestinationCode, region, startsWith } = search
      const where = sql.and([
        sql`i.country_code = ${search.countryCode} AND i.number_type = ${search.numberType}`,
        unowned(asker),
        ...(nationalDestinationCode === undefined
          ? []
          : [sql`i.national_destination_code = ${nationalDestinationCode}`]),
        ...(contains === undefined ? [] : [sql`strpos(i.phone_number, ${contains}) > 0`]),
        ...(startsWith === undefined
          ? []
          : [sql`starts_with(${whole(startsWith) ? sql`i.phone_number` : national}, ${startsWith})`]),
        ...(endsWith === undefined ? [] : [sql`right(i.phone_number, ${endsWith.length}) = ${endsWith}`]),
        ...(locality === undefined ? [] : [sql`lower(i.locality) = lower(${locality})`]),
        ...(region === undefined ? [] : [sql`lower(i.region) = lower(${region})`]),
        ...(features === undefined ? [] : [sql`i.features @> ${features}::text[]`])
      ])
      return Effect.orDie(
        sql<AvailableNumberView>`
        SELECT ${columns} FROM inventory i WHERE ${where} ORDER BY i.phone_number LIMIT ${search.limit}`
          .withoutTransform
      )
    },

    /** The numbers of `phoneNumbers` that can be ordered as this country and type. */
    available: (asker: Asker, phoneNumbers: ReadonlyArray<string>, countryCode: string, numberType: NumberType) =>
      Effect.orDie(
        sql<AvailableNumberView>`
        SELECT ${columns} FROM inventory i
        WHERE i.phone_number = ANY(${phoneNumbers}::text[]) AND i.country_code = ${countryCode}
          AND i.number_type = ${numberType} AND ${unowned(asker)}
        ORDER BY i.phone_number`.withoutTransform
      ),

    /** Takes numbers out of the inventory, and returns those that were in it. An owner keeps its number. */
    remove: (phoneNumbers: ReadonlyArray<string>) =>
      column<string>`
        DELETE FROM inventory WHERE phone_number = ANY(${phoneNumbers}::text[]) RETURNING phone_number AS phone`,

    /** The numbers of `phoneNumbers` that the operator still has. */
    present: (phoneNumbers: ReadonlyArray<string>) =>
      Effect.map(
        all<{ readonly phone: string }>`
          SELECT phone_number AS phone FROM inventory WHERE phone_number = ANY(${phoneNumbers}::text[])`,
        (rows) => new Set(rows.map((row) => row.phone))
      )
  }
})

export type Inventory = Effect.Success<typeof make>
