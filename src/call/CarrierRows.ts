import { type Outcome, type StepContext, unchanged } from "../actor/Machine.ts"
import type { CarrierEvent, Json } from "../carrier/Carrier.ts"
import * as Timestamp from "../domain/Timestamp.ts"
import type { MediaEvent } from "../media/message/MediaMessage.ts"
import { type CallState, isTerminal, type Leg, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import { end } from "./Ending.ts"
import * as EndReason from "./EndReason.ts"
import * as Gathering from "./Gathering.ts"

/**
 * The carrier's rows, spec §3.1 and decisions C36, C41: steps forward only; what comes late changes nothing, except
 * that the end of a leg settles the command that waits for it.
 */
export const step = (
  state: CallState,
  event: CarrierEvent,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  const leg = state.legs.find((candidate) => candidate.id === event.legId)
  if (leg === undefined || leg.gone) return unchanged
  const at = happened(leg, event.at, context)
  if (event.type === "ended") return legEnded(state, leg, event, at, context)
  if (isTerminal(state)) return unchanged
  const draft = Draft.from(state)
  switch (event.type) {
    case "ringing":
    case "early_media":
      return ringing(draft, leg, event.resume, at)
    case "answered":
      return answered(draft, leg, event.resume, at)
    case "media":
      return media(draft, leg, event.event, at, context)
    case "command_failed": {
      const failed = state.pending.find((pending) => pending.commandId === event.commandId)
      if (failed === undefined) return unchanged
      const settled = Draft.settle(draft, (pending) => pending.commandId === event.commandId)
      return failed.type === "play"
        ? Draft.emit(settled, {
            type: "call.playback_ended",
            data: {
              ...Draft.ids(state, leg.id),
              playback_id: failed.playbackId,
              status: "failed",
              reason: event.reason,
              ended_at: Timestamp.format(at)
            }
          })
        : settled
    }
  }
}

const media = (
  draft: Draft.Draft,
  leg: Leg,
  event: MediaEvent,
  at: number,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  switch (event.type) {
    case "dtmf":
      return dtmf(draft, leg, event.digit, happened(leg, event.at, context))
    case "ended": {
      const { pending } = draft.state
      const ended = pending.find((each) => (each.type === "play" ? each.playbackId : each.commandId) === event.id)
      if (ended === undefined) return unchanged
      const settled = Draft.settle(draft, (each) => each === ended)
      return ended.type === "play"
        ? Draft.emit(settled, {
            type: "call.playback_ended",
            data: {
              ...Draft.ids(draft.state, leg.id),
              playback_id: ended.playbackId,
              status: event.status,
              reason: event.reason,
              ended_at: Timestamp.format(at)
            }
          })
        : settled
    }
  }
}

/** A carrier's clock may run ahead or behind: an event happened neither in the future nor before its call. */
const happened = (leg: Leg, at: number, context: StepContext): number =>
  Math.min(context.now, Math.max(at, leg.answeredAt ?? leg.initiatedAt))

const remember = (draft: Draft.Draft, leg: Leg, resume: Json): Draft.Draft =>
  resume === null ? draft : Draft.setLeg(draft, leg.id, { resume })

const ringing = (draft: Draft.Draft, leg: Leg, resume: Json, at: number): Draft.Draft | Outcome<never, never> => {
  if (leg.status !== "initiated") {
    // A later provisional answer may come from another branch of the far end: the newest is what a CANCEL will meet.
    return leg.status === "ringing" && resume !== null ? remember(draft, leg, resume) : unchanged
  }
  const next = remember(Draft.setLeg(draft, leg.id, { status: "ringing" }), leg, resume)
  if (leg.role !== "primary" || draft.state.status !== "initiated") return next
  return Draft.emit(Draft.set(next, { status: "ringing" }), {
    type: "call.ringing",
    data: { ...Draft.ids(draft.state, leg.id), ringing_at: Timestamp.format(at) }
  })
}

const answered = (draft: Draft.Draft, leg: Leg, resume: Json, at: number): Draft.Draft | Outcome<never, never> => {
  if (leg.answeredAt !== null) return resume === null ? unchanged : remember(draft, leg, resume)
  const next = Draft.settle(
    remember(Draft.setLeg(draft, leg.id, { status: "answered", answeredAt: at }), leg, resume),
    (pending) => pending.legId === leg.id && (pending.type === "dial" || pending.type === "answer")
  )
  if (leg.role !== "primary") return next
  return Draft.emit(Draft.set(next, { status: "answered", answeredAt: at }), {
    type: "call.answered",
    data: { ...Draft.ids(draft.state, leg.id), answered_at: Timestamp.format(at) }
  })
}

const dtmf = (draft: Draft.Draft, leg: Leg, digit: string, at: number): Draft.Draft | Outcome<never, never> => {
  const { state } = draft
  if (state.answeredAt === null) return unchanged
  const heard = Draft.emit(draft, {
    type: "call.dtmf",
    data: { ...Draft.ids(state, leg.id), digit, received_at: Timestamp.format(at) }
  })
  if (state.gather === null || leg.role !== "primary") return heard
  const gather = Gathering.withDigit(state.gather, digit, at)
  if (!Gathering.isComplete(gather)) return Draft.set(heard, { gather })
  return Draft.emit(Draft.set(heard, { gather: null }), {
    type: "call.gather_complete",
    data: {
      ...Draft.ids(state, leg.id),
      digits: gather.digits,
      status: gather.status,
      completed_at: Timestamp.format(at)
    }
  })
}

const legEnded = (
  state: CallState,
  leg: Leg,
  event: Extract<CarrierEvent, { readonly type: "ended" }>,
  at: number,
  context: StepContext
): Draft.Draft => {
  const gone = Draft.settle(
    Draft.setLeg(Draft.from(state), leg.id, { gone: true }),
    (pending) => pending.legId === leg.id && pending.type === "hangup"
  )
  if (isTerminal(state) || leg.id !== primary(state).id) return gone
  return end(
    gone,
    EndReason.ofLeg(event, { direction: state.direction, answered: state.answeredAt !== null }),
    at,
    context
  )
}
