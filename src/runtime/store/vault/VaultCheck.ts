import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as SealedRows from "./SealedRows.ts"
import { Vault } from "./Vault.ts"

/**
 * Checks that the keys of this installation are those under which the rows of its database are sealed, by a constant
 * text that is sealed under each key in use. In a database without one (its rows came by hand), every sealed row is
 * tried.
 */

/**
 * The keys do not fit the database. Continuing would mix readable signing secrets and trunk passwords with unreadable
 * ones.
 */
export class VaultKeyWrong extends Schema.TaggedError<VaultKeyWrong>()("VaultKeyWrong", { detail: Schema.String }) {
  override get message() {
    return (
      `SECRET_KEY: this key of the vault is not the one that the database was written with (${this.detail}): use the ` +
      `vault.key or the SECRET_KEY of the other installation, and SECRET_KEY_PREVIOUS until a rotation has ended`
    )
  }
}

const text = "trunkline"

interface CheckRow {
  readonly sealed: string
}

/** Fails with `VaultKeyWrong`; changes nothing. It works on any schema, also on an empty database. */
export const verify = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const [table] = yield* sql<{ readonly found: boolean }>`SELECT to_regclass('vault_check') IS NOT NULL AS found`
  const checks = table?.found === true ? yield* sql<CheckRow>`SELECT sealed FROM vault_check` : []
  if (!checks.every(({ sealed }) => vault.opens(sealed)))
    return yield* new VaultKeyWrong({ detail: "it does not open the check value" })
  if (checks.length > 0) return
  yield* SealedRows.forEachPage(({ column, rows, table }) =>
    rows.every(({ sealed }) => vault.opens(sealed))
      ? Effect.void
      : new VaultKeyWrong({ detail: `it does not open ${table}.${column}` })
  )
})

/**
 * Does `verify` and records the current key, so that rows may be sealed under it from now on. The owner of the database
 * calls it before anything is sealed.
 */
export const confirm = Effect.gen(function* () {
  yield* verify
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const checks = yield* sql<CheckRow>`SELECT sealed FROM vault_check`
  if (!checks.some(({ sealed }) => vault.isCurrent(sealed)))
    yield* sql`INSERT INTO vault_check (sealed) VALUES (${vault.seal(text)})`
})

/** Removes the record of all other keys than the current one, once no row is sealed under them any more. */
export const retireOthers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const checks = yield* sql<CheckRow>`SELECT sealed FROM vault_check`
  for (const { sealed } of checks)
    if (!vault.isCurrent(sealed)) yield* sql`DELETE FROM vault_check WHERE sealed = ${sealed}`
})
