import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { sealedColumns } from "../../../../src/runtime/store/vault/SealedColumns.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("Sealed columns", (it) => {
  it.effect("each of them is a text of a table whose primary key is the one that is named", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const { column, key, keyType, table } of sealedColumns) {
        const rows = yield* sql<{ readonly key: string; readonly keyType: string; readonly type: string }>`
          SELECT k.attname AS key, format_type(k.atttypid, k.atttypmod) AS "keyType",
            (SELECT format_type(c.atttypid, c.atttypmod) FROM pg_attribute c
              WHERE c.attrelid = i.indrelid AND c.attname = ${column}) AS type
          FROM pg_index i JOIN pg_attribute k ON k.attrelid = i.indrelid AND k.attnum = ANY (i.indkey)
          WHERE i.indisprimary AND i.indrelid = to_regclass(${table})`
        expect(rows, `${table}.${column}`).toStrictEqual([{ key, keyType, type: "text" }])
      }
    })
  )
})
