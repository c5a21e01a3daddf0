import * as PgTypes from "@effect/sql-pg/PgTypes"

/** A time as the parameter of a statement: epoch milliseconds, or null for NULL. */
export const timestamptz: (ms: number | null) => PgTypes.Parameter = PgTypes.timestamptz
