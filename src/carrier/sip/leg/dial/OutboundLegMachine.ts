/**
 * A leg that we place, as a table: INVITE to the trunk of its route until it is answered, refused or cancelled, RFC
 * 3261 sections 9, 12.1.2 and 13.2. Each branch of a forked INVITE that rings has a separate dialog; from the 2xx on
 * one is the session.
 *
 * The ACK is sent after the answer is committed, or the dialog of an answer that is not wanted. Until then the peer
 * repeats its 200, and the leg ignores the repetitions.
 */
import type * as EndWhy from "../../../../domain/EndWhy.ts"
import * as IpAddress from "../../../../domain/network/IpAddress.ts"
import type { RtpPlace } from "../../../../media/plane/MediaPlane.ts"
import * as Dialog from "../../../../protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../../protocol/sip/message/MessageKey.ts"
import * as OfferAnswer from "../../../../protocol/sip/sdp/OfferAnswer.ts"
import * as Reason from "../../../../protocol/sip/message/header/Reason.ts"
import * as Requests from "../../../../protocol/sip/message/Requests.ts"
import type { SipRequest, SipResponse } from "../../../../protocol/sip/message/SipMessage.ts"
import type { LegEnd, LegReport, Told } from "../../../Carrier.ts"
import * as Credentials from "../../Credentials.ts"
import * as DialInvite from "./DialInvite.ts"
import * as LegEnding from "../LegEnding.ts"
import * as LegMachine from "../LegMachine.ts"
import * as LegResume from "../LegResume.ts"
import type { Input, State, Way } from "./OutboundLegState.ts"
import * as SelfAddress from "../../transport/SelfAddress.ts"
import * as SessionMachine from "../../session/SessionMachine.ts"
import * as SessionMedia from "../../session/SessionMedia.ts"
import type * as Session from "../../session/SessionState.ts"

const { andThen, stay } = LegMachine

type Step = LegMachine.Step<State>

/** The most early dialogs that are kept for one INVITE. Further branches are ignored until they answer. */
const maxBranches = 16

const failing = (why: EndWhy.Code): LegEnd => ({ cause: "error", sipStatus: null, by: "network", why })
const unanswered = (why: EndWhy.Code): LegEnd => ({ cause: "timer", sipStatus: null, by: "network", why })
/** The end of a leg whose INVITE has no final response, by what its transaction reports. */
const withoutResponse = {
  timeout: unanswered("no_response"),
  transport: unanswered("not_sent"),
  full: failing("no_capacity"),
  duplicate: failing("unspecified")
}
const noRoute: LegEnd = { cause: "no_route", sipStatus: null, by: "network" }
const left: LegMachine.Left = { end: { cause: "hangup", sipStatus: null, by: "far" }, owed: [] }

const finish = (state: State, end: LegEnd): Step => LegMachine.end({ ...state, phase: "over", early: [] }, end)

const call = (state: State, way: Way, invite: SipRequest): Step =>
  stay({ ...state, phase: "calling", invite }, { type: "invite", invite, flow: way.flow })

/** Keeps the nonces of the trunk where they have changed. */
const keep = (state: State, { trunk }: Way, before: Credentials.Nonces, nonces: Credentials.Nonces): Step =>
  nonces === before ? stay(state) : stay(state, { type: "nonces", trunk, nonces })

const routed = (state: State, way: Way): Step =>
  stay({ ...state, way }, { type: "takePlace", signallingAddress: way.flow.remote.address })

