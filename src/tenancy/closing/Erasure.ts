import { Clock, Effect } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { TenantId } from "../../domain/Id.ts"
import type { Job } from "../../runtime/job/Jobs.ts"
import { Recordings } from "../../telephony/recording/Recording.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import { Transcriptions } from "../../telephony/transcription/Transcription.ts"
import * as LiveCalls from "./LiveCalls.ts"

/** The key of a job is the tenant. */
export const kind = "tenant.erasure"

/**
 * Erases the contents of a closed tenant's calls, guide/tenants.md#closing: the files of its recordings, whose rows
 * become `expired`, and its transcripts.
 *
 * It works in portions. The rows show what is left, so it continues wherever it was cut off. The audit line of a
 * portion is in its transaction.
 */
export const make = Effect.gen(function* () {
  const none = yield* LiveCalls.none
  const accounts = yield* Accounts
  const journal = yield* Journal
  const entropy = yield* Entropy
  const recordings = yield* Recordings
  const transcriptions = yield* Transcriptions

  const told = (tenantId: TenantId, field: "recordings" | "transcriptions") => (count: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) =>
      journal.commitWithin({
        ...empty,
        audit: [
          Audit.line({
            tenantId,
            at,
            seed: entropy.hex(16),
            actor: Audit.system,
            action: "tenant.erased",
            resourceId: tenantId,
            changes: [{ field, from: count, to: 0 }]
          })
        ]
      })
    )

  const erase = Effect.fn("Closings.erase")(function* (tenantId: TenantId) {
    const { status } = yield* accounts.overview(tenantId)
    if (status !== "closed") return
    yield* none(tenantId)
    yield* transcriptions.erase(tenantId, told(tenantId, "transcriptions"))
    yield* recordings.erase(tenantId, told(tenantId, "recordings"))
  })

  return {
    kind,
    concurrency: 1,
    timeoutMs: 6 * 3_600_000,
    retry: { attempts: Infinity, firstMs: 10_000, maxMs: 3_600_000 },
    run: ({ key }) => erase(TenantId.make(key))
  } satisfies Job
})
