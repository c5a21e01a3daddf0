/** Our own requests within a dialog, RFC 3261 sections 12.2.1, 14.1, 15.1.1 and 22: BYE, re-INVITE, INFO, REFER. */
import type { CommandId } from "../../../domain/Id.ts"
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as NameAddr from "../../../protocol/sip/message/header/NameAddr.ts"
import * as Requests from "../../../protocol/sip/message/Requests.ts"
import type { SipRequest, SipResponse } from "../../../protocol/sip/message/SipMessage.ts"
import type { LegEnd } from "../../Carrier.ts"
import * as Capabilities from "../Capabilities.ts"
import * as Credentials from "../Credentials.ts"
import * as SessionMedia from "./SessionMedia.ts"
import * as Referral from "./SessionReferral.ts"
import { moved } from "./SessionServer.ts"
import {
  type Action,
  chance,
  type Env,
  type Output,
  type Own,
  targetOf,
  sent,
  type State,
  stay,
  type Step,
  andThen,
  type Wanted
} from "./SessionState.ts"

/** The most open requests and subscriptions of one dialog. An action beyond it is not sent. */
const maxOpen = 16

/** How often a re-INVITE is sent again after 491. */
const maxAttempts = 10

const outcome = (commandId: CommandId, status: number | null): Output => ({ type: "outcome", commandId, status })

/** The end of an action that cannot be performed now. */
const refused = (state: State, { commandId, type }: Action): Step =>
  stay(
    state,
    type === "refer"
      ? { type: "tell", report: { type: "command_failed", commandId, reason: "not_possible" }, after: null }
      : outcome(commandId, null)
  )

const send = (state: State, method: string, purpose: Own["purpose"], extras: Requests.Extras = {}): Step => {
  const headers = [["User-Agent", state.agent.userAgent] as const, ...(extras.headers ?? [])]
  const { dialog, request: unsigned } = Dialog.request(state.dialog, method, null, { ...extras, headers })
  const { nonces, request } = Credentials.signed(state.trunk, unsigned, state.nonces)
  const own: Own = { cseq: dialog.localCSeq, request, credentials: Credentials.none, purpose }
  return stay(
    { ...state, dialog, nonces, own: [...state.own, own] },
    { type: "request", cseq: own.cseq, ...sent(state, request, dialog) }
  )
}

/** Sends BYE, which ends the session whatever else is under way (section 15.1.1). */
export const bye = (state: State, end: LegEnd): Step => {
  const before: ReadonlyArray<Output> = [
    ...(state.isAwaitingAck ? [{ type: "stopRepeating" } as const] : []),
    { type: "leaving", end }
  ]
  const next: State = { ...state, phase: "hungUp", isAwaitingAck: false }
  return andThen(stay(next, ...before), (after) => send(after, "BYE", { type: "bye", end }))
}

/** Whether a re-INVITE may be sent: one offer at a time, one INVITE at a time (section 14.1). */
const isFree = ({ isAwaitingAck, media }: State): boolean => !isAwaitingAck && media.exchange.type === "none"

/** Sends the wanted re-INVITE if it may be sent now. */
export const renegotiate = (state: State): Step => {
  const { wanted } = state
  if (wanted === null) return stay(state)
  const { action, attempt, notBefore } = wanted
  if (state.phase !== "established") return stay({ ...state, wanted: null }, outcome(action.commandId, null))
  if (notBefore !== null || !isFree(state)) return stay(state)
  const offered = SessionMedia.step({ ...state, wanted: null }, { type: "offer", direction: action.direction })
  const body = offered.body === null ? {} : { body: offered.body }
  return send(offered.state, "INVITE", { ...action, attempt }, { headers: [Capabilities.supported], ...body })
}

export const act = (state: State, action: Action): Step => {
  const { commandId } = action
  const isFull = state.own.length + state.subscriptions.length >= maxOpen
  if (state.phase !== "established" || isFull) return refused(state, action)
  switch (action.type) {
    case "info":
      return send(state, "INFO", { ...action, attempt: 0 }, { body: action.body })
    case "refer": {
      const to = NameAddr.format({ displayName: "", uri: action.uri, params: [] })
      const headers = [["Refer-To", to] as const, ["Referred-By", state.dialog.local] as const, ...action.headers]
      const referred = send(state, "REFER", { ...action, attempt: 0 }, { headers })
      return andThen(referred, (next) => stay(Referral.start(next, commandId, next.dialog.localCSeq)))
    }
    case "renegotiate":
      return state.wanted !== null || state.own.some(({ purpose }) => purpose.type === "renegotiate")
        ? refused(state, action)
        : stay({ ...state, wanted: { action, attempt: 0, notBefore: null } })
  }
}

/** The wait after a 491, section 14.1: the owner of the Call-ID waits 2.1 to 4 s, the other 0 to 2 s. */
const pendingMs = ({ isCaller }: State, env: Env): number =>
  isCaller ? 2_100 + 10 * chance(env, 191) : 10 * chance(env, 201)

/** The end of a dialog that the peer does not know, or in which it does not answer, section 12.2.1.2. */
const endOf = (status: number | null, isSilent: boolean): LegEnd | null => {
  if (status === 481) return { cause: "error", sipStatus: status, by: "far", why: "unknown_to_far_end" }
  return isSilent || status === 408
    ? { cause: "timer", sipStatus: status, by: "network", why: "request_unanswered" }
    : null
}

