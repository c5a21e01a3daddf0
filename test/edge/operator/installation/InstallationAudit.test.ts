import { expect, layer } from "@effect/vitest"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { operator, Recorded, layer as world } from "../OperatorWorld.ts"

layer(world, { excludeTestServices: true, timeout: "60 seconds" })(
  "what the operator does to the installation",
  (it) => {
    it.effect("leaves an audit line of no tenant: a backup, and no rotation that is refused", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { dataDir } = yield* Recorded
        const passphrase = join(dataDir, "passphrase")
        yield* Effect.promise(() => writeFile(passphrase, "correct horse battery\n"))
        const backup = yield* operator("backup", join(dataDir, "backup.gz"), "--passphrase-file", passphrase)
        expect(backup.stderr).toBe("")
        // The key of this world comes from the operator, so the service does not change it.
        expect((yield* operator("vault", "rotate")).stderr).toMatch(/SECRET_KEY_PREVIOUS/)
        const lines = yield* sql`
        SELECT tenant_id AS tenant, actor_type AS actor, action, resource_id AS resource FROM audit
        WHERE resource_type IN ('backup', 'vault') ORDER BY ordinal`
        expect(lines).toEqual([{ tenant: null, actor: "operator", action: "backup.taken", resource: "backup" }])
      })
    )
  }
)
