import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import * as Migrations from "../Migrations.ts"
import type { Keyring } from "../vault/Vault.ts"
import * as BackupFormat from "./BackupFormat.ts"
import * as Catalog from "./Catalog.ts"

const { BackupUnusable } = BackupFormat

const pageRows = 200

/** The header of a backup, with the keys for the vault. */
interface Opened {
  /** The migration that makes the schema of the rows. */
  readonly schema: number
  readonly takenAt: string
  readonly keys: Keyring
}

const damaged = (why: string) => new BackupUnusable({ detail: `it is damaged (${why})` })

/** Reads the header: the first line, without its newline. */
export const open = Effect.fnUntraced(function* (line: string | null, passphrase: string) {
  const header = yield* Effect.mapError(
    Schema.decodeEffect(BackupFormat.Header)(line ?? ""),
    () => new BackupUnusable({ detail: "it is not a backup of this service" })
  )
  const schema = Migrations.schemaOf(header.schema)
  if (header.trunkline_backup !== BackupFormat.format || schema === null)
    return yield* new BackupUnusable({
      detail: `it is of another version of this program (format ${header.trunkline_backup}, schema ${header.schema})`
    })
  const keys = yield* BackupFormat.openKeys(header.keys, passphrase)
  return { schema, takenAt: header.taken_at, keys } satisfies Opened
})

/**
 * Loads a backup into an empty database, all of it or nothing; gives the number of rows.
 *
 * The schema is made as it was when the backup was taken; the next start brings it up to date. `header` is the first
 * line; `next` gives the lines after it, and null at the end.
 */
export const load = Effect.fnUntraced(function* <E, R>(
  header: string,
  { schema }: Opened,
  next: Effect.Effect<string | null, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const run = (text: string, parameters: ReadonlyArray<unknown> = []) => sql.unsafe(text, parameters)
  const hash = createHash("sha256").update(`${header}\n`)
  let rows = 0

  const insert = (of: BackupFormat.TableLine, page: ReadonlyArray<string>) =>
    page.length === 0
      ? Effect.void
      : run(
          `INSERT INTO ${Catalog.quoted(of.table)} (${of.columns.map(([name]) => Catalog.quoted(name)).join()})
             OVERRIDING SYSTEM VALUE
           SELECT ${of.columns.map(([, type], index) => `(r ->> ${index})::${type}`).join()}
           FROM json_array_elements($1::json) AS r`,
          [`[${page.join()}]`]
        )

  const readAll = Effect.fnUntraced(function* (known: ReadonlyArray<BackupFormat.TableLine>) {
    let of: BackupFormat.TableLine | null = null
    let page: Array<string> = []
    for (;;) {
      const text = yield* next
      if (text === null) return yield* damaged("its end is missing")
      const line: BackupFormat.Line = yield* Effect.mapError(Schema.decodeEffect(BackupFormat.Line)(text), () =>
        damaged("a line is not as it was written")
      )
      if ("end" in line) {
        if (of !== null) yield* insert(of, page)
        if (line.sha256 !== hash.digest("hex") || line.rows !== rows) return yield* damaged("its checksum is wrong")
        return
      }
      hash.update(`${text}\n`)
      if ("sequence" in line)
        yield* run("SELECT setval($1::regclass, $2::bigint, $3)", [
          Catalog.quoted(line.sequence),
          line.value,
          line.is_called
        ])
      else if ("table" in line) {
        if (of !== null) yield* insert(of, page)
        page = []
        of = line
        const columns = known.find(({ table }) => table === line.table)?.columns
        // Names and types become part of statements, so they must be those of the schema.
        if (columns === undefined || JSON.stringify(columns) !== JSON.stringify(line.columns))
          return yield* damaged(`table ${line.table} is not of its schema`)
      } else {
        if (of === null || line.length !== of.columns.length) return yield* damaged("a row has no table")
        rows++
        page.push(text)
        if (page.length === pageRows) {
          yield* insert(of, page)
          page = []
        }
      }
    }
  })

  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* run("SET LOCAL statement_timeout = 0")
      yield* run("SET LOCAL idle_in_transaction_session_timeout = 0")
      yield* run("SET LOCAL synchronous_commit = on")
      yield* run("SET LOCAL TimeZone = 'UTC'")
      yield* run("SET LOCAL DateStyle = 'ISO'")
      if (!(yield* Catalog.isEmpty(run)))
        return yield* new BackupUnusable({ detail: "the database is not empty; restore into an empty one" })
      yield* Migrations.runTo(schema)
      const { tables } = yield* Catalog.read(run)
      const names = tables.map(({ table }) => Catalog.quoted(table))
      // Rows that the migrations wrote are in the backup too, in their later form.
      yield* run(`TRUNCATE ${names.join()}`)
      for (const name of names) yield* run(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
      yield* readAll(tables)
      for (const name of names) yield* run(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
      // The owner in the backup is gone, so no process needs to wait for it.
      yield* run("UPDATE journal_owner SET ended_epoch = epoch")
    })
  )
  yield* run("ANALYZE")
  return rows
})
