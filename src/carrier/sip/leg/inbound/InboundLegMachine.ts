/**
 * A leg that a trunk places, as a table: from its INVITE to the answer, the refusal or the CANCEL, RFC 3261 sections
 * 9.2, 12.1.1 and 13.3.
 *
 * When the peer ended the call, its final answer is sent after the end is committed. When a committed command ended it,
 * the final answer is sent at once.
 */
import type { RtpPlace } from "../../../../media/plane/MediaPlane.ts"
import * as Dialog from "../../../../protocol/sip/dialog/Dialog.ts"
import * as OfferAnswer from "../../../../protocol/sip/sdp/OfferAnswer.ts"
import * as Responses from "../../../../protocol/sip/message/Responses.ts"
import type { Reason } from "../../../../protocol/sip/message/header/Reason.ts"
import type { Header, SipRequest, SipResponse } from "../../../../protocol/sip/message/SipMessage.ts"
import type * as EndWhy from "../../../../domain/EndWhy.ts"
import type { CommandId } from "../../../../domain/Id.ts"
import type { LegEnd, SipTrunk, Told } from "../../../Carrier.ts"
import * as LegEnding from "../LegEnding.ts"
import * as LegMachine from "../LegMachine.ts"
import * as LegResume from "../LegResume.ts"
import * as SessionMachine from "../../session/SessionMachine.ts"
import * as SessionMedia from "../../session/SessionMedia.ts"
import { accepted, warningOf } from "../../session/SessionServer.ts"
import type * as Session from "../../session/SessionState.ts"
import type { TransactionId } from "../../TransactionLayer.ts"

const { andThen, stay } = LegMachine

type Phase =
  /** There is no final answer yet. */
  | "waiting"
  /** The leg has to answer, and waits for a place in the media plane. */
  | "answering"
  /** Our 2xx made the session. */
  | "answered"
  /** The leg is refused: the final answer is sent, or will be when the end is committed. */
  | "over"

interface Answering {
  readonly commandId: CommandId
  /** The tenant's custom headers for the answer. */
  readonly headers: ReadonlyArray<Header>
}

export interface State {
  readonly phase: Phase
  readonly id: TransactionId
  /** The parts of the INVITE that its responses need (`Responses.basis`). */
  readonly invite: SipRequest
  /** The session's dialog is early until our 2xx. */
  readonly session: Session.State
  /** The IP literal of the source of its signalling. */
  readonly signallingAddress: string
  /** When the caller stops waiting, section 13.3.1; null when it gives no time. */
  readonly expiresAt: number | null
  /** The command to answer. */
  readonly answering: Answering | null
  /** How the leg ends once our refusal is acknowledged or given up; null when none was sent. */
  readonly refusal: LegEnd | null
  readonly ending: LegEnding.LegEnding
}

/** The inputs beyond those of every leg. */
export type Own =
  | { readonly type: "ring" }
  | ({ readonly type: "answer" } & Answering)
  /** Ends the leg: before the answer by a refusal with `status`, afterwards by BYE. */
  | { readonly type: "release"; readonly status: number }
  /** A CANCEL arrived and was answered. */
  | { readonly type: "cancelled"; readonly reason: Reason | null }
  /** The peer acknowledged our refusal, or never will. */
  | { readonly type: "refused" }
  /** The trunk of the call's route is known, soon after the admission. */
  | { readonly type: "routed"; readonly trunk: SipTrunk }
  /** The sink did not admit the call. */
  | { readonly type: "notAdmitted"; readonly status: number }

type Input = LegMachine.Input | Own

type Step = LegMachine.Step<State>

export type Given = Omit<Parameters<typeof SessionMachine.start>[0], "dialog" | "isCaller" | "media" | "trunk"> & {
  readonly id: TransactionId
  readonly invite: SipRequest
  readonly localTag: string
  readonly contact: string
  readonly signallingAddress: string
  readonly expiresAt: number | null
}

type Started =
  | { readonly type: "started"; readonly state: State }
  /** The INVITE makes no leg: `response` refuses it. */
  | { readonly type: "refused"; readonly response: SipResponse }