/** Takes the answer to our offer and acknowledges at once, because none of it is stored. */
const renegotiated = (state: State, request: SipRequest, commandId: CommandId, response: SipResponse): Step => {
  const dialog = Dialog.succeeded(state.dialog, response)
  const built = Dialog.acknowledge(dialog, request, null)
  const ack: Output = { type: "ack", ...sent(state, built.request, built.dialog) }
  const { connect, failure, ...described } = SessionMedia.step(
    { ...state, dialog: built.dialog },
    { type: "described", by: "success", body: response.body }
  )
  const told = andThen(stay(described.state, ack, ...connect), (next) => moved(next, targetOf(state)))
  const heard = andThen(told, (next) => stay(next, outcome(commandId, response.status)))
  return failure === null || heard.state.phase !== "established"
    ? heard
    : andThen(heard, (after) =>
        bye(after, { cause: "error", sipStatus: null, by: "near", why: "unusable_description" })
      )
}

/** Sends the ACK even for an unwanted answer, because the peer repeats its 2xx until then (section 13.3.1.4). */
const forgotten = (state: State, request: SipRequest, response: SipResponse): Step => {
  if (response.status >= 300) return stay(state)
  const { dialog, request: ack } = Dialog.acknowledge(Dialog.succeeded(state.dialog, response), request, null)
  return stay({ ...state, dialog }, { type: "ack", ...sent(state, ack, dialog) })
}

/** Ends a request that has its final response, or will have none (null). */
const settle = (state: State, own: Own, status: number | null, env: Env): Step => {
  const { purpose } = own
  switch (purpose.type) {
    case "bye":
      return stay(state, { type: "ended", end: purpose.end })
    case "forgotten":
      return stay(state)
    case "info":
      return stay(state, outcome(purpose.commandId, status))
    case "refer":
      return Referral.answered(state, purpose.commandId, status, env)
    case "renegotiate": {
      const rolledBack = SessionMedia.step(state, { type: "withdrawn" }).state
      const { attempt, ...action } = purpose
      if (status !== 491 || attempt >= maxAttempts) return stay(rolledBack, outcome(purpose.commandId, status))
      const wanted: Wanted = { action, attempt: attempt + 1, notBefore: env.now + pendingMs(state, env) }
      return stay({ ...rolledBack, wanted })
    }
  }
}

const without = (state: State, own: Own): State => ({ ...state, own: state.own.filter((other) => other !== own) })

const ended = (state: State, own: Own, status: number | null, isSilent: boolean, env: Env): Step =>
  andThen(settle(without(state, own), own, status, env), (next) => {
    const end = endOf(status, isSilent)
    return end === null || next.phase !== "established" ? stay(next) : bye(next, end)
  })

export const response = (state: State, cseq: number, response: SipResponse, env: Env): Step => {
  const own = state.own.find((each) => each.cseq === cseq)
  if (own === undefined) {
    const ack = Dialog.acknowledged(state.dialog, response)
    return response.status >= 300 || ack === null
      ? stay(state)
      : stay(state, { type: "ack", ...sent(state, ack, state.dialog) })
  }
  const { status } = response
  if (status < 200) return stay(state)
  const { purpose } = own
  if (purpose.type === "forgotten") return forgotten(without(state, own), own.request, response)
  // After a BYE was sent, only a challenge of that BYE is answered.
  const trunk = purpose.type === "bye" || state.phase === "established" ? state.trunk : null
  const cnonce = env.token.slice(0, 16)
  const answer = Credentials.answer(own.credentials, trunk, own.request, response, cnonce, state.nonces)
  const next: State = { ...state, nonces: answer.nonces }
  if (answer.again !== null) return again(next, own, answer.again)
  return status < 300 && purpose.type === "renegotiate"
    ? renegotiated(without(next, own), own.request, purpose.commandId, response)
    : ended(next, own, status, false, env)
}

/** Repeats a request with credentials, section 22.2: in a new transaction, with the next CSeq of the dialog. */
const again = (state: State, own: Own, answer: NonNullable<ReturnType<typeof Credentials.answer>["again"]>): Step => {
  const cseq = state.dialog.localCSeq + 1
  const dialog = { ...state.dialog, localCSeq: cseq }
  const request = Requests.again(own.request, cseq, answer.headers)
  const next: Own = { ...own, cseq, request, credentials: answer.credentials }
  const { own: others } = without(state, own)
  const challenged: State = { ...state, dialog, own: [...others, next] }
  const { purpose } = own
  const renumbered = purpose.type === "refer" ? Referral.renumber(challenged, purpose.commandId, cseq) : challenged
  return stay(renumbered, { type: "request", cseq, ...sent(state, request, dialog) })
}

export const failed = (state: State, cseq: number, isTimeout: boolean, env: Env): Step => {
  const own = state.own.find((each) => each.cseq === cseq)
  return own === undefined ? stay(state) : ended(state, own, null, isTimeout, env)
}

export const due = (state: State, env: Env): Step => {
  const { wanted } = state
  const isDue = wanted !== null && wanted.notBefore !== null && wanted.notBefore <= env.now
  return Referral.due(isDue ? { ...state, wanted: { ...wanted, notBefore: null } } : state, env)
}

/**
 * Gives the open requests the outcome `null`, because their result will not be known. The BYE continues, and a 2xx to a
 * re-INVITE is still acknowledged.
 */
export const over = (state: State): Step => {
  const outputs = state.own.flatMap(({ purpose }): ReadonlyArray<Output> =>
    purpose.type === "info" || purpose.type === "renegotiate" ? [outcome(purpose.commandId, null)] : []
  )
  const own = state.own.flatMap((each): ReadonlyArray<Own> => {
    if (each.purpose.type === "renegotiate") return [{ ...each, purpose: { type: "forgotten" } }]
    return each.purpose.type === "bye" ? [each] : []
  })
  return stay(Referral.drop({ ...state, own }), ...outputs)
}
