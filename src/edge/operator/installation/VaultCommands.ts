import { Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import * as VaultRotation from "../../../runtime/store/vault/VaultRotation.ts"
import * as Command from "../command/Command.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"
import * as TextTable from "../command/TextTable.ts"

const vault = { tenantId: null, resourceType: "vault", resourceId: "vault" }

const rotate = Effect.gen(function* () {
  const journal = yield* Journal
  const started = yield* OperatorAudit.line({ ...vault, action: "vault.rotation_started" })
  const { isKeyOurs, resealed, retiredKeys } = yield* VaultRotation.rotate({ starts: journal.commitAsked(started) })
  const changes = [{ field: "retired_keys", from: null, to: retiredKeys }]
  yield* journal.commit(yield* OperatorAudit.line({ ...vault, action: "vault.rotated", changes }))
  yield* Effect.logWarning("the vault's key was rotated by the operator", { resealed })
  return { resealed, retired_keys: retiredKeys, key: isKeyOurs ? "vault.key" : "SECRET_KEY" }
})

/** guide/operation.md#the-vaults-key. */
export const commands = [
  Command.make(
    "vault rotate",
    {
      summary: "changes the key of the vault: seals every secret again under a new key (takes a minute at least)",
      alone: "a rotation is under way",
      run: () =>
        rotate.pipe(
          Effect.catchTag("KeyNotOurs", (error) => ApiError.of("conflict", error.message)),
          Effect.catchTag("VaultKeyUnusable", (error) => ApiError.of("internal_error", error.message)),
          Effect.catchTag("VaultKeyWrong", (error) => ApiError.of("conflict", error.message)),
          Effect.catchTag("SqlError", () =>
            ApiError.of("service_unavailable", "the database did not answer; both keys are kept: rotate again to go on")
          )
        )
    },
    {
      print: (answer) =>
        `${TextTable.fields(answer)}\n${
          answer.key === "SECRET_KEY"
            ? "SECRET_KEY_PREVIOUS is not needed any more."
            : "Copy vault.key to wherever a standby or a backup has one."
        }`
    }
  )
]
