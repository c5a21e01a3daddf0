import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeEntropy from "../../../../src/app/boot/NodeEntropy.ts"
import * as VaultKey from "../../../../src/app/boot/VaultKey.ts"
import * as Migrations from "../../../../src/runtime/store/Migrations.ts"
import * as SealedRows from "../../../../src/runtime/store/vault/SealedRows.ts"
import { Vault } from "../../../../src/runtime/store/vault/Vault.ts"
import * as VaultCheck from "../../../../src/runtime/store/vault/VaultCheck.ts"
import * as VaultRotation from "../../../../src/runtime/store/vault/VaultRotation.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const database = Layer.unwrap(Effect.map(TestDatabase.empty, (url) => PgClient.layer({ url, maxConnections: 3 })))

const secretOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte).toString("hex"))
const inFile = { secretKey: null, previousKeys: [] }

/** Does a start with these keys, up to the point where the service would serve. */
const started = <A, E, R>(
  config: Parameters<typeof VaultKey.load>[0],
  dataDir: string,
  effect: Effect.Effect<A, E, R | Vault>
) =>
  Effect.gen(function* () {
    const { keep, ring } = yield* VaultKey.load(config, dataDir)
    return yield* Effect.provide(Effect.andThen(VaultCheck.confirm, effect), Vault.layerOf(ring, keep))
  })

const addTenant = (sealed: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO tenant (id, name, slug, status, webhook_failover_secret, created_at, updated_at)
      VALUES (gen_random_uuid(), 'T', gen_random_uuid()::text, 'active', ${sealed}, now(), now())`
  )

/** The number of tenants with a secret, more than a page. */
const rows = 520
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  for (let nth = 0; nth < rows; nth++) yield* addTenant(vault.seal(`secret ${nth}`))
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
    SELECT 'svc_sub_1', id, 'https://x.test', '{*}', ${vault.seal("signing")}, true, now() FROM tenant LIMIT 1`
  yield* sql`
    INSERT INTO route (id, tenant_id, name, is_default, status, adapter, password, created_at)
    SELECT 'svc_route_1', id, 'Trunk', false, 'active', 'sip', ${vault.seal("password")}, now() FROM tenant LIMIT 1`
})

/** Every secret in clear, sorted. */
const secrets = Effect.gen(function* () {
  const vault = yield* Vault
  const found: Array<string> = []
  yield* SealedRows.forEachPage((page) =>
    Effect.sync(() => void found.push(...page.rows.map(({ sealed }) => vault.open(sealed))))
  )
  return found.toSorted()
})
const filled = [...Array.from({ length: rows }, (_, nth) => `secret ${nth}`), "password", "signing"].toSorted()

const allCurrent = Effect.gen(function* () {
  const vault = yield* Vault
  let all = true
  yield* SealedRows.forEachPage((page) =>
    Effect.sync(() => {
      all &&= page.rows.every(({ sealed }) => vault.isCurrent(sealed))
    })
  )
  return all
})

const rotate = VaultRotation.rotate({ settleMs: 0 })

