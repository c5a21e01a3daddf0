import { type Outcome, unchanged } from "../../../runtime/actor/Machine.ts"
import type { LegFacts } from "../../../carrier/Carrier.ts"
import { entryOf } from "../../../ports/media/MemberChange.ts"
import type { CustomHeader } from "../../../domain/CustomHeader.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import { end } from "./CallEnding.ts"
import * as EndReason from "./EndReason.ts"
import * as Bridging from "./leg/Bridging.ts"
import * as Connecting from "./leg/Connecting.ts"
import { type Leg, lives } from "./leg/Leg.ts"
import * as LegOver from "./leg/LegOver.ts"
import type { Pending } from "./leg/Pending.ts"
import { release } from "./leg/Release.ts"
import * as Presence from "./leg/Presence.ts"
import * as OnRoomEvent from "./room/OnRoomEvent.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * Recovers a call that was rebuilt, or whose carrier is back. The carrier's snapshot decides, for each leg separately.
 *
 * A leg that is alive continues, and its pending commands are repeated. A carrier that does not know our commands gets
 * only those that are safe to repeat, and each family of verbs decides about its work. When the call's own leg is gone,
 * the call ends, billed to the last sign of life; another leg ends as if its carrier had reported it. A dial among such
 * legs is found by the identity of its command and taken down. The call waits for a leg whose state is unknown. Work
 * that outlives its leg keeps waiting for its outcome.
 */
type Recovered = Extract<CallInput, { readonly type: "recovered" }>
type Result = StepBuilder.StepBuilder | Outcome<never, never>

export const step = (state: CallState, input: Recovered, context: StepContext): Result => {
  const over = isTerminal(state)
  if (over && state.pending.length === 0) return unchanged
  const { snapshot } = input
  const asked = state.legs.filter(({ gone }) => !gone)
  const lostAt = ({ lost }: Leg) => lost?.at ?? Math.min(context.now, input.lostAt)
  if (snapshot === null) {
    const fresh = asked.filter(({ lost }) => lost === null)
    return fresh.length === 0
      ? unchanged
      : fresh.reduce(
          (open, leg) => StepBuilder.setLeg(open, leg.id, { lost: { at: lostAt(leg), since: context.now } }),
          StepBuilder.from(state)
        )
  }
  const { incarnation } = snapshot
  const there = asked.reduce(
    (open, leg) =>
      StepBuilder.setLeg(open, leg.id, {
        lost: null,
        ...(incarnation === leg.incarnation ? {} : { incarnation, heard: 0 })
      }),
    StepBuilder.from(state)
  )
  if (over) return again(there, context)
  const own = primary(state)
  if (Presence.of(state, own, snapshot) === "gone")
    return end(there, EndReason.failing(state, "carrier_error", "service_restarted"), lostAt(own), context, {
      rejectCause: "error",
      isMeasured: true
    })
  const result = asked.reduce((open, leg) => {
    if (isTerminal(open.state)) return open
    const presence = Presence.of(state, leg, snapshot)
    if (!lives(leg)) return again(open, context, leg)
    if (presence === "gone")
      return LegOver.ended(
        open,
        leg,
        EndReason.failing(leg, "carrier_error", "service_restarted"),
        null,
        lostAt(leg),
        context
      )
    if (presence === "found") return carryOn(open, leg, snapshot.legs[leg.id], context)
    return leg.lost === null && !isOpen(state, leg) ? open : resend(open, leg, context)
  }, there)
  return result === there && asked.every((leg) => leg.lost === null && leg.incarnation === incarnation)
    ? unchanged
    : result
}

/** Repeats the hang-up of legs that had ended, because their carrier may not have received it. */
const again = (
  builder: StepBuilder.StepBuilder,
  context: StepContext,
  only: Leg | null = null
): StepBuilder.StepBuilder =>
  builder.state.pending.reduce<StepBuilder.StepBuilder>((open, pending) => {
    const leg = builder.state.legs.find(({ id }) => id === pending.legId)
    if (pending.type !== "hangup" || leg === undefined || (only !== null && only.id !== leg.id)) return open
    return release(
      StepBuilder.settle(open, (other) => other === pending),
      leg,
      context,
      pending.rejectCause,
      pending.commandId
    )
  }, builder)

const of = ({ pending }: CallState, leg: Leg): ReadonlyArray<Pending> => pending.filter(({ legId }) => legId === leg.id)

