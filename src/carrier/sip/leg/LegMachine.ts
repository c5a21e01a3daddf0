/**
 * The common part of the machines of both kinds of legs: the inputs and outputs of their shell (`LegShell`), and the
 * translation of a session's outputs into those of its leg.
 */
import type { Loss, RtpPlace } from "../../../media/plane/MediaPlane.ts"
import type { Dialog } from "../../../protocol/sip/dialog/Dialog.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { Reason } from "../../../protocol/sip/message/header/Reason.ts"
import type { SipRequest, SipResponse } from "../../../protocol/sip/message/SipMessage.ts"
import type { LegEnd, SipTrunk, Told } from "../../Carrier.ts"
import * as LegEnding from "./LegEnding.ts"
import * as SessionMachine from "../session/SessionMachine.ts"
import type * as Session from "../session/SessionState.ts"

/** The inputs that every leg gets from its shell. */
export type Input =
  /** An input for the dialog with this id. */
  | { readonly type: "within"; readonly dialog: string; readonly input: Session.Input }
  | { readonly type: "action"; readonly action: Session.Action }
  /** An event is settled, and `after` waited for it. */
  | { readonly type: "told"; readonly after: Session.After; readonly told: Told }
  /** The end is settled. */
  | { readonly type: "endTold"; readonly told: Told }
  /** The place in the media plane; null when there is none. */
  | { readonly type: "placed"; readonly place: RtpPlace | null }
  | { readonly type: "mediaLost"; readonly reason: Loss }
  /** No call owns the leg. */
  | { readonly type: "disowned" }
  | { readonly type: "due" }

export type Output =
  | Exclude<Session.Output, { readonly type: "left" | "leaving" | "ended" }>
  | LegEnding.End
  /** The leg has left, and waits for its peer: its sound ends now. */
  | { readonly type: "leave"; readonly end: LegEnd }
  /** Takes a place in the media plane, for a peer whose signalling comes from this IP literal. */
  | { readonly type: "takePlace"; readonly signallingAddress: string }
  /** The leg is not admitted: forget it, and drop its events. */
  | { readonly type: "forget" }
  /** Send our INVITE: once, and again for each challenge that it answers. */
  | { readonly type: "invite"; readonly invite: SipRequest; readonly flow: Flow }
  | { readonly type: "cancel"; readonly invite: SipRequest; readonly flow: Flow }
  /** A 2xx arrived that is no longer wanted: send ACK and BYE. */
  | {
      readonly type: "stray"
      readonly invite: SipRequest
      readonly dialog: Dialog
      readonly flow: Flow
      readonly trunk: SipTrunk | null
    }

export interface Step<State> {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

export const stay = <State>(state: State, ...outputs: ReadonlyArray<Output>): Step<State> => ({ state, outputs })

/** Runs `next` on the state of `before`, and joins the outputs. */
export const andThen = <State>(before: Step<State>, next: (state: State) => Step<State>): Step<State> => {
  const after = next(before.state)
  return { state: after.state, outputs: [...before.outputs, ...after.outputs] }
}

interface Ending {
  readonly ending: LegEnding.LegEnding
}

const ended = <State extends Ending>(state: State, { ending, outputs }: LegEnding.Step): Step<State> =>
  stay({ ...state, ending }, ...outputs)

export const end = <State extends Ending>(state: State, reason: LegEnd, owed?: ReadonlyArray<Session.Owed>) =>
  ended(state, LegEnding.end(state.ending, reason, owed))

export const leave = <State extends Ending>(state: State, reason: LegEnd, now: number): Step<State> =>
  stay(
    { ...state, ending: LegEnding.leave(state.ending, reason, now) },
    ...(state.ending.type === "live" ? [{ type: "leave", end: reason } as const] : [])
  )

export const due = <State extends Ending>(state: State, now: number) => ended(state, LegEnding.due(state.ending, now))

export const endTold = <State extends Ending>(state: State, told: Told) =>
  ended(state, LegEnding.told(state.ending, told))

/** The end of a leg whose media are lost. */
export const silent = (reason: Loss): LegEnd => ({
  cause: "error",
  sipStatus: null,
  by: "network",
  why: reason === "no_packets" ? "media_timeout" : "media_stopped"
})

/** The end with the reason that the peer gave. */
export const because = (end: LegEnd, peerReason: Reason | null): LegEnd =>
  peerReason === null ? end : { ...end, peerReason }

/** How the leg ends when its peer leaves, and the responses owed besides the answer to the BYE. */
export interface Left {
  readonly end: LegEnd
  readonly owed: ReadonlyArray<Session.Owed>
}

/** Translates the outputs of a step of the session into a step of the leg. */
export const after = <State extends Ending>(
  state: State,
  outputs: ReadonlyArray<Session.Output>,
  left: Left,
  now: number
): Step<State> => {
  let step: Step<State> = stay(state)
  for (const output of outputs)
    switch (output.type) {
      case "left":
        step = andThen(step, (next) => end(next, because(left.end, output.reason), [output.owed, ...left.owed]))
        break
      case "leaving":
        step = andThen(step, (next) => leave(next, output.end, now))
        break
      case "ended":
        step = andThen(step, (next) => end(next, output.end))
        break
      // The peer may send more after the end of the leg, for example a NOTIFY, but it is not reported any more.
      case "tell":
        step = LegEnding.isOver(step.state.ending)
          ? stay(step.state, ...step.outputs, ...LegEnding.untold(output.after))
          : stay(step.state, ...step.outputs, output)
        break
      case "respond":
      case "succeed":
      case "stopRepeating":
      case "request":
      case "ack":
      case "connect":
      case "outcome":
      case "nonces":
        step = stay(step.state, ...step.outputs, output)
    }
  return step
}

/** When the machine needs the input `due`; null for never. */
export const deadline = (ending: LegEnding.LegEnding, session: Session.State | null): number | null => {
  const leaving = ending.type === "leaving" ? ending.at : null
  const within = session === null ? null : SessionMachine.deadline(session)
  return leaving === null ? within : within === null ? leaving : Math.min(leaving, within)
}

/** An answer that waits for the event before it, and is the same whatever the outcome of that event. */
export const owe = (id: Session.Owed["id"], response: SipResponse): Session.Owed => ({
  id,
  durable: response,
  lost: response
})