layer(NodeEntropy.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "The rotation of the vault's key",
  (it) => {
    it.effect("a key in DATA_DIR is replaced by a new one, and everything that was sealed opens with that alone", () =>
      Effect.gen(function* () {
        const dataDir = yield* DataDirectory.make
        yield* Migrations.run
        yield* started(inFile, dataDir, fill)
        const before = yield* Effect.promise(() => readFile(join(dataDir, "vault.key"), "utf8"))
        const { resealed } = yield* started(inFile, dataDir, rotate)
        expect(resealed).toBe(filled.length)
        const after = yield* Effect.promise(() => readFile(join(dataDir, "vault.key"), "utf8"))
        expect(after).toMatch(/^[0-9a-f]{64}\n$/)
        expect(after).not.toBe(before)
        expect(yield* started(inFile, dataDir, Effect.all([secrets, allCurrent]))).toStrictEqual([filled, true])
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("what must be said before it changes anything is said, or it changes nothing", () =>
      Effect.gen(function* () {
        const dataDir = yield* DataDirectory.make
        yield* Migrations.run
        const file = Effect.promise(() => readFile(join(dataDir, "vault.key"), "utf8"))
        yield* started(inFile, dataDir, fill)
        const before = yield* file
        const refused = VaultRotation.rotate({ settleMs: 0, starts: Effect.fail("not said") })
        expect(yield* Effect.flip(started(inFile, dataDir, refused))).toBe("not said")
        expect(yield* file).toBe(before)
        let said = 0
        const starts = Effect.sync(() => said++)
        const given = { secretKey: Redacted.make(before.trim()), previousKeys: [] }
        yield* Effect.flip(started(given, dataDir, VaultRotation.rotate({ settleMs: 0, starts })))
        expect(said).toBe(0)
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("one that died half way opens everything at the next start, and the next one goes on with its key", () =>
      Effect.gen(function* () {
        const dataDir = yield* DataDirectory.make
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        yield* started(inFile, dataDir, fill)
        // The second column waits for this lock, where the process dies.
        const died = yield* Deferred.make<void>()
        const lock = yield* Effect.forkChild(
          sql.withTransaction(Effect.andThen(sql`SELECT FROM webhook_subscription FOR UPDATE`, Deferred.await(died)))
        )
        yield* Effect.sleep("100 millis")
        const rotation = yield* Effect.forkChild(started(inFile, dataDir, rotate))
        const waiting = sql`
        SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE webhook_subscription%'`
        while ((yield* waiting).length === 0) yield* Effect.sleep("20 millis")
        yield* Fiber.interrupt(rotation)
        yield* Deferred.succeed(died, undefined)
        yield* Fiber.join(lock)
        const half = yield* Effect.promise(() => readFile(join(dataDir, "vault.key"), "utf8"))
        expect(half).toMatch(/^[0-9a-f]{64}\n[0-9a-f]{64}\n$/)
        expect(yield* started(inFile, dataDir, Effect.all([secrets, allCurrent]))).toStrictEqual([filled, false])
        yield* started(inFile, dataDir, rotate)
        expect(yield* Effect.promise(() => readFile(join(dataDir, "vault.key"), "utf8"))).toBe(half.slice(0, 65))
        expect(yield* started(inFile, dataDir, Effect.all([secrets, allCurrent]))).toStrictEqual([filled, true])
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect("a text that was sealed before the change, and comes to the database after it, is found", () =>
      Effect.gen(function* () {
        const dataDir = yield* DataDirectory.make
        yield* Migrations.run
        yield* started(
          inFile,
          dataDir,
          Effect.gen(function* () {
            const late = (yield* Vault).seal("late")
            const rotation = yield* Effect.forkChild(VaultRotation.rotate({ settleMs: 500 }))
            yield* Effect.sleep("200 millis")
            yield* addTenant(late)
            yield* Fiber.join(rotation)
          })
        )
        expect(yield* started(inFile, dataDir, Effect.all([secrets, allCurrent]))).toStrictEqual([["late"], true])
      }).pipe(Effect.provide(database), Effect.scoped)
    )

    it.effect(
      "a key of the environment is changed by the operator: both are given until everything is sealed again",
      () =>
        Effect.gen(function* () {
          const dataDir = yield* DataDirectory.make
          yield* Migrations.run
          const first = { secretKey: secretOf(1), previousKeys: [] }
          const both = { secretKey: secretOf(2), previousKeys: [secretOf(1)] }
          const second = { secretKey: secretOf(2), previousKeys: [] }
          yield* started(first, dataDir, fill)
          expect(yield* Effect.flip(started(first, dataDir, rotate))).toBeInstanceOf(VaultRotation.KeyNotOurs)
          expect(Exit.isFailure(yield* Effect.exit(started(second, dataDir, secrets)))).toBe(true)
          expect(yield* started(both, dataDir, secrets)).toStrictEqual(filled)
          expect(Exit.isFailure(yield* Effect.exit(started(second, dataDir, secrets)))).toBe(true)
          yield* started(both, dataDir, rotate)
          expect(yield* started(second, dataDir, Effect.all([secrets, allCurrent]))).toStrictEqual([filled, true])
        }).pipe(Effect.provide(database), Effect.scoped)
    )
  }
)