/** Whether a command for the leg may not have arrived. */
const isOpen = (state: CallState, leg: Leg): boolean =>
  of(state, leg).length > 0 ||
  state.work.some(({ legId, media }) => media !== null && legId === leg.id) ||
  isToRing(state, leg)

/** Alerting has no outcome, so it is unknown whether the caller hears it. */
const isToRing = (state: CallState, leg: Leg): boolean =>
  leg.direction === "inbound" && leg.answeredAt === null && !state.pending.some(({ type }) => type === "answer")

const ring = (builder: StepBuilder.StepBuilder, leg: Leg, context: StepContext): StepBuilder.StepBuilder =>
  isToRing(builder.state, leg)
    ? // The index is above those of the commands of families.
      StepBuilder.send(builder, {
        type: "ring",
        commandId: StepBuilder.commandId(context, 99),
        callId: builder.state.id,
        legId: leg.id
      })
    : builder

/** Sends every command without an outcome again, under its own id; the carrier drops those that it has taken. */
const resend = (builder: StepBuilder.StepBuilder, leg: Leg, context: StepContext): StepBuilder.StepBuilder => {
  const asked = of(builder.state, leg).reduce(
    (open, pending) => ask(open, leg, pending, context),
    ring(builder, leg, context)
  )
  return context.work.resend(asked, leg)
}

const ask = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  pending: Pending,
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const of = { commandId: pending.commandId, callId: state.id, legId: leg.id }
  switch (pending.type) {
    case "dial":
      return ringback(
        StepBuilder.send(builder, {
          ...of,
          type: "dial",
          tenantId: state.tenantId,
          routeId: state.routeId,
          from: leg.from,
          to: leg.to,
          ...pending.options
        }),
        leg,
        context
      )
    case "answer":
      return StepBuilder.send(builder, { ...of, type: "answer", tenantId: state.tenantId, ...headersOf(pending) })
    case "bridge":
      return StepBuilder.send(builder, {
        ...of,
        type: "bridge",
        peerLegId: pending.peerLegId,
        peerCallId: pending.peerCallId
      })
    case "unbridge":
      return StepBuilder.send(builder, { ...of, type: "unbridge" })
    case "join_room":
      return StepBuilder.send(builder, {
        ...of,
        type: "join_room",
        conferenceId: pending.conferenceId,
        ...entryOf(pending)
      })
    case "leave_room":
      return StepBuilder.send(builder, { ...of, type: "leave_room" })
    case "refer":
      return pending.completedAt === null
        ? StepBuilder.send(builder, { ...of, type: "refer", to: pending.to, ...headersOf(pending) })
        : builder
    case "hangup":
      return builder
  }
}

/** Plays the ring-back tone again, because it is unknown whether the call's own leg hears it. */
const ringback = (builder: StepBuilder.StepBuilder, leg: Leg, context: StepContext): StepBuilder.StepBuilder =>
  leg.role === "transfer" ? Connecting.ringback(builder, true, context) : builder

const headersOf = ({ headers }: { readonly headers?: ReadonlyArray<CustomHeader> }) =>
  headers === undefined ? {} : { headers }

/**
 * Continues a leg that another incarnation of the carrier has: drops commands that may not have reached it, and repeats
 * those that are safe to repeat.
 */
const carryOn = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  facts: LegFacts | undefined,
  context: StepContext
): StepBuilder.StepBuilder => {
  const isOwn = leg.id === primary(builder.state).id
  // Work may have begun with the ringing, or with the request to answer.
  const hasWork = leg.answeredAt !== null || builder.state.work.length > 0
  const quiet = isOwn && hasWork ? context.work.restarted(builder, leg, context) : builder
  const asked = of(quiet.state, leg).reduce(
    (open, pending) => {
      switch (pending.type) {
        // The leg exists, so its dial has arrived.
        case "dial":
          return ringback(open, leg, context)
        // An adapter answers a leg once, however often it is asked to.
        case "answer":
        case "bridge":
        case "unbridge":
        case "join_room":
        case "leave_room":
          return ask(open, leg, pending, context)
        case "refer":
          return pending.completedAt === null
            ? Connecting.referFailed(open, pending, { reason: "service_restarted", sipStatus: null }, context.now)
            : open
        case "hangup":
          return open
      }
    },
    ring(quiet, leg, context)
  )
  const { bridge } = leg
  if (isOwn && asked.state.room !== null) return OnRoomEvent.again(asked, context)
  return isOwn && bridge !== null && facts?.bridge?.peerLegId !== bridge.legId
    ? Bridging.ask(asked, bridge, "restart", context)
    : asked
}
