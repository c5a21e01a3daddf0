import { Context, Effect, Layer, Result, type Stream } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import * as Machine from "../../runtime/actor/Machine.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { CarrierSink } from "../../carrier/Carrier.ts"
import type { CallId, LegId, TenantId, WorkId } from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import { Recordings } from "../recording/Recording.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as CallMachine from "./machine/CallMachine.ts"
import * as CallMoney from "./shell/CallMoney.ts"
import * as CallMetrics from "./shell/CallMetrics.ts"
import * as CallRegistry from "./shell/CallRegistry.ts"
import * as CallRepo from "./stored/CallRepo.ts"
import { type CallState, isTerminal } from "./machine/CallState.ts"
import type * as CallFile from "./CallFile.ts"
import * as CallView from "./CallView.ts"
import * as ConnectCall from "./shell/ConnectCall.ts"
import * as EndCalls from "./shell/EndCalls.ts"
import * as Inbound from "./shell/Inbound.ts"
import * as MachineDetectionView from "./MachineDetectionView.ts"
import * as PlaceCall from "./shell/PlaceCall.ts"
import * as Candidate from "./machine/room/Candidate.ts"
import type { RoomListener } from "./shell/CallRooms.ts"
import type { DialMember } from "./machine/room/DialMember.ts"
import type { ToCall } from "./machine/room/RoomTell.ts"
import * as StreamView from "./StreamView.ts"
import * as UnreadableCall from "./stored/UnreadableCall.ts"
import * as Upgrade from "./stored/Upgrade.ts"
import type { Activity } from "./verb/ActionKind.ts"
import type { CallAction } from "./verb/CallVerbs.ts"

export type { PlaceRequest } from "./shell/PlaceCall.ts"
export { ToCall, ToConference } from "./machine/room/RoomTell.ts"
export { nothing as nothingPlanned } from "./machine/CallSetup.ts"
export * as AccountAnswer from "./shell/AccountAnswer.ts"
export * as Meter from "./machine/Meter.ts"
export * as Reservation from "./machine/Reservation.ts"
export type { Dialled } from "./machine/room/DialMember.ts"
export { Call } from "./CallView.ts"
export * as CallFile from "./CallFile.ts"
export { MachineDetection } from "./MachineDetectionView.ts"
export { MediaStream } from "./StreamView.ts"
export * as CallTimeline from "./timeline/CallTimeline.ts"
export type { CallSetup as Plan } from "./machine/CallSetup.ts"
export { CallStatus } from "./machine/leg/Leg.ts"
export type { DialOptions } from "./machine/leg/Pending.ts"
export type { Ended } from "./shell/EndCalls.ts"
export * as Upgrade from "./stored/Upgrade.ts"
export * as Connect from "./verb/Connect.ts"
export * as CallVerbs from "./verb/CallVerbs.ts"

/**
 * Calls, guide/calls.md: placing, controlling, finding and listing them, and what the carriers report of them.
 */
