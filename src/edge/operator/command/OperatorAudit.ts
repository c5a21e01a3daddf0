import { Clock, Effect } from "effect"
import type { TenantId } from "../../../domain/Id.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { type AuditRow, type Commit, empty } from "../../../runtime/store/journal/Journal.ts"

/** Makes a commit with one line of the audit log, about something that the operator does. */
export const line = (options: {
  /** Null when the line belongs to the installation and not to a tenant. */
  readonly tenantId: TenantId | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly changes?: AuditRow["changes"]
}): Effect.Effect<Commit, never, Entropy> =>
  Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    const seed = (yield* Entropy).hex(16)
    return { ...empty, audit: [Audit.line({ ...options, at, seed, actor: yield* Audit.operator })] }
  })
