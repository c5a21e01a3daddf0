import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { init } from "./migration/0060_init.ts"
import { backfillJob } from "./migration/0061_backfill_job.ts"
import { callReference } from "./migration/0063_call_reference.ts"
import { numberPlan } from "./migration/0064_number_plan.ts"
import { owedMonths } from "./migration/money/0065_owed_months.ts"
import { rateIncrements } from "./migration/money/0066_rate_increments.ts"
import { contestedHash } from "./migration/0067_contested_hash.ts"
import { rootTenants } from "./migration/0068_root_tenants.ts"
import { signupInvitation } from "./migration/0069_signup_invitation.ts"
import { eventRoomCall } from "./migration/0070_event_room_call.ts"
import { letterLimit } from "./migration/0071_letter_limit.ts"
import { includedCredits } from "./migration/money/0072_included_credits.ts"
import { goneCustomer } from "./migration/0073_gone_customer.ts"
import { cardTrial } from "./migration/0074_card_trial.ts"
import { releasedAddress } from "./migration/0075_released_address.ts"
import { tenantRates } from "./migration/money/0076_tenant_rates.ts"
import { callRating } from "./migration/money/0077_call_rating.ts"
import { operatorToken } from "./migration/0080_operator_token.ts"
import { eventLane } from "./migration/0081_event_lane.ts"
import { entityElement } from "./migration/0082_entity_element.ts"
import { aloneRooms } from "./migration/telephony/0083_alone_rooms.ts"
import { leftOnHold } from "./migration/telephony/0084_left_on_hold.ts"
import { StatementLimit } from "./StatementLimit.ts"

/** Migrations by their names, each of which begins with its number. They run in the order of the numbers. */
type Migrations = Readonly<Record<`${number}_${string}`, Effect.Effect<unknown, SqlError, SqlClient.SqlClient>>>

/**
 * Every migration. Version 0.1 ended with its migration 59, and the first one here makes the same schema at once. Its
 * number is the next, so that a program of 0.1 refuses this database as one of a newer version.
 */
export const all: Migrations = {
  "0060_init": init,
  "0061_backfill_job": backfillJob,
  "0063_call_reference": callReference,
  "0064_number_plan": numberPlan,
  "0065_owed_months": owedMonths,
  "0066_rate_increments": rateIncrements,
  "0067_contested_hash": contestedHash,
  "0068_root_tenants": rootTenants,
  "0069_signup_invitation": signupInvitation,
  "0070_event_room_call": eventRoomCall,
  "0071_letter_limit": letterLimit,
  "0072_included_credits": includedCredits,
  "0073_gone_customer": goneCustomer,
  "0074_card_trial": cardTrial,
  "0075_released_address": releasedAddress,
  "0076_tenant_rates": tenantRates,
  "0077_call_rating": callRating,
  "0080_operator_token": operatorToken,
  "0081_event_lane": eventLane,
  "0082_entity_element": entityElement,
  "0083_alone_rooms": aloneRooms,
  "0084_left_on_hold": leftOnHold
}

/** The last schema of version 0.1. */
const lastOf01 = 59

const idOf = (name: string): number => Number.parseInt(name, 10)

/**
 * A later version of this program has migrated the database, and this one could write rows that the later one cannot
 * read.
 */
export class SchemaUnknown extends Schema.TaggedError<SchemaUnknown>()("SchemaUnknown", { migration: Schema.String }) {
  override get message() {
    return (
      `the database was migrated by a newer version of this program (${this.migration}), which this one does not ` +
      `know: start that version, or restore a backup of this one`
    )
  }
}

/** Version 0.1 has made the database. Only a backup moves its rows to this version. */
export class SchemaOf01 extends Schema.TaggedError<SchemaOf01>()("SchemaOf01", {}) {
  override get message() {
    return (
      "the database is of version 0.1, which this version does not read: make a backup with version 0.1 (npm run " +
      "operator -- backup FILE --passphrase-file FILE), and load it with this one (npm run restore -- FILE " +
      "--passphrase-file FILE) into an empty database or a new DATA_DIR"
    )
  }
}

/** A program with these migrations. */
export const make = (migrations: Migrations) => {
  const known: ReadonlySet<number> = new Set(Object.keys(migrations).map(idOf))

  /** The version of the schema that the program makes: its last migration. */
  const newest = Math.max(...known)

  /** Fails when a migration was run that the program does not have. */
  const check = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [table] = yield* sql<{
      readonly found: boolean
    }>`SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS found`
    if (table?.found !== true) return
    const rows = yield* sql<{ readonly id: number; readonly name: string }>`
      SELECT migration_id AS id, name FROM effect_sql_migrations ORDER BY migration_id DESC`
    const unknown = rows.find(({ id }) => !known.has(id))
    if (unknown === undefined) return
    if (unknown.id <= lastOf01) return yield* new SchemaOf01({})
    return yield* new SchemaUnknown({ migration: `${String(unknown.id).padStart(4, "0")}_${unknown.name}` })
  })

  /**
   * Runs the missing migrations up to `last`, under a lock, so that two processes may start at once. They have no time
   * limit.
   */
  const runTo = (last: number) =>
    Effect.andThen(
      check,
      Migrator.make({})({
        loader: Migrator.fromRecord(
          Object.fromEntries(Object.entries(migrations).filter(([name]) => idOf(name) <= last))
        )
      })
    ).pipe(Effect.provideService(StatementLimit, Infinity))

  return {
    newest,
    check,
    runTo,
    run: runTo(newest),
    /** The migration that makes the schema of a backup, from the number in its header; null: the program has none. */
    schemaOf: (header: number): number | null => {
      const schema = header === lastOf01 ? Math.min(...known) : header
      return known.has(schema) ? schema : null
    }
  }
}

export const { check, newest, run, runTo, schemaOf } = make(all)
