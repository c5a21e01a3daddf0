/** Serves the requests of the peer within a dialog by the table of `DialogMethod`, RFC 3261 section 12.2.2. */
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import * as DialogMethod from "../../../protocol/sip/dialog/DialogMethod.ts"
import * as ReferNotify from "../../../protocol/sip/dialog/ReferNotify.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { Body } from "../../../protocol/sip/message/Requests.ts"
import * as Responses from "../../../protocol/sip/message/Responses.ts"
import * as Reason from "../../../protocol/sip/message/header/Reason.ts"
import type { Header, SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import type { LegReport } from "../../Carrier.ts"
import * as Capabilities from "../Capabilities.ts"
import * as DtmfRelay from "./DtmfRelay.ts"
import * as LegResume from "../leg/LegResume.ts"
import * as SessionMedia from "./SessionMedia.ts"
import * as Referral from "./SessionReferral.ts"
import {
  andThen,
  chance,
  type Env,
  type Input,
  type Output,
  type Owed,
  type Target,
  targetOf,
  type State,
  stay,
  type Step
} from "./SessionState.ts"

type Received = Omit<Extract<Input, { readonly type: "request" }>, "type">

/** A request of the peer with its row of the table. */
interface Asked extends Received {
  readonly row: DialogMethod.Row
}

/** A dialog whose own BYE only waits for an ACK counts as leaving. */
const placeOf = ({ isCaller, leaving, phase }: State): DialogMethod.Place => {
  if (leaving !== null) return "leaving"
  switch (phase) {
    case "early":
      return isCaller ? "calling" : "ringing"
    case "accepted":
    case "established":
      return "confirmed"
    case "hungUp":
    case "left":
      return "leaving"
  }
}

const reply = (state: State, { id, request }: Asked, status: number, headers: Responses.Options["headers"] = []) =>
  stay(state, { type: "respond", id, response: Responses.make(request, status, { headers }) })

const owed = ({ id, request }: Asked): Owed => ({
  id,
  durable: Responses.make(request, 200),
  lost: Responses.make(request, 500)
})

const isSame = (one: Target, other: Target): boolean =>
  one.remoteTarget === other.remoteTarget &&
  one.flow.transport === other.flow.transport &&
  one.flow.remote.address === other.flow.remote.address &&
  one.flow.remote.port === other.flow.remote.port

/**
 * Reports the new target of a confirmed dialog, which another process needs after a restart. One is reported at a time:
 * for a peer that moves again meanwhile, the newest target is next.
 */
export const moved = (state: State, before: Target): Step => {
  const { dialog, flow, moving, phase } = state
  const target = targetOf(state)
  if (phase !== "established" || moving !== null || isSame(target, before)) return stay(state)
  const report = { type: "answered", resume: LegResume.dialog(dialog, flow) } as const
  return stay({ ...state, moving: target }, { type: "tell", report, after: { type: "moved" } })
}

/**
 * The flow of a dialog whose target a request by `flow` refreshes. Without a route set the request came from the peer
 * itself, and its source is the way to a Contact behind a NAT. Where we called, the address stays with the port that
 * our INVITE reached, because the source port of a NAT is forgotten after a while.
 */
const flowAfter = ({ dialog, flow: before, isCaller }: State, flow: Flow): Flow => {
  const isSameHost = before.remote.address === flow.remote.address
  return dialog.routeSet.length > 0 || (isCaller && isSameHost) ? before : flow
}

/** Makes the Contact the target of the dialog, if the request was accepted (section 12.2.2). */
const refreshed = (served: Step, { flow, id, request, row }: Asked): Step => {
  const isAccepted = served.outputs.some((output) =>
    output.type === "tell"
      ? output.after?.type === "respond" && output.after.id === id
      : (output.type === "respond" || output.type === "succeed") && output.id === id && output.response.status < 300
  )
  if (!row.refreshesTarget || !isAccepted) return served
  return andThen(served, (state) => {
    const next = { ...state, dialog: Dialog.refreshed(state.dialog, request), flow: flowAfter(state, flow) }
    return moved(next, targetOf(state))
  })
}

/** Serves a re-INVITE, section 14.2. Two offers that collide follow section 14.1 and RFC 6337 section 2. */
const session = (state: State, asked: Asked): Step => {
  const { id, request } = asked
  if (state.phase === "accepted") return reply(state, asked, 491)
  const read = SessionMedia.step(state, { type: "described", by: "request", body: request.body })
  if (read.isGlare) return reply(state, asked, 491)
  const made = read.failure === null ? SessionMedia.step(read.state, { type: "accept" }) : read
  if (made.failure !== null) {
    const warning = ["Warning", warningOf(state.agent.host, made.failure.reason)] as const
    return reply(state, asked, made.failure.status, [warning])
  }
  const response = accepted(request, made.state, made.body)
  const next = { ...made.state, isAwaitingAck: true }
  const succeed: Output = { type: "succeed", id, response, dialog: Dialog.id(next.dialog) }
  return stay(next, ...made.connect, succeed)
}

/** The value of a Warning, section 20.43. */
export const warningOf = (host: string, reason: string): string => `399 ${host} "${reason.replace(/["\\]/g, "'")}"`

/** The 2xx to an INVITE. */
export const accepted = (
  invite: SipRequest,
  { agent, dialog }: State,
  body: Body | null,
  headers: ReadonlyArray<Header> = []
) =>
  Responses.make(invite, 200, {
    toTag: dialog.localTag,
    contact: dialog.contact,
    headers: [DialogMethod.allow, Capabilities.supported, ["User-Agent", agent.userAgent], ...headers],
    ...(body === null ? {} : { body })
  })

/** Reports a digit, whatever was agreed. The leg leaves out one that the peer's packets have brought, too. */
const digits = (state: State, asked: Asked, env: Env): Step => {
  const digit = DtmfRelay.digitOf(asked.request)
  if (digit === null && asked.request.body.length > 0) return reply(state, asked, 415, [Capabilities.accept])
  return digit === null
    ? reply(state, asked, 200)
    : tell(state, asked, { type: "media", event: { type: "dtmf", digit, at: env.now } })
}

/** Reports an event, and owes the response until it is stored: until then the peer repeats its request. */
const tell = (state: State, asked: Asked, report: LegReport): Step =>
  stay(state, { type: "tell", report, after: { type: "respond", ...owed(asked) } })

const bye = (state: State, asked: Asked): Step => {
  const repeating: ReadonlyArray<Output> = state.isAwaitingAck ? [{ type: "stopRepeating" }] : []
  // Their BYE crossed ours.
  if (state.phase === "hungUp") return reply(state, asked, 200)
  return stay({ ...state, phase: "left", isAwaitingAck: false }, ...repeating, {
    type: "left",
    owed: owed(asked),
    reason: Reason.of(asked.request)
  })
}

const subscription = (state: State, asked: Asked, env: Env): Step => {
  const read = ReferNotify.read(asked.request)
  if (read.type === "refused") return reply(state, asked, read.status)
  const notified = Referral.notified(state, read, env)
  if (notified === null) return reply(state, asked, 481)
  // The reported progress is stored before the peer learns that we know it.
  const isTold = notified.outputs.some(({ type }) => type === "tell")
  if (!isTold) return andThen(notified, (next) => reply(next, asked, 200))
  const after = { type: "respond", ...owed(asked) } as const
  return stay(
    notified.state,
    ...notified.outputs.map((output) => (output.type === "tell" ? { ...output, after } : output))
  )
}

const serve = (state: State, asked: Asked, env: Env): Step => {
  switch (asked.row.servedBy) {
    case "session":
      return session(state, asked)
    case "bye":
      return bye(state, asked)
    case "capabilities":
      return reply(state, asked, 200, Capabilities.options)
    case "digits":
      return digits(state, asked, env)
    case "subscription":
      return subscription(state, asked, env)
    case null:
      return reply(state, asked, 501)
  }
}

/**
 * Serves a request. Out of order, or a copy that would do harm, it gets 500 and changes nothing. Refused, its CSeq
 * counts but its Contact does not.
 */
export const request = (state: State, { flow, id, request }: Received, env: Env): Step => {
  const asked: Asked = { id, request, flow, row: DialogMethod.of(request.method) }
  const received = Dialog.receive(state.dialog, request)
  const isRefused = received.verdict === "repeated" && asked.row.repeated === "refuse"
  if (received.verdict === "outOfOrder" || isRefused) return reply(state, asked, 500)
  const next = { ...state, dialog: received.dialog }
  const verdict = asked.row.at[placeOf(state)]
  switch (verdict) {
    case "serve":
      return refreshed(serve(next, asked, env), asked)
    // Section 14.2 asks for a random wait of 0 to 10 seconds.
    case 500:
      return reply(next, asked, 500, [["Retry-After", String(chance(env, 11))]])
    case 405:
    case 501:
      return reply(next, asked, verdict, [DialogMethod.allow])
    case 481:
    case 491:
      return reply(next, asked, verdict)
  }
}
