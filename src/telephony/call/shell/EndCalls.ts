import * as Audit from "../../../runtime/audit/Audit.ts"
import { Effect } from "effect"
import type { Accounts } from "../../../money/account/Account.ts"
import type { Actor } from "../../../runtime/actor/Actor.ts"
import type { CallId, TenantId } from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"
import type { CallInput } from "../machine/CallInput.ts"
import type { Asked } from "../stored/CallRecord.ts"
import type { CallRegistry } from "./CallRegistry.ts"
import type { CallState } from "../machine/CallState.ts"

/**
 * Ends calls for the operator. Each is an ask: while nothing can be stored, the operator learns within two seconds
 * that the call continues, and the request has no later effect. When the database stops during that very commit, the
 * operator's answer waits until the time of the statement is over.
 */
type Reason = Extract<CallInput, { readonly type: "ended_by_system" }>["reason"]

/** The outcome for the calls of a tenant. */
export interface Ended {
  readonly ended: number
  /** Calls that continue, and the reason. */
  readonly refused: ReadonlyArray<{ readonly callId: CallId; readonly code: string }>
}

/** How many calls are ended concurrently. */
const atOnce = 64

/** A further pass finds calls that were being placed during the one before. */
const passes = 3

export const make = ({
  accounts,
  registry
}: {
  readonly accounts: Accounts["Service"]
  readonly registry: CallRegistry
}) => {
  type CallActor = Actor<CallId, CallState, CallInput, Asked, Rendered>

  /** False: the call had ended already. */
  const end = (actor: CallActor, reason: Reason): Effect.Effect<boolean, ApiError> =>
    Effect.flatMap(Audit.byOperator, (by) =>
      actor.ask(
        { type: "ended_by_system", reason, rejectCause: "user_busy", by: "operator" },
        { by, slot: null, status: 200, recordings: [] }
      )
    ).pipe(
      Effect.as(true),
      Effect.catch((refused) => (refused.code === "call_already_ended" ? Effect.succeed(false) : Effect.fail(refused)))
    )

  /** The live calls of a tenant, and those that are admitted and about to begin. */
  const liveOf = Effect.fnUntraced(function* (tenantId: TenantId) {
    const admitted = new Set<string>(yield* accounts.live(tenantId))
    return [...registry.live.values()].filter((actor) => {
      const state = actor.state()
      return state === null ? admitted.has(actor.id) : state.tenantId === tenantId && state.endedAt === null
    })
  })

  return {
    /** Fails with `call_already_ended`, or with `service_unavailable` when nothing happened. */
    one: (actor: CallActor): Effect.Effect<void, ApiError> =>
      Effect.flatMap(end(actor, "hung_up"), (ended) =>
        ended ? Effect.void : Effect.fail(ApiError.of("call_already_ended", "the call has already ended"))
      ),
    ofTenant: Effect.fn("EndCalls.ofTenant")(function* (tenantId: TenantId, reason: Reason) {
      let ended = 0
      let refused: Ended["refused"] = []
      for (let pass = 0; pass < passes; pass++) {
        const outcomes = yield* Effect.forEach(
          yield* liveOf(tenantId),
          (actor) =>
            Effect.match(end(actor, reason), {
              onFailure: ({ code }) => ({ callId: actor.id, code, ended: false }),
              onSuccess: (ended) => ({ callId: actor.id, code: null, ended })
            }),
          { concurrency: atOnce }
        )
        ended += outcomes.filter((outcome) => outcome.ended).length
        refused = outcomes.flatMap(({ callId, code }) => (code === null ? [] : [{ callId, code }]))
        if (outcomes.length === 0 || refused.length > 0) break
      }
      return { ended, refused } satisfies Ended
    })
  } as const
}