/** Reads the offer. An unacceptable one is refused before the tenant is asked, section 13.3.1. */
export const start = ({ contact, expiresAt, id, invite, localTag, signallingAddress, ...given }: Given): Started => {
  const refused = (status: number, more: Responses.Options = {}): Started => ({
    type: "refused",
    response: Responses.make(invite, status, { toTag: localTag, ...more })
  })
  const dialog = Dialog.fromRequest(invite, { localTag, contact, cseq: 1 })
  if (dialog === null) return refused(400)
  const early = SessionMachine.start({ ...given, dialog, isCaller: false, trunk: null, media: OfferAnswer.initial })
  const { failure, state: session } = SessionMedia.step(early, { type: "described", by: "request", body: invite.body })
  if (failure !== null)
    return refused(failure.status, { headers: [["Warning", warningOf(given.agent.host, failure.reason)]] })
  return {
    type: "started",
    state: {
      phase: "waiting",
      id,
      invite: Responses.basis(invite),
      session,
      signallingAddress,
      expiresAt,
      answering: null,
      refusal: null,
      ending: LegEnding.live
    }
  }
}

const response = ({ invite, session }: State, status: number, more: Responses.Options = {}): SipResponse =>
  Responses.make(invite, status, { toTag: session.dialog.localTag, ...more })

const respond = (state: State, status: number, more: Responses.Options = {}): LegMachine.Output => ({
  type: "respond",
  id: state.id,
  response: response(state, status, more)
})

const refuse = (state: State, status: number, env: Session.Env, why?: EndWhy.Code): Step => {
  const end: LegEnd = { cause: "final_response", sipStatus: status, by: "near", ...(why === undefined ? {} : { why }) }
  const more: Responses.Options = status === 503 ? { headers: [["Retry-After", "5"]] } : {}
  const refused: State = { ...state, phase: "over", refusal: end }
  return andThen(LegMachine.leave(refused, end, env.now), (next) => stay(next, respond(state, status, more)))
}

const cancelled: LegEnd = { cause: "cancelled", sipStatus: 487, by: "far" }
const hungUp: LegEnd = { cause: "hangup", sipStatus: null, by: "near" }
const expired: LegEnd = { ...cancelled, why: "caller_expired" }

const isWaiting = ({ phase }: State): boolean => phase === "waiting" || phase === "answering"

/** The end of a caller that left, before an answer as `end`. Its 487 is sent when the end is committed. */
const left = (state: State, end = cancelled): LegMachine.Left =>
  isWaiting(state)
    ? { end, owed: [LegMachine.owe(state.id, response(state, 487))] }
    : { end: { cause: "hangup", sipStatus: null, by: "far" }, owed: [] }

const giveUp = (state: State, as: LegEnd, reason: Reason | null): Step => {
  if (!isWaiting(state)) return stay(state)
  const { end, owed } = left(state, as)
  return LegMachine.end({ ...state, phase: "over" }, LegMachine.because(end, reason), owed)
}

const expire = (step: Step, { now }: Session.Env): Step => {
  const { expiresAt } = step.state
  return expiresAt !== null && expiresAt <= now ? andThen(step, (next) => giveUp(next, expired, null)) : step
}

const takePlace = ({ signallingAddress }: State): LegMachine.Output => ({ type: "takePlace", signallingAddress })

const unanswered = (
  state: State,
  commandId: CommandId,
  reason: "no_media" | "not_acceptable",
  status: number,
  env: Session.Env
): Step => {
  const report = { type: "command_failed", commandId, reason } as const
  const refused = refuse(state, status, env, reason === "no_media" ? "no_media" : "unusable_description")
  return andThen(stay(state, { type: "tell", report, after: null }), () => refused)
}

const placed = (state: State, place: RtpPlace | null, env: Session.Env): Step => {
  const { answering } = state
  if (state.phase !== "answering" || answering === null) return stay(state)
  if (place === null) return unanswered(state, answering.commandId, "no_media", 503, env)
  const local = { ...state.session.local, addresses: place.addresses, port: place.port }
  const made = SessionMedia.step({ ...state.session, local }, { type: "accept" })
  if (made.failure !== null) return unanswered(state, answering.commandId, "not_acceptable", made.failure.status, env)
  const session: Session.State = {
    ...made.state,
    phase: "accepted",
    dialog: Dialog.accepted(made.state.dialog),
    isAwaitingAck: true
  }
  return stay({ ...state, phase: "answered", session }, ...made.connect, {
    type: "succeed",
    id: state.id,
    response: accepted(state.invite, session, made.body, answering.headers),
    dialog: Dialog.id(session.dialog)
  })
}