export class Calls extends Context.Service<
  Calls,
  {
    /** Answers 201 with the Call. Fails with the errors of guide/calls.md#order-of-checks, in that order. */
    readonly place: (
      caller: PlaceCall.Caller,
      request: PlaceCall.PlaceRequest,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /**
     * Dials a call for a membership in a conference: 201 with the body that the membership renders. Fails as `place`
     * does, but with 422 for a number that is not the tenant's, and as the claim of the membership does.
     */
    readonly dialIn: (
      caller: PlaceCall.Caller,
      request: PlaceCall.PlaceRequest,
      slot: Slot | null,
      membership: DialMember
    ) => Effect.Effect<Rendered, ApiError>
    /**
     * A call that can enter a conference now. Fails with `not_found`, `call_already_ended`,
     * `call_not_in_required_state`, `conflict` (it is in a conference, or is being connected), and the account's
     * refusal to pay for a minute there.
     */
    readonly candidate: (tenantId: TenantId, callId: CallId) => Effect.Effect<Candidate.Candidate, ApiError>
    /**
     * Sends a message of a conference to a call (src/telephony/README.md#rooms-of-conferences). It does not wait and
     * never fails: a lost message gets no answer and may be sent again. A call that does not exist gets its answer from
     * here.
     */
    readonly tellRoom: (callId: CallId, tell: ToCall) => Effect.Effect<void>
    /** Sets the one listener: the conferences. Answers before that are lost. */
    readonly onRoomAnswer: (listener: RoomListener) => Effect.Effect<void>
    /**
     * Fails where the call in its present state would make `act` refuse the action. It changes nothing. A caller uses
     * it to report such an error before any others.
     */
    readonly allows: (tenantId: TenantId, callId: CallId, action: CallAction) => Effect.Effect<void, ApiError>
    /**
     * Answers 200 with the Call; `not_found`, `call_already_ended`, `call_not_in_required_state`, `conflict`, and the
     * errors of the verb.
     */
    readonly act: (
      caller: PlaceCall.Caller,
      callId: CallId,
      action: CallAction,
      slot: Slot | null
    ) => Effect.Effect<Rendered, ApiError>
    /** The call with its legs. */
    readonly find: (tenantId: TenantId, callId: CallId) => Effect.Effect<CallView.Call, ApiError>
    /** The running media streams of a call. */
    readonly streams: (
      tenantId: TenantId,
      callId: CallId
    ) => Effect.Effect<ReadonlyArray<StreamView.MediaStream>, ApiError>
    /** `not_found` also when the call was placed without machine detection. */
    readonly machineDetection: (
      tenantId: TenantId,
      callId: CallId
    ) => Effect.Effect<MachineDetectionView.MachineDetection, ApiError>
    /** Calls without their legs, newest first. */
    readonly list: (
      tenantId: TenantId,
      filters: CallRepo.CallFilters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<CallView.Call>>
    /** All calls that match the filters, newest first, as records of a file, in portions. */
    readonly whole: (
      tenantId: TenantId,
      filters: CallRepo.CallFilters
    ) => Effect.Effect<Stream.Stream<ReadonlyArray<CallFile.Record>>>
    /** A record of each call of a tenant, or (null) of all, that ended in a period, in portions. */
    readonly ended: (
      period: CallRepo.Ended,
      tenantId: TenantId | null
    ) => Effect.Effect<Stream.Stream<ReadonlyArray<CallFile.TenantRecord>>>
    /** Rebuilds the calls that a dead process left, before anything is served. Returns their number. */
    readonly recover: Effect.Effect<number>
    /** Work of a family that has not ended, of all live calls. `hasLeft`: its part on the leg is over. */
    readonly awaiting: (family: "recording" | "transcription") => Effect.Effect<
      ReadonlyArray<{
        readonly id: WorkId
        readonly legId: LegId
        readonly callId: CallId
        readonly wasAnswered: boolean
        readonly hasLeft: boolean
      }>
    >
    readonly liveCount: Effect.Effect<number>
    /**
     * Refuses new calls from now on. Completes when every call has ended; the calls that are left after `drainMs` get
     * their BYE.
     */
    readonly drain: (drainMs: number) => Effect.Effect<void>
    /** Hangs up for the operator: `not_found`, `call_already_ended`; `service_unavailable`: the call continues. */
    readonly hangUp: (callId: CallId) => Effect.Effect<CallView.Call, ApiError>
    /** Ends the live calls of a tenant for the operator: as hung up, or because the tenant is suspended. */
    readonly endAll: (tenantId: TenantId, reason: "hung_up" | "tenant_suspended") => Effect.Effect<EndCalls.Ended>
  }
>()("trunkline/call/Calls") {
  static readonly layer = (options: { readonly maxCallSecs: number }) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const journal = yield* Journal
        const registry = yield* CallRegistry.make
        const repo = yield* CallRepo.make
        const recordings = yield* Recordings
        let accepting = true
        /** The number of calls between their first check and their first commit: a drain waits for these too. */
        let starting = 0
        const starts = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
          Effect.suspend(() => {
            starting++
            return Effect.ensuring(
              call,
              Effect.sync(() => starting--)
            )
          })
        const accounts = yield* Accounts
        const ending = EndCalls.make({ accounts, registry })
        const place = yield* PlaceCall.make({ ...options, registry })
        const connect = yield* ConnectCall.make({ ...options, registry })
        const stopping = ApiError.of("service_unavailable", "the service is stopping; no new calls")

        /** `tenantId` null: the call may belong to any tenant, for the operator. */
        const stored = Effect.fnUntraced(function* (tenantId: TenantId | null, callId: CallId) {
          const row = yield* journal.find(callId)
          if (row === null || row.kind !== "call" || (tenantId !== null && row.tenantId !== tenantId))
            return yield* ApiError.of("not_found", "no such call")
          const state = Upgrade.state(row)
          return Result.isSuccess(state) ? state.success : UnreadableCall.rebuild(row, yield* journal.inputs(callId))
        })

        /** The error for a call without an actor. */
        const absent = (state: CallState): ApiError =>
          isTerminal(state)
            ? ApiError.of("call_already_ended", "the call has already ended")
            : ApiError.of("service_unavailable", "the call is being recovered; try again")

        /** The query is skipped for a call that has recorded nothing. */
        const recordingsOf = (state: CallState) =>
          state.meters.some(({ kind }) => kind === "recording")
            ? recordings.ofCall(state.tenantId, state.id)
            : Effect.succeed([])
        const viewOf = (state: CallState) =>
          Effect.map(recordingsOf(state), (recorded) => CallView.ofState(state, recorded))

        const owned = (tenantId: TenantId, callId: CallId) => {
          const actor = registry.live.get(callId)
          const state = actor?.state() ?? null
          return actor !== undefined && state !== null && state.tenantId === tenantId ? { actor, state } : null
        }

        const endEverything = Effect.suspend(() =>
          Effect.forEach(
            [...registry.live.values()],
            (actor) => actor.tell({ type: "ended_by_system", reason: "carrier_error", rejectCause: "error" }),
            { concurrency: 256, discard: true }
          )
        )

        const until = Effect.fnUntraced(function* (reached: () => boolean, limitMs: number) {
          const last = (yield* Monotonic.now) + limitMs
          while (!reached() && (yield* Monotonic.now) < last) yield* Effect.sleep("20 millis")
        })
        const dialled = (call: Effect.Effect<Rendered, ApiError>): Effect.Effect<Rendered, ApiError> =>
          Effect.tapError(
            Effect.suspend(() => (accepting ? starts(call) : Effect.fail(stopping))),
            ({ code }) => CallMetrics.outboundRefused(code)
          )
        const none = () => registry.live.size + starting === 0

        const calls = Calls.of({
          place: (caller, request, slot) => dialled(place(caller, request, slot)),
          dialIn: (caller, request, slot, membership) =>
            Effect.mapError(dialled(place(caller, request, slot, membership)), (error) =>
              error.code === "from_number_not_owned" ? ApiError.at(422, error) : error
            ),
          candidate: Effect.fnUntraced(function* (tenantId, callId) {
            const live = owned(tenantId, callId)
            if (live === null) return yield* absent(yield* stored(tenantId, callId))
            const { state } = live
            const refused = Candidate.refusal(state)
            if (refused !== null) return yield* refused
            // Only a check: the money is reserved when the call enters.
            const stay = CallMoney.staying(state, registry.nowOf(state))
            const unpaid = stay === null ? null : yield* accounts.refusal(tenantId, callId, stay)
            return unpaid === null ? Candidate.of(state) : yield* unpaid
          }),
          tellRoom: registry.rooms.tell,
          onRoomAnswer: registry.rooms.listen,
          allows: Effect.fnUntraced(function* (tenantId, callId, action) {
            const live = owned(tenantId, callId)
            if (live === null) return yield* absent(yield* stored(tenantId, callId))
            const asked = { type: "action", action } as const
            const refused = Machine.refusal(CallMachine.machine, live.state, asked, registry.nowOf(live.state))
            if (refused !== null) return yield* refused
          }),
          act: Effect.fnUntraced(function* (caller, callId, action, slot) {
            const live = owned(caller.tenantId, callId)
            if (live !== null) {
              const asked = {
                by: Audit.byCaller(caller),
                slot,
                status: 200,
                recordings: yield* recordingsOf(live.state)
              }
              return yield* connect(live.actor, live.state, action, asked)
            }
            return yield* absent(yield* stored(caller.tenantId, callId))
          }),
          find: Effect.fnUntraced(function* (tenantId, callId) {
            const live = owned(tenantId, callId)
            return yield* viewOf(live === null ? yield* stored(tenantId, callId) : live.state)
          }),
          streams: Effect.fnUntraced(function* (tenantId, callId) {
            const live = owned(tenantId, callId)
            return StreamView.ofState(live === null ? yield* stored(tenantId, callId) : live.state)
          }),
          machineDetection: Effect.fnUntraced(function* (tenantId, callId) {
            // The row is read first, so that the state is no older than it.
            const row = yield* repo.machineDetection(tenantId, callId)
            const live = owned(tenantId, callId)
            const shown = MachineDetectionView.of(live === null ? yield* stored(tenantId, callId) : live.state, row)
            return shown ?? (yield* ApiError.of("not_found", "the call was not placed with machine detection"))
          }),
          list: repo.list,
          whole: repo.whole,
          ended: repo.ended,
          recover: registry.recover,
          awaiting: (family) =>
            Effect.sync(() =>
              [...registry.live.values()].flatMap((actor) => {
                const state = actor.state()
                if (state === null) return []
                const of = (hasLeft: boolean) => (item: Activity) => ({
                  id: item.id,
                  legId: item.legId,
                  callId: state.id,
                  wasAnswered: state.legs.some(({ answeredAt, id }) => id === item.legId && answeredAt !== null),
                  hasLeft
                })
                const left = state.outliving.map(({ item }) => item)
                const ofFamily = ({ type }: Activity) => type === family
                return [...state.work.filter(ofFamily).map(of(false)), ...left.filter(ofFamily).map(of(true))]
              })
            ),
          liveCount: Effect.sync(() => registry.live.size),
          drain: Effect.fn("Calls.drain")(function* (drainMs) {
            accepting = false
            if (!none() && drainMs > 0)
              yield* Effect.logInfo("live calls go on for a while; a second request to stop ends them", {
                calls: registry.live.size,
                forSecs: drainMs / 1000
              })
            yield* until(none, drainMs)
            if (none()) return
            yield* Effect.logInfo("draining is over: live calls are ended", { calls: registry.live.size })
            const over = until(() => starting === 0, hangupGraceMs).pipe(
              Effect.andThen(endEverything),
              Effect.andThen(until(none, hangupGraceMs))
            )
            // Without a database no call can end; the next start recovers them.
            yield* Effect.timeoutOption(over, hangupGraceMs)
          }),
          hangUp: Effect.fn("Calls.hangUp")(function* (callId) {
            const actor = registry.live.get(callId)
            if (actor === undefined) return yield* absent(yield* stored(null, callId))
            yield* ending.one(actor)
            return yield* viewOf(actor.state() ?? (yield* stored(null, callId)))
          }),
          endAll: ending.ofTenant
        })

        const offer = yield* Inbound.make({ ...options, registry, accepting: () => accepting })
        const sink = CarrierSink.of({
          offer: (offered) =>
            Effect.tap(starts(offer(offered)), (admission) =>
              admission.admitted ? Effect.void : CallMetrics.inboundRefused(admission.cause)
            ),
          tell: registry.tell
        })

        return Context.make(Calls, calls).pipe(Context.add(CarrierSink, sink))
      })
    )
}

/** How long a drain waits for the answers to its BYEs. */
const hangupGraceMs = 5_000
