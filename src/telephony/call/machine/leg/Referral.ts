import { type Outcome, unchanged } from "../../../../runtime/actor/Machine.ts"
import type { CarrierEvent } from "../../../../carrier/Carrier.ts"
import { primary } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import type { StepContext } from "../StepContext.ts"
import type { Refer } from "../../verb/Connect.ts"
import * as Connecting from "./Connecting.ts"
import type { Leg } from "./Leg.ts"
import type * as Pending from "./Pending.ts"

/**
 * Asks the far end to call another party itself, guide/calls.md#refer (RFC 3515, RFC 5589). Once it is connected there
 * it hangs up; if it does not, this service ends the call.
 */
type Result = StepBuilder.StepBuilder | Outcome<never, never>

export const start = (
  builder: StepBuilder.StepBuilder,
  body: typeof Refer.Type,
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const legId = primary(state).id
  const commandId = StepBuilder.nextCommandId(builder, context)
  const of = { to: body.sipAddress, ...(body.customHeaders.length === 0 ? {} : { headers: body.customHeaders }) }
  return StepBuilder.sendPending(
    builder,
    { type: "refer", commandId, legId, since: context.now, acceptedAt: null, completedAt: null, ...of },
    { type: "refer", commandId, callId: state.id, legId, ...of }
  )
}

export const told = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  event: Extract<CarrierEvent, { readonly type: "referred" }>,
  at: number
): Result => {
  const refer = builder.state.pending.find(
    (pending): pending is Pending.Of<"refer"> =>
      pending.type === "refer" && pending.legId === leg.id && pending.commandId === event.commandId
  )
  if (refer === undefined || refer.completedAt !== null) return unchanged
  const set = (fields: Partial<Pending.Of<"refer">>) =>
    StepBuilder.set(builder, {
      pending: builder.state.pending.map((pending) => (pending === refer ? { ...refer, ...fields } : pending))
    })
  switch (event.status) {
    case "accepted":
      return refer.acceptedAt === null ? set({ acceptedAt: at }) : unchanged
    case "completed": {
      const completed = set({ acceptedAt: refer.acceptedAt ?? at, completedAt: at })
      return Connecting.referCompleted(completed, refer, event.sipStatus, at)
    }
    case "failed": {
      const { sipStatus } = event
      const reason = refer.acceptedAt !== null ? "failed" : sipStatus === null ? "timeout" : "rejected"
      return Connecting.referFailed(builder, refer, { reason, sipStatus }, at)
    }
  }
}

/** A peer that has not answered a REFER by then never will (RFC 3261 section 17.1.2.2). */
const answerMs = 40_000
/** A carrier that has not reported the outcome by then never will: it waits for an hour at most. */
const reportMs = 3_700_000
/** How long a peer that is connected elsewhere may take to hang up. */
const leavingMs = 5_000

export const dueAt = ({ acceptedAt, completedAt, since }: Pending.Of<"refer">): number =>
  completedAt !== null ? completedAt + leavingMs : acceptedAt !== null ? acceptedAt + reportMs : since + answerMs
