import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../../src/runtime/process/Entropy.ts"
import * as Migrations from "../../../../src/runtime/store/Migrations.ts"
import { type Keyring, Vault } from "../../../../src/runtime/store/vault/Vault.ts"
import * as VaultCheck from "../../../../src/runtime/store/vault/VaultCheck.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const ring = (current: number, ...earlier: ReadonlyArray<number>): Keyring => ({
  current: key(current),
  earlier: earlier.map(key)
})

const withKeys = <A, E, R>(keys: Keyring, effect: Effect.Effect<A, E, R | Vault>) =>
  Effect.provide(effect, Layer.provide(Vault.layerOf(keys), Entropy.layerFixed("vault check")))

const database = Layer.unwrap(Effect.map(TestDatabase.empty, (url) => PgClient.layer({ url, maxConnections: 2 })))

const seal = (keys: Keyring) =>
  withKeys(
    keys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealed = (yield* Vault).seal("hunter2")
      yield* sql`
        INSERT INTO tenant (id, name, slug, status, webhook_failover_secret, created_at, updated_at)
        VALUES (gen_random_uuid(), 'T', gen_random_uuid()::text, 'active', ${sealed}, now(), now())`
    })
  )

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })("The check of the vault's key", (it) => {
  it.effect("a database accepts the key that it was written with, and refuses another with one line", () =>
    Effect.gen(function* () {
      yield* withKeys(ring(1), VaultCheck.verify)
      yield* Migrations.run
      yield* withKeys(ring(1), VaultCheck.confirm)
      yield* withKeys(ring(1), VaultCheck.verify)
      for (const check of [VaultCheck.verify, VaultCheck.confirm]) {
        const error = yield* Effect.flip(withKeys(ring(2), check))
        expect(error).toBeInstanceOf(VaultCheck.VaultKeyWrong)
        expect(error.message).toMatch(/^SECRET_KEY: [^\n]+$/)
      }
    }).pipe(Effect.provide(database))
  )

  it.effect("one without a check gets it when all its sealed rows can be opened, and not otherwise", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run
      for (let rows = 0; rows < 501; rows++) yield* seal(ring(1))
      yield* seal(ring(2))
      expect(yield* Effect.flip(withKeys(ring(1), VaultCheck.verify))).toBeInstanceOf(VaultCheck.VaultKeyWrong)
      expect(yield* Effect.flip(withKeys(ring(1), VaultCheck.confirm))).toBeInstanceOf(VaultCheck.VaultKeyWrong)
      expect(yield* sql`SELECT FROM vault_check`).toHaveLength(0)
      yield* withKeys(ring(1, 2), VaultCheck.confirm)
      expect(yield* sql`SELECT FROM vault_check`).toHaveLength(1)
    }).pipe(Effect.provide(database))
  )

  it.effect("between the start of a rotation and its end both keys are needed", () =>
    Effect.gen(function* () {
      yield* Migrations.run
      yield* withKeys(ring(1), VaultCheck.confirm)
      yield* withKeys(ring(2, 1), VaultCheck.confirm)
      for (const one of [1, 2])
        expect(yield* Effect.flip(withKeys(ring(one), VaultCheck.verify))).toBeInstanceOf(VaultCheck.VaultKeyWrong)
      yield* withKeys(ring(2, 1), VaultCheck.retireOthers)
      yield* withKeys(ring(2), VaultCheck.verify)
    }).pipe(Effect.provide(database))
  )
})
