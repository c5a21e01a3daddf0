import { Effect } from "effect"
import { Accounts } from "../account/Account.ts"
import { Entropy } from "../actor/Entropy.ts"
import { Billing } from "../billing/Billing.ts"
import { Connections } from "../connection/Connection.ts"
import * as Id from "../domain/Id.ts"
import * as Money from "../domain/Money.ts"
import type { Slot } from "../idempotency/Slot.ts"
import type { CallRegistry } from "./CallRegistry.ts"
import * as Dialling from "./Dialling.ts"
import type { DialOptions } from "./leg/Pending.ts"
import * as Plan from "./Plan.ts"

/** What a new call reserves. Most calls need no more, and a call that rings holds no more of others' money. */
const reservedMinutes = 1

/** An outbound call as the API asks for it (guide/calls.md#placing-a-call), defaults applied. */
export interface PlaceRequest {
  readonly from: string
  readonly to: string
  readonly routeId: Id.RouteId | null
  readonly customerReference: string | null
  readonly timeoutSecs: number
  readonly timeLimitSecs: number | null
  readonly callerIdForwarding: boolean
  /** What begins by itself. */
  readonly plan: Plan.Plan
  /** What the dial says besides; absent: nothing. */
  readonly options?: DialOptions
}

export interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
}

/**
 * Places a call, guide/calls.md#order-of-checks: route, caller id, dialing permission, money and caps; then the
 * call's first state, `call.started` and the receipt are one commit, and only then is the carrier asked.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly registry: CallRegistry
  readonly maxCallSecs: number
}) {
  const { maxCallSecs, registry } = options
  const accounts = yield* Accounts
  const billing = yield* Billing
  const connections = yield* Connections
  const entropy = yield* Entropy
  const check = yield* Dialling.make

  return Effect.fnUntraced(function* (caller: Caller, request: PlaceRequest, slot: Slot | null) {
    const { callerIdName, incarnation, microUsdPerMinute, route } = yield* check(caller.tenantId, {
      ...request,
      callerId: request.callerIdForwarding ? "forwarding" : "owned"
    })
    const { plan } = request
    const prices = yield* billing.prices
    const microUsd = Plan.kinds(plan).map((kind) => prices[kind])
    const callId = Id.derive(entropy.hex(16), "call")
    const { partition } = yield* accounts.reserve(caller.tenantId, callId, {
      purpose: "outbound",
      offers: [
        [microUsdPerMinute, ...microUsd].reduce((sum, each) => sum + Money.centsFromMicro(each * reservedMinutes), 0)
      ]
    })
    const abandoned = Effect.andThen(connections.leave(callId), accounts.abandoned(caller.tenantId, callId))
    const entering = {
      tenantId: caller.tenantId,
      routeId: route.routeId,
      occupant: callId,
      direction: "outbound"
    } as const
    yield* Effect.tapError(connections.enter(entering), () => abandoned)
    const actor = yield* Effect.tapError(registry.spawn(partition, callId, abandoned), () => abandoned)
    return yield* actor.ask(
      {
        type: "place",
        terms: {
          callId,
          timeOffsetMs: actor.time.offsetMs,
          tenantId: caller.tenantId,
          routeId: route.routeId,
          adapter: route.adapter,
          incarnation,
          microUsdPerMinute,
          reservedMinutes,
          limit: { afterSecs: Math.min(request.timeLimitSecs ?? maxCallSecs, maxCallSecs), reason: "time_limit" },
          prices,
          plan
        },
        from: request.from,
        to: request.to,
        customerReference: request.customerReference,
        timeoutSecs: request.timeoutSecs,
        options: { ...request.options, ...(callerIdName === null ? {} : { callerIdName }) }
      },
      { keyId: caller.keyId, slot, status: 201, recordings: [] }
    )
  }, Effect.uninterruptible)
})
