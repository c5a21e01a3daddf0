import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as BackupFormat from "../../../runtime/store/backup/BackupFormat.ts"
import * as Dump from "../../../runtime/store/backup/Dump.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { Vault } from "../../../runtime/store/vault/Vault.ts"
import * as InstallationAudit from "./InstallationAudit.ts"
import * as Operation from "../door/Operation.ts"

/** `backup`: answers the lines of the backup as a stream, guide/operation.md#backup-and-restore. */
export const make = Effect.gen(function* () {
  const context = yield* Effect.context<SqlClient.SqlClient | Entropy>()
  const vault = yield* Vault
  const journal = yield* Journal
  // A full disk is no reason to go without a backup.
  const record = Effect.flatMap(InstallationAudit.line({ action: "backup.taken", resource: "backup" }), (line) =>
    Effect.catch(journal.commitAsked(line), () =>
      Effect.logWarning("a backup leaves no audit line: nothing can be stored")
    )
  )
  let isUnderWay = false
  return [
    Operation.make("backup", Schema.Struct({ passphrase: Schema.String }), ({ passphrase }) =>
      Effect.gen(function* () {
        if (passphrase.length < BackupFormat.minPassphrase)
          return yield* ApiError.of(
            "invalid_request",
            `the passphrase must have ${BackupFormat.minPassphrase} characters or more`
          )
        if (isUnderWay) return yield* ApiError.of("conflict", "a backup is under way")
        const taken = Effect.acquireRelease(
          Effect.sync(() => {
            isUnderWay = true
          }),
          () =>
            Effect.sync(() => {
              isUnderWay = false
            })
        )
        const lines = Stream.unwrap(Effect.as(taken, Dump.lines(vault.keys, passphrase)))
        yield* Effect.logInfo("the operator takes a backup")
        yield* Effect.provide(record, context)
        return HttpServerResponse.stream(
          lines.pipe(
            Stream.tapError((error) => Effect.logError("a backup was cut short", error)),
            Stream.encodeText,
            Stream.provideContext(context)
          ),
          { contentType: "application/x-ndjson" }
        )
      })
    )
  ]
})