const placed = (state: State, place: RtpPlace | null, env: Session.Env): Step => {
  const { dial, identity, userAgent, way } = state
  if (state.phase !== "preparing" || way === null) return stay(state)
  if (place === null) return finish(state, failing("no_media"))
  const local = {
    ...state.local,
    addresses: place.addresses,
    port: place.port,
    family: IpAddress.family(way.flow.remote.address)
  }
  const offered = OfferAnswer.step(state.media, { type: "offer", direction: null }, local)
  const body = offered.outputs.find((output) => output.type === "send")?.body
  const unsigned = DialInvite.make({ self: way.self, userAgent }, identity, way.trunk, dial, body)
  const known = env.nonces(way.trunk)
  const { nonces, request } = Credentials.signed(way.trunk, unsigned, known)
  const described: State = { ...state, local, media: offered.state }
  return andThen(keep(described, way, known, nonces), (next) => call(next, way, request))
}

const tell = (report: Extract<LegMachine.Output, { readonly type: "tell" }>["report"]): LegMachine.Output => ({
  type: "tell",
  report,
  after: null
})

/** The dialog of a ringing branch: the one kept under its tag, or a new one. */
const branchOf = (state: State, way: Way, invite: SipRequest, response: SipResponse): Session.State | null => {
  const tag = MessageKey.toTag(response)
  const known = state.early.find(({ dialog }) => dialog.remoteTag === tag)
  if (known !== undefined) return known
  const dialog = Dialog.fromResponse(invite, response)
  if (dialog === null) return null
  return SessionMachine.start({
    dialog,
    isCaller: true,
    flow: way.flow,
    trunk: way.trunk,
    agent: { userAgent: state.userAgent, host: IpAddress.host(way.self.address) },
    local: state.local,
    media: state.media
  })
}

const early = (outputs: ReadonlyArray<OfferAnswer.Output | LegMachine.Output>): ReadonlyArray<LegMachine.Output> =>
  outputs.flatMap((output) => (output.type === "connect" ? [{ ...output, isEarly: true }] : []))

/** The last branch that sends a description gets the media; RFC 3960 section 3.1 leaves us the choice. */
const described = (state: State, way: Way, invite: SipRequest, response: SipResponse): Step => {
  const branch = branchOf(state, way, invite, response)
  const input: OfferAnswer.Input = { type: "described", by: "provisional", body: response.body }
  if (branch === null) {
    const { outputs, state: media } = OfferAnswer.step(state.media, input, state.local)
    return stay({ ...state, media }, ...early(outputs))
  }
  const heard = SessionMedia.step(branch, input)
  const others = state.early.filter(({ dialog }) => dialog.remoteTag !== branch.dialog.remoteTag)
  if (others.length >= maxBranches) return stay(state)
  const hearing = heard.connect.length === 0 ? state.hearing : branch.dialog.remoteTag
  return stay({ ...state, early: [...others, heard.state], hearing }, ...early(heard.connect))
}

const provisional = (state: State, way: Way, invite: SipRequest, response: SipResponse): Step => {
  const proceeding: State = { ...state, phase: "proceeding" }
  if (state.leaving !== null) return cancel(proceeding)
  if (response.status === 100) return stay(proceeding)
  const heard = described(proceeding, way, invite, response)
  const resume = LegResume.calling(invite, way.flow)
  if (response.status === 180 && !state.hasRung)
    return andThen(heard, (next) => stay({ ...next, hasRung: true }, tell({ type: "ringing", resume })))
  if (heard.outputs.length === 0 || state.hasEarlyMedia) return heard
  return andThen(heard, (next) => stay({ ...next, hasEarlyMedia: true }, tell({ type: "early_media", resume })))
}

/** Cancels the INVITE after a provisional response (section 9.1). It then ends with 487, or with an earlier 2xx. */
const cancel = (state: State): Step =>
  state.isCancelled || state.invite === null || state.way === null
    ? stay(state)
    : stay({ ...state, isCancelled: true }, { type: "cancel", invite: state.invite, flow: state.way.flow })

const sessionStep = (state: State, input: Session.Input, env: Session.Env): Step => {
  if (state.session === null) return stay(state)
  const { outputs, state: session } = SessionMachine.step(state.session, input, env)
  return LegMachine.after({ ...state, session }, outputs, left, env.now)
}

