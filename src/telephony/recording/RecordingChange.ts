import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { RecordingId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type { Status } from "./RecordingList.ts"
import type * as RecordingRepo from "./RecordingRepo.ts"

export type RecordingChange = Effect.Success<ReturnType<typeof make>>

/** Changes the status of a recording whose outcome is known, with its line in the audit log. */
export const make = Effect.fnUntraced(function* (repo: Effect.Success<typeof RecordingRepo.make>) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy

  /** False when the recording is gone, or no longer `from`. */
  return Effect.fnUntraced(function* (
    id: RecordingId,
    from: ReadonlyArray<Status>,
    to: Status,
    actor: Audit.Actor
  ): Effect.fn.Return<boolean> {
    const at = yield* Clock.currentTimeMillis
    return yield* Effect.gen(function* () {
      const before = yield* repo.change(id, from, to)
      if (before === null) return false
      const line = Audit.line({
        tenantId: before.tenantId,
        at,
        seed: entropy.hex(16),
        actor,
        action: "recording.status_changed",
        resourceId: id,
        changes: [{ field: "status", from: before.status, to }]
      })
      yield* journal.commitWithin({ ...empty, audit: [line] })
      return true
    }).pipe(transaction)
  })
})
