import * as Audit from "../../../runtime/audit/Audit.ts"
import { Effect } from "effect"
import { Accounts } from "../../../money/account/Account.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Carrier } from "../../../carrier/Carrier.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as Increments from "../../../domain/price/Increments.ts"
import * as Money from "../../../domain/Money.ts"
import type { Slot } from "../../../runtime/idempotency/Slot.ts"
import type { CallRegistry } from "./CallRegistry.ts"
import * as Dialling from "./Dialling.ts"
import * as TestMoney from "./TestMoney.ts"
import type { DialOptions } from "../machine/leg/Pending.ts"
import * as CallSetup from "../machine/CallSetup.ts"
import type { DialMember } from "../machine/room/DialMember.ts"

/** The minutes that a new call reserves. Most calls need no more, and ringing calls bind no more of the balance. */
const reservedMinutes = 1

/** The API's request for an outbound call (guide/calls.md#placing-a-call), with defaults applied. */
export interface PlaceRequest {
  readonly from: string
  readonly to: string
  readonly routeId: Id.RouteId | null
  readonly customerReference: string | null
  readonly timeoutSecs: number
  readonly timeLimitSecs: number | null
  readonly callerIdForwarding: boolean
  /** The work that begins by itself. */
  readonly plan: CallSetup.CallSetup
  /** Further fields of the dial; absent: none. */
  readonly options?: DialOptions
}

export type Caller = Omit<Audit.Caller, "scopes">

/**
 * Places a call, guide/calls.md#order-of-checks: route, caller id, dialing permission, money and caps; then the call's
 * first state, `call.started` and the receipt are one commit, and only then does the carrier get the dial.
 *
 * A call for a membership in a conference claims the membership when all else is reserved, and before that commit: a
 * membership whose call never came is given back, at once or when its conference asks for it.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly registry: CallRegistry
  readonly maxCallSecs: number
}) {
  const { maxCallSecs, registry } = options
  const accounts = yield* Accounts
  const billing = yield* Billing
  const carrier = yield* Carrier
  const connections = yield* Trunks
  const entropy = yield* Entropy
  const check = yield* Dialling.make

  return Effect.fnUntraced(function* (
    caller: Caller,
    request: PlaceRequest,
    slot: Slot | null,
    membership: DialMember | null = null
  ) {
    const { callerIdName, incarnation, price, route } = yield* check(caller.tenantId, {
      ...request,
      callerId: request.callerIdForwarding ? "forwarding" : "owned"
    })
    if (membership !== null && !carrier.meet(route.adapter, membership.adapter)) return yield* elsewhere
    const { plan } = request
    const prices = yield* billing.prices
    const kinds = [...CallSetup.kinds(plan), ...(membership === null ? [] : (["conference"] as const))]
    const microUsd = kinds.map((kind) => prices[kind])
    const callId = Id.derive(entropy.hex(16), "call")
    const legId = Id.derive(callId, "leg")
    const { partition } = yield* accounts.reserve(caller.tenantId, callId, {
      purpose: "outbound",
      ...TestMoney.takenBy(route.adapter),
      offers: [
        [
          Increments.microUsd(price, Increments.ofMinutes(price, reservedMinutes)),
          ...microUsd.map((each) => each * reservedMinutes)
        ].reduce((sum, each) => sum + Money.centsFromMicro(each), 0)
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
    const dialled = { callId, legId, routeId: route.routeId }
    const unclaimed =
      membership === null
        ? Effect.void
        : registry.rooms.say({
            type: "refused",
            conferenceId: membership.conferenceId,
            memberId: membership.memberId,
            callId,
            reason: "gone"
          })
    const unborn = Effect.andThen(abandoned, unclaimed)
    if (membership !== null)
      yield* membership.claim(dialled).pipe(
        Effect.tapError(() => abandoned),
        // It is unknown whether the membership was claimed.
        Effect.tapDefect(() => unborn)
      )
    const actor = yield* Effect.tapError(registry.spawn(partition, callId, unborn), () => unborn)
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
          ...price,
          reservedMinutes,
          limit: { afterSecs: Math.min(request.timeLimitSecs ?? maxCallSecs, maxCallSecs), reason: "time_limit" },
          prices,
          plan
        },
        from: request.from,
        to: request.to,
        customerReference: request.customerReference,
        timeoutSecs: request.timeoutSecs,
        options: {
          ...request.options,
          ...(callerIdName === null ? {} : { callerIdName }),
          ...(membership === null ? {} : { near: membership.near })
        },
        ...(membership === null
          ? {}
          : {
              seat: {
                conferenceId: membership.conferenceId,
                memberId: membership.memberId,
                legId,
                reservedMinutes,
                ...membership.enters()
              }
            })
      },
      {
        by: Audit.byCaller(caller),
        slot,
        status: 201,
        recordings: [],
        ...(membership === null ? {} : { body: () => membership.render(dialled) })
      }
    )
  }, Effect.uninterruptible)
})

/** The same condition as for a transfer: the two legs must be able to meet. */
const elsewhere = ApiError.of("unprocessable", "the route leads to a carrier whose media are elsewhere", "route_id")
