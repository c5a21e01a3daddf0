import { Effect } from "effect"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import type { Actor } from "../../../runtime/actor/Actor.ts"
import { DialingPermissions } from "../../../money/account/Account.ts"
import { Carrier, RouteDirectory } from "../../../carrier/Carrier.ts"
import * as ReferredNumbers from "../../../carrier/number/ReferredNumbers.ts"
import * as TrunkNumberPlan from "../../../carrier/number/TrunkNumberPlan.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"
import * as OnAction from "../machine/OnAction.ts"
import type { CallInput } from "../machine/CallInput.ts"
import type { Asked } from "../stored/CallRecord.ts"
import type { CallRegistry } from "./CallRegistry.ts"
import { type CallState, primary } from "../machine/CallState.ts"
import * as Dialling from "./Dialling.ts"
import * as Connecting from "../machine/leg/Connecting.ts"
import { lives } from "../machine/leg/Leg.ts"
import type { CallAction } from "../verb/CallVerbs.ts"

/**
 * Collects the facts that a call needs before it is connected: for a transfer, whether it may be dialled
 * (guide/calls.md#transfer); for a referral, whether its numbers may be called (guide/calls.md#refer); for a bridge,
 * the owner of the other leg (guide/calls.md#bridge). The call then decides by its own state; the other call is not
 * asked, and learns of the bridge from the carrier.
 */
type CallActor = Actor<Id.CallId, CallState, CallInput, Asked, Rendered>
type ActionOf<Verb extends CallAction["verb"]> = Extract<CallAction, { readonly verb: Verb }>

export const make = Effect.fnUntraced(function* (options: {
  readonly registry: CallRegistry
  readonly maxCallSecs: number
}) {
  const { maxCallSecs, registry } = options
  const carrier = yield* Carrier
  const check = yield* Dialling.make
  const connections = yield* Trunks
  const dialing = yield* DialingPermissions
  const directory = yield* RouteDirectory
  const entropy = yield* Entropy

  const refer = Effect.fnUntraced(function* (
    actor: CallActor,
    state: CallState,
    action: ActionOf<"refer">,
    asked: Asked
  ) {
    const trunk = yield* directory.sipTrunk(state.routeId)
    const numbers = ReferredNumbers.of(trunk?.numbers ?? TrunkNumberPlan.none, action.body.sipAddress)
    yield* Effect.forEach(numbers, (number) => dialing.check(state.tenantId, number), { discard: true }).pipe(
      Effect.mapError(({ code, message }) => ApiError.of(code, message, "sip_address"))
    )
    return yield* actor.ask({ type: "action", action }, asked)
  })

  const transfer = Effect.fnUntraced(function* (
    actor: CallActor,
    state: CallState,
    action: ActionOf<"transfer">,
    asked: Asked
  ) {
    const { from, to } = action.body
    const { callerIdName, incarnation, price, route } = yield* check(state.tenantId, {
      routeId: state.routeId,
      from: from ?? (state.direction === "outbound" ? state.from : state.to),
      to,
      callerId: from === undefined && state.direction === "outbound" ? "admitted" : "owned"
    })
    // The legs of a call must be at one carrier to be connected.
    if (route.adapter !== state.adapter)
      return yield* ApiError.of("unprocessable", "the route of this call leads to another carrier than its leg")
    const legId = Id.derive(entropy.hex(16), "leg")
    return yield* actor
      .ask(
        {
          type: "action",
          action,
          transfer: {
            legId,
            from: from ?? (state.direction === "outbound" ? state.from : state.to),
            incarnation,
            ...price,
            limit: { afterSecs: maxCallSecs, reason: "time_limit" },
            ...(callerIdName === null ? {} : { callerIdName })
          }
        },
        asked
      )
      .pipe(
        // The leg took a place on its trunk when its money was reserved.
        Effect.tapError(() =>
          Effect.suspend(() =>
            actor.state()?.legs.some(({ id }) => id === legId) === true ? Effect.void : connections.leave(legId)
          )
        )
      )
  }, Effect.uninterruptible)

  const bridge = Effect.fnUntraced(function* (
    actor: CallActor,
    state: CallState,
    action: ActionOf<"bridge">,
    asked: Asked
  ) {
    const { legId } = action.body
    const other = registry.ofLeg(legId)
    const leg = other?.legs.find(({ id }) => id === legId)
    if (other === null || leg === undefined || !lives(leg) || other.tenantId !== state.tenantId)
      return yield* OnAction.noLiveLeg
    if (legId === primary(state).id)
      return yield* ApiError.of("unprocessable", "a leg cannot be bridged with itself", "leg_id")
    if (leg.answeredAt === null)
      return yield* ApiError.of("call_not_in_required_state", "the other leg is not answered", "leg_id")
    if (!carrier.meet(state.adapter, other.adapter))
      return yield* ApiError.of("unprocessable", "the other leg is at a carrier whose media are elsewhere", "leg_id")
    if (other.id !== state.id && Connecting.find(other) !== null)
      return yield* ApiError.of("conflict", "the other call is just being connected", "leg_id")
    return yield* actor.ask({ type: "action", action, peerCallId: other.id }, asked)
  })

  return (actor: CallActor, state: CallState, action: CallAction, asked: Asked): Effect.Effect<Rendered, ApiError> =>
    Effect.suspend(() => {
      if (action.verb !== "transfer" && action.verb !== "bridge" && action.verb !== "refer")
        return actor.ask({ type: "action", action }, asked)
      const refused = OnAction.refusal(state, action)
      if (refused !== null) return Effect.fail(refused)
      switch (action.verb) {
        case "transfer":
          return transfer(actor, state, action, asked)
        case "refer":
          return refer(actor, state, action, asked)
        case "bridge":
          return bridge(actor, state, action, asked)
      }
    })
})
