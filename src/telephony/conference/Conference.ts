import { Context, Effect, Layer } from "effect"
import { RoomSink } from "../../carrier/room/Rooms.ts"
import type { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as ConferenceRequests from "./shell/ConferenceRequests.ts"
import * as ConferenceRegistry from "./shell/ConferenceRegistry.ts"
import type { ConferenceFilters, ParticipantFilters } from "./stored/ConferenceRepo.ts"
import type { Caller, CreateRequest, DialRequest } from "./ConferenceRequest.ts"
import type * as ConferenceView from "./ConferenceView.ts"
import * as EndConferences from "./shell/EndConferences.ts"
import * as RoomMembers from "./machine/RoomMembers.ts"
import type * as ParticipantView from "./ParticipantView.ts"
import * as ReadConferences from "./shell/ReadConferences.ts"
import type { UpstreamFilters, UpstreamPage } from "./Upstream.ts"
import type { ConferenceAction } from "./verb/ConferenceVerbs.ts"

export { Conference } from "./ConferenceView.ts"
export { ConferenceParticipant } from "./ParticipantView.ts"
export { Page as UpstreamParticipants } from "./Upstream.ts"
export { ConferenceStatus } from "./machine/ConferenceState.ts"
export * as StoredConference from "./stored/StoredConference.ts"
export * as ConferenceField from "./verb/ConferenceField.ts"
export * as MemberVerbs from "./verb/MemberVerbs.ts"
export * as ConferenceVerbs from "./verb/ConferenceVerbs.ts"

/**
 * Conferences, guide/conferences.md: rooms of calls, each an entity beside the calls that are in it.
 */
export class Conferences extends Context.Service<
  Conferences,
  {
    /**
     * Answers 201 with the Conference. `not_found`, `call_already_ended`, `call_not_in_required_state`: about the
     * host's call; `conflict`: the name is taken, or the call is in a room; `unprocessable`: more participants than the
     * plan allows.
     */
    readonly create: (caller: Caller, request: CreateRequest, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /**
     * Fails where the conference in its present state would make `act` refuse the action. It changes nothing. A caller
     * uses it to report such an error before any others.
     */
    readonly allows: (
      tenantId: Id.TenantId,
      conferenceId: Id.ConferenceId,
      action: ConferenceAction
    ) => Effect.Effect<void, ApiError>
    /**
     * Answers 200 with the Conference; with the ConferenceParticipant for `update_member` and `remove_member`.
     * `not_found`, `conference_already_ended`, and the errors of the verb.
     */
    readonly act: (
      caller: Caller,
      conferenceId: Id.ConferenceId,
      action: ConferenceAction,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /**
     * Answers 201 with the ConferenceParticipant, whose call is dialled. `not_found`, `conference_already_ended`,
     * `conference_full`, and the errors of placing a call (`from_number_not_owned` with 422).
     */
    readonly dial: (
      caller: Caller,
      conferenceId: Id.ConferenceId,
      request: DialRequest,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** The conference with its participants. */
    readonly find: (
      tenantId: Id.TenantId,
      conferenceId: Id.ConferenceId
    ) => Effect.Effect<ConferenceView.Conference, ApiError>
    /** Conferences without their participants, newest first. */
    readonly list: (
      tenantId: Id.TenantId,
      filters: ConferenceFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<ConferenceView.Conference>>
    /** Speaking participants first, then all others in the order in which they were seated. */
    readonly participants: (
      tenantId: Id.TenantId,
      conferenceId: Id.ConferenceId,
      filters: ParticipantFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<ParticipantView.ConferenceParticipant>, ApiError>
    /** `not_found`; `member_not_found`. */
    readonly participant: (
      tenantId: Id.TenantId,
      conferenceId: Id.ConferenceId,
      memberId: Id.MemberId
    ) => Effect.Effect<ParticipantView.ConferenceParticipant, ApiError>
    /** The carrier's present view of the room. `upstream_error`: the carrier cannot be asked. */
    readonly upstream: (
      tenantId: Id.TenantId,
      conferenceId: Id.ConferenceId,
      filters: UpstreamFilters,
      page: { readonly number: number; readonly size: number }
    ) => Effect.Effect<UpstreamPage, ApiError>
    /** Rebuilds the conferences that a dead process left, after the calls have been rebuilt. Returns their number. */
    readonly recover: Effect.Effect<number>
    readonly liveCount: Effect.Effect<number>
    /** The number of members that are in rooms now. */
    readonly memberCount: Effect.Effect<number>
    /** Recordings whose outcome is not known. `hasLeft`: recording has stopped. */
    readonly awaitingRecordings: Effect.Effect<
      ReadonlyArray<{
        readonly id: Id.WorkId
        readonly conferenceId: Id.ConferenceId
        readonly callId: Id.CallId
        /** The room's leg in the media plane. */
        readonly legId: Id.LegId
        readonly hasLeft: boolean
      }>
    >
    /**
     * Refuses new conferences from now on. Completes when all have ended, as they do with their calls; the conferences
     * that are left after `drainMs` are closed.
     */
    readonly drain: (drainMs: number) => Effect.Effect<void>
    /** The conference of any tenant, for the operator. */
    readonly show: (conferenceId: Id.ConferenceId) => Effect.Effect<ConferenceView.Conference, ApiError>
    /** Ends the conference of any tenant for the operator: `not_found`, `conference_already_ended`. */
    readonly endByOperator: (conferenceId: Id.ConferenceId) => Effect.Effect<ConferenceView.Conference, ApiError>
  }
>()("trunkline/conference/Conferences") {
  static readonly layer = (options: {
    /** Whether a subscription of the tenant wants events about speaking members. */
    readonly wantsSpeaking: (tenantId: Id.TenantId) => Effect.Effect<boolean>
  }) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const registry = yield* ConferenceRegistry.make(options)
        const reading = yield* ReadConferences.make(registry)
        const asking = yield* ConferenceRequests.make(registry)
        const ending = EndConferences.make(registry)
        const sink = yield* RoomSink
        yield* sink.listen(registry.tell)

        return Context.make(
          Conferences,
          Conferences.of({
            find: reading.find,
            list: reading.list,
            participants: reading.participants,
            participant: reading.participant,
            upstream: reading.upstream,
            show: reading.ofAnyTenant,
            create: (caller, request, slot) =>
              Effect.suspend(() =>
                ending.accepting() ? asking.create(caller, request, slot) : Effect.fail(EndConferences.stopping)
              ),
            allows: asking.allows,
            act: asking.act,
            dial: asking.dial,
            recover: registry.recover,
            liveCount: Effect.sync(() => registry.live.size),
            memberCount: Effect.sync(() =>
              [...registry.live.values()].reduce((sum, actor) => {
                const state = actor.state()
                return sum + (state === null ? 0 : RoomMembers.inside(state))
              }, 0)
            ),
            awaitingRecordings: Effect.sync(() =>
              [...registry.live.values()].flatMap((actor) => {
                const state = actor.state()
                return state === null
                  ? []
                  : state.recordings.map(({ id, until }) => ({
                      id,
                      conferenceId: state.id,
                      callId: state.hostCallId,
                      legId: Id.derive(state.id, "leg"),
                      hasLeft: until !== null
                    }))
              })
            ),
            drain: ending.drain,
            endByOperator: Effect.fn("Conferences.endByOperator")(function* (conferenceId) {
              yield* ending.one(conferenceId, yield* reading.ofAnyTenant(conferenceId))
              return yield* reading.ofAnyTenant(conferenceId)
            })
          })
        )
      })
    )
}
