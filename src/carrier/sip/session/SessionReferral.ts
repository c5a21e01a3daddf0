/**
 * The subscriptions that our REFERs made, within the dialog that they share: they report the progress of the REFERs.
 */
import type { CommandId } from "../../../domain/Id.ts"
import type * as ReferNotify from "../../../protocol/sip/dialog/ReferNotify.ts"
import * as ReferSubscription from "../../../protocol/sip/dialog/ReferSubscription.ts"
import { type Env, type Output, type State, stay, type Step } from "./SessionState.ts"

type Subscription = State["subscriptions"][number]

const told = (commandId: CommandId, output: ReferSubscription.Output): ReadonlyArray<Output> => {
  const tell = (status: "accepted" | "completed" | "failed", sipStatus: number | null): ReadonlyArray<Output> => [
    { type: "tell", report: { type: "referred", commandId, status, sipStatus }, after: null }
  ]
  switch (output.type) {
    case "accepted":
      return tell("accepted", output.status)
    case "progress":
      return []
    case "finished": {
      // A subscription that ends with a provisional status leaves the outcome unknown.
      const status = output.status !== null && output.status >= 200 ? output.status : null
      return tell(status !== null && status < 300 ? "completed" : "failed", status)
    }
  }
}

/** Passes the input to the subscriptions that `which` picks, and forgets those that are over. */
const step = (
  state: State,
  which: (subscription: Subscription) => boolean,
  input: ReferSubscription.Input,
  now: number
): Step => {
  const outputs: Array<Output> = []
  const subscriptions = state.subscriptions.flatMap((subscription): ReadonlyArray<Subscription> => {
    if (!which(subscription)) return [subscription]
    const { commandId } = subscription
    const next = ReferSubscription.step(subscription.state, input, now)
    for (const output of next.outputs) outputs.push(...told(commandId, output))
    return next.state.phase === "terminated" ? [] : [{ commandId, state: next.state }]
  })
  return stay({ ...state, subscriptions }, ...outputs)
}

export const start = (state: State, commandId: CommandId, cseq: number): State => ({
  ...state,
  subscriptions: [...state.subscriptions, { commandId, state: ReferSubscription.start(cseq) }]
})

/** A challenged REFER is sent again. Its subscription takes the CSeq of the new one, by which the peer will name it. */
export const renumber = (state: State, commandId: CommandId, cseq: number): State => ({
  ...state,
  subscriptions: state.subscriptions.map((subscription) =>
    subscription.commandId === commandId ? { commandId, state: { ...subscription.state, id: cseq } } : subscription
  )
})

/** The REFER has its final response, or will have none (null). */
export const answered = (state: State, commandId: CommandId, status: number | null, { now }: Env): Step => {
  const input: ReferSubscription.Input =
    status !== null && status < 300 ? { type: "accepted", status } : { type: "refused", status }
  return step(state, (subscription) => subscription.commandId === commandId, input, now)
}

/** Takes a NOTIFY; null when it has no subscription. Without id it is of the first REFER (RFC 3515 section 2.4.6). */
export const notified = (
  state: State,
  { id, notified }: Extract<ReferNotify.ReferNotify, { readonly type: "notified" }>,
  { now }: Env
): Step | null => {
  const of =
    id === null ? state.subscriptions[0] : state.subscriptions.find((subscription) => subscription.state.id === id)
  if (of === undefined) return null
  return step(state, (subscription) => subscription === of, { type: "notified", notified }, now)
}

export const due = (state: State, { now }: Env): Step => step(state, () => true, { type: "due" }, now)

/** The leg has ended, and reports nothing after its end. */
export const drop = (state: State): State => ({ ...state, subscriptions: [] })
