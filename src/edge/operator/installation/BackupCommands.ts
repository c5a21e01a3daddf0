import { Effect, Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as BackupFormat from "../../../runtime/store/backup/BackupFormat.ts"
import * as Dump from "../../../runtime/store/backup/Dump.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { Vault } from "../../../runtime/store/vault/Vault.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Files from "../command/Files.ts"
import * as OperatorAudit from "../command/OperatorAudit.ts"

export const passphrase = Flag.of(Schema.String, "a file whose first line is the passphrase of the backup", {
  flag: "passphrase-file",
  value: "<file|->",
  read: Files.passphrase
})

/** Leaves an audit line. A full disk does not prevent a backup. */
const record = Effect.gen(function* () {
  const line = OperatorAudit.line({
    tenantId: null,
    action: "backup.taken",
    resourceType: "backup",
    resourceId: "backup"
  })
  yield* Effect.catch((yield* Journal).commitAsked(yield* line), () =>
    Effect.logWarning("a backup leaves no audit line: nothing can be stored")
  )
})

/** guide/operation.md#backup-and-restore. */
export const commands = [
  Command.lines("backup", {
    summary: "writes database and vault key, as they are at this moment, into a new file (gzip); calls go on",
    input: { passphrase },
    alone: "a backup is under way",
    advice:
      "Who has this file has every number, event and key hash in it: guard it, and keep the passphrase elsewhere.",
    run: Effect.fnUntraced(function* ({ passphrase }) {
      if (passphrase.length < BackupFormat.minPassphrase)
        return yield* ApiError.of(
          "invalid_request",
          `the passphrase must have ${BackupFormat.minPassphrase} characters or more`
        )
      yield* Effect.logInfo("the operator takes a backup")
      yield* record
      return Dump.lines((yield* Vault).keys, passphrase)
    })
  })
]
