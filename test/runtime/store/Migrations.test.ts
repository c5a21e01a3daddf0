import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const database = Layer.unwrap(Effect.map(TestDatabase.empty, (url) => PgClient.layer({ url, maxConnections: 3 })))

/** The number of the first migration of a later program. */
const next = Migrations.newest + 1
const nameOf = (name: string) => `${String(next).padStart(4, "0")}_${name}`

/** A later program, whose migration gives each tenant a language. */
const later = Migrations.make({
  ...Migrations.all,
  [nameOf("tenant_language")]: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE tenant ADD COLUMN language text NOT NULL DEFAULT 'en'`
    yield* sql`UPDATE tenant SET language = 'de' WHERE country = 'DE'`
  })
})

/** The migrations of this version. */
const now = Object.keys(Migrations.all).map((name) => name.replace(/^0*([0-9]+)_/, "$1 "))

const ran = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly id: number; readonly name: string }>`
    SELECT migration_id AS id, name FROM effect_sql_migrations ORDER BY migration_id`
  return rows.map(({ id, name }) => `${id} ${name}`)
})

const tenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, country, created_at, updated_at)
    VALUES (gen_random_uuid(), 'Acme', 'acme', 'active', 'DE', now(), now())`
})

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })("A database", (it) => {
  it.effect("of the version before is migrated once, with its rows, however many processes start", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run
      expect(yield* ran).toStrictEqual(now)
      yield* tenant
      yield* Effect.all([later.run, later.run], { concurrency: 2 })
      yield* later.run
      expect(yield* ran).toStrictEqual([...now, `${next} tenant_language`])
      expect(yield* sql`SELECT slug, language FROM tenant`).toStrictEqual([{ slug: "acme", language: "de" }])
    }).pipe(Effect.provide(database))
  )

  it.effect("that is new gets every migration, in order", () =>
    Effect.gen(function* () {
      yield* later.run
      expect(yield* ran).toStrictEqual([...now, `${next} tenant_language`])
      expect(later.newest).toBe(next)
    }).pipe(Effect.provide(database))
  )

  it.effect("of a newer version is refused, and nothing changes", () =>
    Effect.gen(function* () {
      yield* later.run
      for (const attempt of [Migrations.check, Migrations.run]) {
        const error = yield* Effect.flip(attempt)
        expect(error).toBeInstanceOf(Migrations.SchemaUnknown)
        expect(error.message).toContain(nameOf("tenant_language"))
      }
      expect(yield* ran).toStrictEqual([...now, `${next} tenant_language`])
    }).pipe(Effect.provide(database))
  )

  it.effect("of version 0.1 is refused with one line that names the way, and nothing changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Version 0.1 named its migrations like this.
      yield* Migrations.run
      yield* sql`DELETE FROM effect_sql_migrations`
      yield* sql`INSERT INTO effect_sql_migrations (migration_id, name) VALUES (1, 'init')`
      yield* sql`INSERT INTO effect_sql_migrations (migration_id, name) VALUES (59, 'canonical_email')`
      for (const attempt of [Migrations.check, Migrations.run, later.run]) {
        const error = yield* Effect.flip(attempt)
        expect(error).toBeInstanceOf(Migrations.SchemaOf01)
        expect(error.message).toMatch(
          /^the database is of version 0\.1, [^\n]*operator -- backup[^\n]*restore -- [^\n]*$/
        )
      }
      expect(yield* ran).toStrictEqual(["1 init", "59 canonical_email"])
    }).pipe(Effect.provide(database))
  )

  it.effect("whose migration fails is as it was before it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run
      const failing = Migrations.make({
        ...Migrations.all,
        [nameOf("half")]: Effect.gen(function* () {
          yield* sql`CREATE TABLE half (id int)`
          yield* sql`SELECT 1 / 0`
        })
      })
      yield* Effect.flip(failing.run)
      expect(yield* ran).toStrictEqual(now)
      expect(yield* sql`SELECT to_regclass('half') AS half`).toStrictEqual([{ half: null }])
    }).pipe(Effect.provide(database))
  )
})
