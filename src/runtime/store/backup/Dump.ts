import { Effect, Option, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import { Entropy } from "../../process/Entropy.ts"
import * as Migrations from "../Migrations.ts"
import type { Keyring } from "../vault/Vault.ts"
import * as BackupFormat from "./BackupFormat.ts"
import * as Catalog from "./Catalog.ts"

/** The rows of one read, and so the most that are in memory at once. */
const pageRows = 200

/**
 * Gives the whole database as the lines of a backup, as it was at one moment, beside the traffic.
 *
 * It reads in one transaction, which sees one snapshot, a page at a time and as fast as the lines are taken. A caller
 * that takes none for 15 s loses the backup, because a snapshot that stays open would keep the database from tidying
 * up.
 *
 * `keys`: the vault's keys at the time of the call.
 */
export const lines = (
  keys: () => Keyring,
  passphrase: string
): Stream.Stream<string, SqlError, SqlClient.SqlClient | Entropy> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const before = keys()
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const connection = yield* sql.reserve
      const run = (text: string, parameters: ReadonlyArray<unknown> = []) =>
        connection.executeUnprepared(text, parameters, undefined)
      yield* Effect.acquireRelease(run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), () =>
        Effect.ignore(run("ROLLBACK"))
      )
      // These settings make the texts of times the same on every server.
      yield* run("SET LOCAL TimeZone = 'UTC'")
      yield* run("SET LOCAL DateStyle = 'ISO'")
      const { takenAt, tables } = yield* Catalog.read(run)

      const hash = createHash("sha256")
      let rows = 0
      let isOpen = false
      const tell = (text: ReadonlyArray<string>, next: number | null) => {
        for (const line of text) hash.update(line)
        return [text, Option.fromNullishOr(next)] as const
      }
      const line = (value: unknown) => `${JSON.stringify(value)}\n`

      /** Makes the step `at`: -1 is the header, then each table until it has no more rows, then the end. */
      const step = Effect.fnUntraced(function* (at: number) {
        if (at < 0)
          return tell(
            [
              line({
                trunkline_backup: BackupFormat.format,
                schema: Migrations.newest,
                taken_at: takenAt,
                keys: yield* BackupFormat.sealKeys(joined(keys(), before), passphrase, entropy.bytes(28))
              })
            ],
            0
          )
        const table = tables[at]
        if (table === undefined) {
          const sequences = (yield* Catalog.sequences(run)).map(({ called, name, value }) =>
            line({ sequence: name, value, is_called: called })
          )
          tell(sequences, null)
          return [[...sequences, line({ end: true, rows, sha256: hash.digest("hex") })], Option.none()] as const
        }
        const isFirst = !isOpen
        if (isFirst)
          yield* run(
            `DECLARE backup NO SCROLL CURSOR FOR SELECT to_json(ARRAY[${table.columns
              .map(([name]) => `${Catalog.quoted(name)}::text`)
              .join()}]::text[])::text AS line FROM ${Catalog.quoted(table.table)}`
          )
        isOpen = true
        const found = (yield* run(`FETCH ${pageRows} FROM backup`)) as ReadonlyArray<{ readonly line: string }>
        rows += found.length
        const text = [...(isFirst ? [line(table)] : []), ...found.map((row) => `${row.line}\n`)]
        if (found.length === pageRows) return tell(text, at)
        yield* run("CLOSE backup")
        isOpen = false
        return tell(text, at + 1)
      })
      return Stream.paginate(-1, step)
    })
  )

/**
 * Joins the keys of before and after the snapshot, because a rotation may begin or end meanwhile, and each row is under
 * some key of either.
 */
const joined = ({ current, earlier }: Keyring, before: Keyring): Keyring => {
  const all = new Map([current, ...earlier, before.current, ...before.earlier].map((key) => [hexOf(key), key]))
  all.delete(hexOf(current))
  return { current, earlier: [...all.values()] }
}

const hexOf = (key: Keyring["current"]): string => Buffer.from(Redacted.value(key)).toString("hex")