/**
 * Connects the branch of the 2xx while another branch has the media, because the 2xx may omit the description that its
 * branch sent before.
 */
const unheard = ({ hearing }: State, { dialog, media }: Session.State): ReadonlyArray<LegMachine.Output> =>
  media.agreement === null || hearing === null || hearing === dialog.remoteTag
    ? []
    : [{ type: "connect", terms: media.agreement.terms }]

const accepted = (state: State, way: Way, invite: SipRequest, response: SipResponse, env: Session.Env): Step => {
  const tag = MessageKey.toTag(response) ?? ""
  if (state.session?.dialog.remoteTag === tag) {
    const cseq = MessageKey.cseq(invite)?.sequence ?? 0
    return sessionStep(state, { type: "response", cseq, response }, env)
  }
  const dialog = Dialog.fromResponse(invite, response)
  if (dialog === null) return stay(state)
  // The 2xx comes from another branch of the forked INVITE, or the leg was given up.
  if (state.session !== null || LegEnding.isOver(state.ending))
    return stay(state, { type: "stray", invite, dialog, flow: way.flow, trunk: way.trunk })
  const known = state.early.some((branch) => branch.dialog.remoteTag === tag)
  const branch = branchOf(state, way, invite, response)
  if (branch === null) return stay(state)
  const heard = SessionMedia.step(
    { ...branch, phase: "accepted", dialog: known ? Dialog.succeeded(branch.dialog, response) : dialog },
    { type: "described", by: "success", body: response.body }
  )
  const leaving = state.leaving ?? (heard.failure === null ? null : failing("unusable_description"))
  const resume = LegResume.dialog(heard.state.dialog, way.flow)
  const report: LegReport = leaving === null ? { type: "answered", resume } : { type: "leaving", ...leaving, resume }
  const next: State = { ...state, phase: "answered", leaving, early: [], session: heard.state }
  const answered = stay(next, ...(heard.connect.length > 0 ? heard.connect : unheard(state, heard.state)))
  return andThen(answered, (next) => stay(next, { type: "tell", report, after: { type: "acknowledge", invite } }))
}

/** Acknowledges, and hangs up as `wrong` when the call cannot continue (sections 13.2.2.4 and 15). */
const confirm = (state: State, invite: SipRequest, wrong: LegEnd | null, env: Session.Env): Step =>
  andThen(sessionStep(state, { type: "acknowledge", invite }, env), (next) =>
    wrong === null ? stay(next) : sessionStep(next, { type: "hangUp", end: wrong }, env)
  )

const refused = (state: State, way: Way, invite: SipRequest, response: SipResponse, env: Session.Env): Step => {
  const { identity, leaving } = state
  const { status } = response
  if (leaving !== null) return finish(state, { ...leaving, sipStatus: status })
  const cnonce = env.token.slice(0, 16)
  const known = env.nonces(way.trunk)
  const { again, nonces } = Credentials.answer(state.credentials, way.trunk, invite, response, cnonce, known)
  const kept = keep(state, way, known, nonces)
  if (again === null) {
    const end = LegMachine.because({ cause: "final_response", sipStatus: status, by: "far" }, Reason.of(response))
    return andThen(kept, (next) => finish(next, end))
  }
  const { attempts } = again.credentials
  const hop = SelfAddress.hop(way.self, identity.branch(attempts))
  const repeated = Requests.by(Requests.again(invite, 1 + attempts, again.headers), hop)
  return andThen(kept, (next) =>
    call({ ...next, credentials: again.credentials, early: [], hearing: null }, way, repeated)
  )
}

const heard = (state: State, invite: SipRequest, response: SipResponse, env: Session.Env): Step => {
  const { phase, way } = state
  if (way === null) return stay(state)
  if (response.status >= 200 && response.status < 300) return accepted(state, way, invite, response, env)
  // The INVITE was repeated with credentials meanwhile, or has its answer, so this response is obsolete.
  if (invite !== state.invite || (phase !== "calling" && phase !== "proceeding")) return stay(state)
  return response.status < 200 ? provisional(state, way, invite, response) : refused(state, way, invite, response, env)
}

