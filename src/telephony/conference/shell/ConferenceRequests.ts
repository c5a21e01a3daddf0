import { Effect } from "effect"
import { Accounts } from "../../../money/account/Account.ts"
import { Calls, nothingPlanned } from "../../call/Call.ts"
import * as Machine from "../../../runtime/actor/Machine.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { Carrier } from "../../../carrier/Carrier.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { Rendered, Slot } from "../../../runtime/idempotency/Slot.ts"
import { Plans } from "../../../money/plan/Plan.ts"
import * as OnConferenceAction from "../machine/OnConferenceAction.ts"
import type { ConferenceInput } from "../machine/ConferenceInput.ts"
import * as ConferenceMachine from "../machine/ConferenceMachine.ts"
import type { ConferenceRegistry } from "./ConferenceRegistry.ts"
import type { Caller, CreateRequest, DialRequest } from "../ConferenceRequest.ts"
import { type ConferenceState, isPresent } from "../machine/ConferenceState.ts"
import { settingsOf } from "../../../ports/media/MemberChange.ts"
import * as ConferenceField from "../verb/ConferenceField.ts"
import * as ParticipantView from "../ParticipantView.ts"
import * as ReadConferences from "./ReadConferences.ts"
import * as RoomMembers from "../machine/RoomMembers.ts"
import type { ConferenceAction } from "../verb/ConferenceVerbs.ts"

type ConferenceActor = NonNullable<ReturnType<ConferenceRegistry["live"]["get"]>>

