import { Clock, Effect } from "effect"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { type AuditRow, type Commit, empty } from "../../../runtime/store/journal/Journal.ts"

/**
 * The audit lines of what the operator does to the installation, which is no tenant's: one line, as a commit of its own.
 */
export const line = (options: {
  readonly action: string
  readonly resource: "backup" | "vault"
  readonly changes?: AuditRow["changes"]
}): Effect.Effect<Commit, never, Entropy> =>
  Effect.gen(function* () {
    const { action, resource, ...rest } = options
    return {
      ...empty,
      audit: [
        Audit.line({
          ...rest,
          tenantId: null,
          at: yield* Clock.currentTimeMillis,
          seed: (yield* Entropy).hex(16),
          actor: Audit.operator,
          action,
          resourceType: resource,
          resourceId: resource
        })
      ]
    }
  })
