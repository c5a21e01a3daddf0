import { type Outcome, unchanged } from "../actor/Machine.ts"
import type { CustomHeader } from "../domain/CustomHeader.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import { end, failing, release } from "./Ending.ts"
import type { Leg } from "./leg/Leg.ts"
import type { Pending } from "./leg/Pending.ts"
import * as Presence from "./Presence.ts"
import type { StepContext } from "./StepContext.ts"

/**
 * What a call does that was rebuilt, or whose carrier is back. What the carrier says of its leg decides.
 *
 * A leg that lives goes on, and what pends is sent again. A carrier that knows nothing of our commands gets only those
 * that do no harm twice, and each family of verbs says what becomes of its work. A leg that is gone ends the call,
 * billed to the last sign of life; a dial among such legs is found by the identity of its command and taken down. A leg
 * of which nobody can say anything is waited for. What outlives its leg goes on waiting for its outcome.
 */
type Recovered = Extract<CallInput, { readonly type: "recovered" }>
type Result = Draft.Draft | Outcome<never, never>

export const step = (state: CallState, input: Recovered, context: StepContext): Result => {
  const leg = primary(state)
  const over = isTerminal(state)
  if (over && state.pending.length === 0) return unchanged
  const lostAt = leg.lost?.at ?? Math.min(context.now, input.lostAt)
  const presence = Presence.of(state, leg, input.snapshot)
  if (input.snapshot === null || presence === "unknown")
    return leg.lost === null
      ? Draft.setLeg(Draft.from(state), leg.id, { lost: { at: lostAt, since: context.now } })
      : unchanged
  // An input of an earlier version names no life of a carrier.
  const incarnation = input.snapshot.incarnation === "" ? null : input.snapshot.incarnation
  const draft = Draft.setLeg(Draft.from(state), leg.id, {
    lost: null,
    ...(incarnation === leg.incarnation ? {} : { incarnation, heard: 0 })
  })
  if (over) return again(draft, context)
  switch (presence) {
    case "alive":
      return leg.lost === null && !isOpen(state, leg) ? unchanged : resend(draft, context)
    case "found":
      return carryOn(draft, context)
    case "gone":
      return end(draft, failing(state, "carrier_error"), lostAt, context, { rejectCause: "error" })
  }
}

/** The call had ended; its legs may not have heard of it. */
const again = (draft: Draft.Draft, context: StepContext): Draft.Draft =>
  draft.state.pending.reduce<Draft.Draft>(
    (open, pending) => {
      const leg = draft.state.legs.find((candidate) => candidate.id === pending.legId)
      return pending.type !== "hangup" || leg === undefined
        ? open
        : release(open, leg, context, pending.rejectCause, pending.commandId)
    },
    Draft.set(draft, { pending: [] })
  )

/** Whether something that was asked of the leg may not have reached it. */
const isOpen = (state: CallState, leg: Leg): boolean =>
  state.pending.length > 0 || state.work.some(({ media }) => media !== null) || isToRing(state, leg)

/** Alerting has no outcome, so nobody knows whether the caller hears it. */
const isToRing = (state: CallState, leg: Leg): boolean =>
  leg.direction === "inbound" && leg.answeredAt === null && !state.pending.some(({ type }) => type === "answer")

const ring = (draft: Draft.Draft, leg: Leg, context: StepContext): Draft.Draft =>
  isToRing(draft.state, leg)
    ? // Behind the identities of what the families send.
      Draft.send(draft, {
        type: "ring",
        commandId: Draft.commandId(context, 99),
        callId: draft.state.id,
        legId: leg.id
      })
    : draft

/** Sends down again all that has no outcome yet, under its own identity; the carrier drops what it took before. */
const resend = (draft: Draft.Draft, context: StepContext): Draft.Draft => {
  const leg = primary(draft.state)
  const asked = draft.state.pending.reduce((open, pending) => ask(open, leg, pending), ring(draft, leg, context))
  return context.work.resend(asked, leg)
}

const ask = (draft: Draft.Draft, leg: Leg, pending: Pending): Draft.Draft => {
  const { state } = draft
  const of = { commandId: pending.commandId, callId: state.id, legId: leg.id }
  switch (pending.type) {
    case "dial":
      return Draft.send(draft, {
        ...of,
        type: "dial",
        tenantId: state.tenantId,
        routeId: state.routeId,
        from: leg.from,
        to: leg.to,
        ...pending.options
      })
    case "answer":
      return Draft.send(draft, { ...of, type: "answer", ...headersOf(pending) })
    case "bridge":
      return Draft.send(draft, {
        ...of,
        type: "bridge",
        peerLegId: pending.peerLegId,
        peerCallId: pending.peerCallId
      })
    case "unbridge":
      return Draft.send(draft, { ...of, type: "unbridge" })
    case "refer":
      return Draft.send(draft, { ...of, type: "refer", to: pending.to, ...headersOf(pending) })
    case "hangup":
      return draft
  }
}

const headersOf = ({ headers }: { readonly headers?: ReadonlyArray<CustomHeader> }) =>
  headers === undefined ? {} : { headers }

/** Drops what was asked of the leg and may not have reached it; the call goes on. */
const carryOn = (draft: Draft.Draft, context: StepContext): Draft.Draft => {
  const leg = primary(draft.state)
  const isIdle = leg.answeredAt === null && draft.state.work.length === 0
  const quiet = isIdle ? draft : context.work.restarted(draft, leg, context)
  // An adapter answers a leg once, however often it is asked to. A dial has reached it.
  return draft.state.pending
    .filter(({ type }) => type === "answer")
    .reduce((open, pending) => ask(open, leg, pending), ring(quiet, leg, context))
}