const leave = (state: State, end: LegEnd, env: Session.Env): Step => {
  switch (state.phase) {
    case "preparing":
      return finish(state, end)
    case "calling":
    case "proceeding": {
      if (state.leaving !== null) return stay(state)
      const leaving = LegMachine.leave({ ...state, leaving: end }, end, env.now)
      return state.phase === "proceeding" ? andThen(leaving, cancel) : leaving
    }
    case "answered":
      return sessionStep(state, { type: "hangUp", end }, env)
    case "over":
      return stay(state)
  }
}

const release = (state: State, env: Session.Env): Step =>
  leave(state, { cause: state.phase === "answered" ? "hangup" : "cancelled", sipStatus: null, by: "near" }, env)

const failed = (state: State, invite: SipRequest, reason: keyof typeof withoutResponse): Step =>
  invite !== state.invite || (state.phase !== "calling" && state.phase !== "proceeding")
    ? stay(state)
    : finish(state, state.leaving ?? withoutResponse[reason])

/** Passes the input to its dialog: an early one, or the session. */
const within = (state: State, dialog: string, input: Session.Input, env: Session.Env): Step => {
  if (state.session !== null && Dialog.id(state.session.dialog) === dialog) return sessionStep(state, input, env)
  const branch = state.early.find((each) => Dialog.id(each.dialog) === dialog)
  if (branch === undefined) return stay(state)
  const stepped = SessionMachine.step(branch, input, env)
  const early = state.early.map((each) => (each === branch ? stepped.state : each))
  return LegMachine.after({ ...state, early }, stepped.outputs, left, env.now)
}

const told = (state: State, after: Session.After, outcome: Told, env: Session.Env): Step => {
  switch (after.type) {
    case "respond":
      return stay(state, LegEnding.answer(after, outcome))
    case "acknowledge":
      return confirm(
        state,
        after.invite,
        state.leaving ?? (outcome === "committed" ? null : failing("not_stored")),
        env
      )
    case "moved":
      return sessionStep(state, { type: "moved" }, env)
  }
}

const act = (state: State, action: Session.Action, env: Session.Env): Step =>
  state.session === null
    ? stay(state, { type: "outcome", commandId: action.commandId, status: null })
    : sessionStep(state, { type: "action", action }, env)

export const step = (state: State, input: Input, env: Session.Env): Step => {
  switch (input.type) {
    case "routed":
      if (state.phase !== "preparing") return stay(state)
      return input.way === null ? finish(state, noRoute) : routed(state, input.way)
    case "placed":
      return placed(state, input.place, env)
    case "response":
      return heard(state, input.invite, input.response, env)
    case "failed":
      return failed(state, input.invite, input.reason)
    case "within":
      return within(state, input.dialog, input.input, env)
    case "told":
      return told(state, input.after, input.told, env)
    case "endTold":
      return andThen(LegMachine.endTold(state, input.told), (next) => sessionStep(next, { type: "over" }, env))
    case "action":
      return act(state, input.action, env)
    case "mediaLost":
      return leave(state, LegMachine.silent(input.reason), env)
    case "release":
    case "disowned":
      return release(state, env)
    case "due":
      return andThen(LegMachine.due(state, env.now), (next) => sessionStep(next, { type: "due" }, env))
  }
}

export const deadline = ({ ending, session }: State): number | null => LegMachine.deadline(ending, session)

/** The dialogs whose requests the leg receives. */
export const dialogs = ({ early, ending, session }: State): ReadonlyArray<string> => {
  const isOver = LegEnding.isOver(ending)
  if (session === null) return isOver ? [] : early.map(({ dialog }) => Dialog.id(dialog))
  return ending.type === "ended" && SessionMachine.isQuiet(session) ? [] : [Dialog.id(session.dialog)]
}
