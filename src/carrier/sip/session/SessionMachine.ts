/**
 * A dialog of a leg, early or confirmed, RFC 3261 sections 12 to 15: requests of the peer (`SessionServer`), our own
 * (`SessionClient`), and its end.
 *
 * Our BYE is sent only after the ACK of the INVITE that made the dialog. After it we send only responses.
 */
import * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import type { SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import type { LegEnd } from "../../Carrier.ts"
import * as Credentials from "../Credentials.ts"
import * as Client from "./SessionClient.ts"
import * as SessionMedia from "./SessionMedia.ts"
import * as Server from "./SessionServer.ts"
import {
  type Env,
  type Input,
  type Output,
  targetOf,
  sent,
  type State,
  stay,
  type Step,
  andThen
} from "./SessionState.ts"

const noAck: LegEnd = { cause: "timer", sipStatus: null, by: "network", why: "no_ack" }
const noAnswer: LegEnd = { cause: "error", sipStatus: null, by: "near", why: "unusable_description" }

const confirmed = (state: State): State => ({
  ...state,
  phase: state.phase === "accepted" ? "established" : state.phase
})

/** Takes the ACK to our 2xx, which has the answer when the offer was ours. */
const acknowledged = (state: State, ack: SipRequest): Step => {
  if (!state.isAwaitingAck) return stay(state)
  const { connect, failure, ...described } = SessionMedia.step(
    { ...confirmed(state), isAwaitingAck: false },
    { type: "described", by: "ack", body: ack.body }
  )
  const heard = stay(described.state, ...connect)
  const end = state.leaving ?? (failure === null ? null : noAnswer)
  return end === null ? heard : andThen(heard, (next) => Client.bye(next, end))
}

/** Sends the ACK to a 2xx, also when the peer has left meanwhile. */
const acknowledge = (state: State, invite: SipRequest): Step => {
  const built = Dialog.acknowledge(state.dialog, invite, null)
  const ack: Output = { type: "ack", ...sent(state, built.request, built.dialog) }
  const confirming = stay({ ...confirmed(state), dialog: built.dialog }, ack)
  const { leaving } = state
  return leaving === null || confirming.state.phase !== "established"
    ? confirming
    : andThen(confirming, (next) => Client.bye(next, leaving))
}

const hangUp = (state: State, end: LegEnd): Step => {
  switch (state.phase) {
    case "early":
    case "accepted":
      return state.leaving === null ? stay({ ...state, leaving: end }, { type: "leaving", end }) : stay(state)
    case "established":
      return Client.bye(state, end)
    case "hungUp":
    case "left":
      return stay(state)
  }
}

/** No ACK to our 2xx arrived: the dialog is confirmed, but the session has to end, section 13.3.1.4. */
const abandoned = (state: State): Step => {
  if (!state.isAwaitingAck) return stay(state)
  return hangUp({ ...confirmed(state), isAwaitingAck: false }, state.leaving ?? noAck)
}

const take = (state: State, input: Input, env: Env): Step => {
  switch (input.type) {
    case "request":
      return Server.request(state, input, env)
    case "acknowledged":
      return acknowledged(state, input.ack)
    case "abandoned":
      return abandoned(state)
    case "response":
      return Client.response(state, input.cseq, input.response, env)
    case "failed":
      return Client.failed(state, input.cseq, input.reason === "timeout", env)
    case "acknowledge":
      return acknowledge(state, input.invite)
    case "action":
      return Client.act(state, input.action)
    case "hangUp":
      return hangUp(state, input.end)
    case "moved":
      return Server.moved({ ...state, moving: null }, state.moving ?? targetOf(state))
    case "due":
      return Client.due(state, env)
    case "over":
      return Client.over(state)
  }
}

/** Makes one step, after which a waiting re-INVITE is sent if it may be. */
export const step = (state: State, input: Input, env: Env): Step => {
  const { trunk } = state
  const nonces = trunk === null ? Credentials.noNonces : env.nonces(trunk)
  const taken = andThen(take({ ...state, nonces }, input, env), (next) => Client.renegotiate(next))
  return trunk === null || taken.state.nonces === nonces
    ? taken
    : { ...taken, outputs: [{ type: "nonces", trunk, nonces: taken.state.nonces }, ...taken.outputs] }
}

/** When the machine needs the input `due`; null for never. */
export const deadline = ({ subscriptions, wanted }: State): number | null => {
  const times = [wanted?.notBefore ?? null, ...subscriptions.map(({ state }) => state.deadline)]
  const earliest = Math.min(...times.map((at) => at ?? Infinity))
  return earliest === Infinity ? null : earliest
}

/** Whether the dialog has nothing more to send after its leg has ended. */
export const isQuiet = ({ own, phase }: State): boolean =>
  phase === "left" || (phase === "hungUp" && !own.some(({ purpose }) => purpose.type === "bye"))

/** The first state of a dialog. */
export const start = (
  given: Pick<State, "dialog" | "isCaller" | "flow" | "trunk" | "agent" | "local" | "media">
): State => ({
  ...given,
  phase: "early",
  nonces: Credentials.noNonces,
  isAwaitingAck: false,
  leaving: null,
  moving: null,
  own: [],
  wanted: null,
  subscriptions: []
})