/** API requests for conferences. Facts about calls, plans and carriers are read before the conference is asked. */
export const make = Effect.fnUntraced(function* (registry: ConferenceRegistry) {
  const accounts = yield* Accounts
  const calls = yield* Calls
  const carrier = yield* Carrier
  const plans = yield* Plans
  const reading = yield* ReadConferences.make(registry)

  /** An ended call gets the same error as one that is not yet answered, because neither can enter a conference. */
  const candidate = (tenantId: Id.TenantId, callId: Id.CallId) =>
    Effect.mapError(calls.candidate(tenantId, callId), (error) =>
      error.code === "call_already_ended" ? ApiError.of("call_not_in_required_state", error.message) : error
    )

  const create = Effect.fnUntraced(function* (caller: Caller, request: CreateRequest, slot: Slot | null) {
    const host = yield* candidate(caller.tenantId, request.hostCallId)
    return yield* registry.claims.during(request.hostCallId, createWith(host, caller, request, slot))
  }, Effect.uninterruptible)

  const createWith = Effect.fnUntraced(function* (
    host: Effect.Success<ReturnType<typeof candidate>>,
    caller: Caller,
    request: CreateRequest,
    slot: Slot | null
  ) {
    const { hostCallId, ...asked } = request
    const most = yield* plans.conferenceParticipants(caller.tenantId)
    if (most !== null && request.maxParticipants > most) return yield* RoomMembers.tooMany(most)
    if (carrier.rooms(host.adapter) === null)
      return yield* ApiError.of("unprocessable", "host_call_id: its carrier has no rooms", "host_call_id")
    const partition = yield* accounts.takeIn(caller.tenantId)
    const conferenceId = Id.derive(registry.entropy.hex(16), "conf")
    const actor = yield* registry.spawn(partition, conferenceId, Effect.void)
    return yield* actor.ask(
      {
        type: "create",
        ...asked,
        conferenceId,
        timeOffsetMs: actor.time.offsetMs,
        tenantId: caller.tenantId,
        routeId: host.routeId,
        adapter: host.adapter,
        hostCallId,
        hostLegId: host.legId,
        customerReference: host.customerReference
      },
      { by: Audit.byCaller(caller), slot, status: 201, member: null }
    )
  })

  /** The actor of a live conference; fails when the conference has ended. */
  const live = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.ConferenceId) {
    const actor = registry.live.get(id)
    const state = actor?.state() ?? null
    if (actor !== undefined && state !== null && state.tenantId === tenantId) return { actor, state }
    const { status } = yield* reading.found(tenantId, id)
    return yield* status === "completed"
      ? OnConferenceAction.alreadyEnded
      : ApiError.of("service_unavailable", "the conference is being recovered; try again")
  })

  /** Fails when the conference would refuse the input. Its errors are reported before those of other entities. */
  const allowed = (state: ConferenceState, input: ConferenceInput): Effect.Effect<void, ApiError> => {
    const refused = Machine.refusal(ConferenceMachine.machine, state, input, registry.nowOf(state).at)
    return refused === null ? Effect.void : Effect.fail(refused)
  }

  const allows = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.ConferenceId, action: ConferenceAction) {
    const { state } = yield* live(tenantId, id)
    yield* allowed(state, { type: "action", action, mostParticipants: null })
  })

  /** Fails unless the call can enter and its carrier can connect it to this room. */
  const joinable = Effect.fnUntraced(function* (tenantId: Id.TenantId, state: ConferenceState, callId: Id.CallId) {
    const { adapter, customerReference, legId } = yield* candidate(tenantId, callId)
    if (!carrier.meet(adapter, state.adapter)) return yield* elsewhere
    return { customerReference, legId }
  })

  const act = Effect.fnUntraced(function* (
    caller: Caller,
    id: Id.ConferenceId,
    action: ConferenceAction,
    slot: Slot | null
  ) {
    const { actor, state } = yield* live(caller.tenantId, id)
    if (action.verb === "join") {
      const { callId } = action.body
      yield* allowed(state, { type: "action", action, mostParticipants: null })
      const joining = yield* joinable(caller.tenantId, state, callId)
      return yield* registry.claims.during(callId, asked(actor, caller, { action, joining }, slot))
    }
    return yield* asked(actor, caller, { action }, slot)
  })

  const asked = Effect.fnUntraced(function* (
    actor: ConferenceActor,
    caller: Caller,
    input: Pick<Extract<ConferenceInput, { readonly type: "action" }>, "action" | "joining">,
    slot: Slot | null
  ) {
    const { action } = input
    const mostParticipants = action.verb === "update" ? yield* plans.conferenceParticipants(caller.tenantId) : null
    const member =
      action.verb === "update_member" ? action.memberId : action.verb === "remove_member" ? action.member : null
    return yield* actor.ask(
      { type: "action", ...input, mostParticipants },
      { by: Audit.byCaller(caller), slot, status: 200, member }
    )
  })

  const dial = Effect.fnUntraced(function* (
    caller: Caller,
    id: Id.ConferenceId,
    request: DialRequest,
    slot: Slot | null
  ): Effect.fn.Return<Rendered, ApiError> {
    const { actor, state } = yield* live(caller.tenantId, id)
    const memberId = Id.derive(registry.entropy.hex(16), "member")
    const callId = Id.derive(memberId, "call")
    const entering = ConferenceField.enteringOf(request)
    yield* allowed(state, { type: "claim", memberId, callId, legId: Id.derive(callId, "leg"), entering })
    const rendered = yield* calls.dialIn(caller, { ...request, timeLimitSecs: null, plan: nothingPlanned }, slot, {
      conferenceId: id,
      memberId,
      adapter: state.adapter,
      near: Id.derive(id, "leg"),
      claim: ({ callId, legId }) =>
        Effect.asVoid(
          actor.ask(
            { type: "claim", memberId, callId, legId, customerReference: request.customerReference, entering },
            { by: Audit.byCaller(caller), slot: null, status: 201, member: memberId }
          )
        ),
      enters: () => {
        const member = actor.state()?.members.find((other) => other.id === memberId)
        const { isHeld, isMuted } = member ?? { isMuted: false, isHeld: false }
        return { isMuted, isHeld, ...settingsOf(member?.enters ?? {}) }
      },
      render: () => {
        const now = actor.state() ?? state
        const member = now.members.find((other) => other.id === memberId)
        if (member === undefined) throw new Error(`the seat ${memberId} was claimed and is not there`)
        return ParticipantView.render(id, member, registry.nowOf(now))
      }
    })
    const membership = actor.state()?.members.find((member) => member.id === memberId && !isPresent(member))
    // The membership was over before its call existed, so the call is notified now.
    if (membership !== undefined)
      yield* calls.tellRoom(membership.callId, RoomMembers.over(id, memberId, membership.told ?? { by: "system" }))
    return rendered
  })

  return { create, allows, act, dial } as const
})

const elsewhere = ApiError.of("unprocessable", "call_id: its carrier and that of the conference do not meet", "call_id")
