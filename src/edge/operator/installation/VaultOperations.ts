import { Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { Vault } from "../../../runtime/store/vault/Vault.ts"
import * as VaultRotation from "../../../runtime/store/vault/VaultRotation.ts"
import * as InstallationAudit from "./InstallationAudit.ts"
import * as Operation from "../door/Operation.ts"

/** `vault rotate`, guide/operation.md#the-vaults-key. */
export const make = Effect.gen(function* () {
  const context = yield* Effect.context<SqlClient.SqlClient | Vault | Entropy>()
  const journal = yield* Journal
  const one = yield* Semaphore.make(1)
  const rotate = Effect.gen(function* () {
    const started = yield* InstallationAudit.line({ action: "vault.rotation_started", resource: "vault" })
    const { isKeyOurs, resealed, retiredKeys } = yield* VaultRotation.rotate({ begins: journal.commitAsked(started) })
    yield* journal.commit(
      yield* InstallationAudit.line({
        action: "vault.rotated",
        resource: "vault",
        changes: [{ field: "retired_keys", from: null, to: retiredKeys }]
      })
    )
    yield* Effect.logWarning("the vault's key was rotated by the operator", { resealed })
    return { resealed, retired_keys: retiredKeys, key: isKeyOurs ? "vault.key" : "SECRET_KEY" }
  }).pipe(
    Effect.catchTag("KeyNotOurs", (error) => ApiError.of("conflict", error.message)),
    Effect.catchTag("VaultKeyUnusable", (error) => ApiError.of("internal_error", error.message)),
    Effect.catchTag("VaultKeyWrong", (error) => ApiError.of("conflict", error.message)),
    Effect.catchTag("SqlError", () =>
      ApiError.of("service_unavailable", "the database did not answer; both keys are kept: rotate again to go on")
    ),
    Effect.provide(context)
  )
  return [
    Operation.make("vault/rotate", Operation.Nothing, () =>
      Effect.flatMap(one.withPermitsIfAvailable(1)(rotate), (done) =>
        done._tag === "Some" ? Effect.succeed(done.value) : ApiError.of("conflict", "a rotation is under way")
      )
    )
  ]
})