/** A step of the session. The leg is answered when the ACK has arrived. */
const sessionStep = (state: State, input: Session.Input, env: Session.Env): Step => {
  const { outputs, state: session } = SessionMachine.step(state.session, input, env)
  const hasLeft = session.phase === "left" && isWaiting(state)
  const next: State = { ...state, session, phase: hasLeft ? "over" : state.phase }
  const after = LegMachine.after(next, outputs, left(state), env.now)
  if (state.session.phase !== "accepted" || session.phase !== "established") return after
  const report = { type: "answered", resume: LegResume.dialog(session.dialog, session.flow) } as const
  return andThen(after, (last) => stay(last, { type: "tell", report, after: null }))
}

const release = (state: State, status: number, env: Session.Env): Step => {
  switch (state.phase) {
    case "waiting":
    case "answering":
      return refuse(state, status, env)
    case "answered":
      return sessionStep(state, { type: "hangUp", end: hungUp }, env)
    case "over":
      return stay(state)
  }
}

/** Forgets the leg: its events are not reported, and the answers that wait for them are sent now. */
const notAdmitted = (state: State, status: number, env: Session.Env): Step => {
  const forgotten = stay<State>(state, { type: "forget" })
  if (state.phase === "answered") return andThen(forgotten, (next) => release(next, status, env))
  if (state.phase === "over") return forgotten
  const more: Responses.Options = status === 503 ? { headers: [["Retry-After", "5"]] } : {}
  const ending = { type: "ended", told: "unknown" } as const
  return andThen(forgotten, (next) => stay({ ...next, phase: "over", ending }, respond(state, status, more)))
}

const told = (state: State, after: Session.After, outcome: Told, env: Session.Env): Step => {
  switch (after.type) {
    case "respond":
      return stay(state, LegEnding.answer(after, outcome))
    case "moved":
      return sessionStep(state, { type: "moved" }, env)
    // The peer sends the ACK in an inbound leg.
    case "acknowledge":
      return stay(state)
  }
}

export const step = (state: State, input: Input, env: Session.Env): Step => {
  switch (input.type) {
    case "ring":
      return state.phase === "waiting"
        ? stay(state, respond(state, 180, { contact: state.session.dialog.contact }))
        : stay(state)
    case "answer":
      return state.phase === "waiting"
        ? stay(
            { ...state, phase: "answering", answering: { commandId: input.commandId, headers: input.headers } },
            takePlace(state)
          )
        : stay(state)
    case "placed":
      return placed(state, input.place, env)
    case "release":
      return release(state, input.status, env)
    case "disowned":
      return release(state, 480, env)
    case "cancelled":
      return giveUp(state, cancelled, input.reason)
    case "refused":
      return state.refusal === null ? stay(state) : LegMachine.end(state, state.refusal)
    case "routed":
      return stay({ ...state, session: { ...state.session, trunk: input.trunk } })
    case "notAdmitted":
      return notAdmitted(state, input.status, env)
    case "within":
      return sessionStep(state, input.input, env)
    case "action":
      return sessionStep(state, { type: "action", action: input.action }, env)
    case "told":
      return told(state, input.after, input.told, env)
    case "endTold":
      return andThen(LegMachine.endTold(state, input.told), (next) => sessionStep(next, { type: "over" }, env))
    case "mediaLost":
      return state.phase === "answered"
        ? sessionStep(state, { type: "hangUp", end: LegMachine.silent(input.reason) }, env)
        : stay(state)
    case "due":
      return andThen(expire(LegMachine.due(state, env.now), env), (next) => sessionStep(next, { type: "due" }, env))
  }
}

export const deadline = (state: State): number | null => {
  const { ending, expiresAt, session } = state
  const others = LegMachine.deadline(ending, session)
  if (!isWaiting(state) || expiresAt === null) return others
  return others === null ? expiresAt : Math.min(others, expiresAt)
}

/** The dialogs whose requests the leg receives. */
export const dialogs = ({ ending, phase, session }: State): ReadonlyArray<string> =>
  phase === "over" || (ending.type === "ended" && SessionMachine.isQuiet(session)) ? [] : [Dialog.id(session.dialog)]
