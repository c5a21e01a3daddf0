import type { Step } from "../../../runtime/actor/Behavior.ts"
import { receipt, type Rendered, type Slot } from "../../../runtime/idempotency/Slot.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Id from "../../../domain/Id.ts"
import type { Recording } from "../../recording/Recording.ts"
import * as EventRecord from "../../../runtime/store/journal/EventRecord.ts"
import type { AuditRow, Commit, MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { CallInput } from "../machine/CallInput.ts"
import { CallList } from "./CallList.ts"
import * as CallUsage from "./CallUsage.ts"
import { isSettled, machineVersion } from "../machine/CallMachine.ts"
import { type CallState, isTerminal, stateVersion } from "../machine/CallState.ts"
import type { Effects } from "../machine/StepBuilder.ts"
import type { Charge } from "../machine/Meter.ts"
import type { CallAction } from "../verb/CallVerbs.ts"

/** The author of a request, and the slot that stores its first response. */
export interface Asked {
  readonly by: Audit.By
  readonly slot: Slot | null
  readonly status: number
  /** The call's recordings at the time of the request. */
  readonly recordings: ReadonlyArray<Recording>
  /** Renders the body of the response; absent: the Call. */
  readonly body?: () => string
}

/** A step of a call as the rows of one commit. */
export const commitOf = (
  step: Step<CallState, CallInput, Effects>,
  asked: Asked | null,
  rendered: Rendered | null
): Commit => {
  const { before, context, effects, input, state } = step
  return {
    entities: [
      {
        id: state.id,
        kind: "call",
        tenantId: state.tenantId,
        seq: state.seq,
        settled: isSettled(state),
        stateVersion,
        state,
        input: { at: context.now, seed: context.seed, machineVersion, body: input }
      }
    ],
    lists: [...CallList.writes(before, state), ...effects.rows],
    events: effects.events.map((event, index) =>
      EventRecord.make(
        { tenantId: state.tenantId, entityId: state.id, routeId: state.routeId, occurredAt: context.now },
        (before?.sequence ?? 0) + index + 1,
        event
      )
    ),
    money: effects.charges.map((charge) => moneyOf(step, charge)),
    audit: [
      ...(before !== null && before.status === state.status ? [] : [auditOf(step, asked)]),
      ...requestOf(step, asked),
      ...effects.rows.flatMap((row) => outcomeOf(step, asked, row))
    ],
    receipt: asked === null || rendered === null ? null : receipt(asked.slot, rendered, context.now),
    usage: isTerminal(state) && (before === null || !isTerminal(before)) ? CallUsage.of(state) : null
  }
}

/** The cause of the call charge is the call alone; any other charge adds its type. */
const moneyOf = ({ context, state }: Step<CallState, CallInput, Effects>, { cents, type }: Charge): MoneyRow => ({
  id: Id.derive(type === "call_charge" ? state.id : `${state.id} ${type}`, "ledger"),
  tenantId: state.tenantId,
  cause: type === "call_charge" ? `call:${state.id}` : `call:${state.id}:${type}`,
  type,
  amountCents: -cents,
  description: `Call to ${state.to}`,
  referenceType: "call",
  referenceId: state.id,
  at: context.now
})

const auditOf = ({ before, context, state }: Step<CallState, CallInput, Effects>, asked: Asked | null): AuditRow => ({
  id: Id.deriveUuid(context.seed, "audit"),
  tenantId: state.tenantId,
  at: context.now,
  ...(asked?.by ?? Audit.bySystem),
  action: before === null ? "call.created" : "call.status_changed",
  resourceType: "call",
  resourceId: state.id,
  changes: [{ field: "status", from: before?.status ?? null, to: state.status }]
})

/** Names the author of a request whose effect on the status comes later, with a carrier event. */
const requestOf = (
  { context, input, state }: Step<CallState, CallInput, Effects>,
  asked: Asked | null
): ReadonlyArray<AuditRow> =>
  asked !== null && input.type === "action" && isAwaited(input.action.verb)
    ? [
        Audit.line({
          tenantId: state.tenantId,
          at: context.now,
          seed: context.seed,
          ...asked.by,
          action: `call.${input.action.verb}_requested`,
          resourceId: state.id
        })
      ]
    : []

const isAwaited = (verb: CallAction["verb"]): boolean => verb === "answer" || verb === "transfer" || verb === "bridge"

/** A recording becomes a resource with its outcome, a transcription when it begins. */
const outcomeOf = (
  { context, state }: Step<CallState, CallInput, Effects>,
  asked: Asked | null,
  { row, table }: ListWrite
): ReadonlyArray<AuditRow> => {
  if (table.name !== "recording" && table.name !== "transcription") return []
  const status = row["status"] ?? null
  const isOver = table.name === "transcription" && status !== "active"
  return [
    Audit.line({
      tenantId: state.tenantId,
      at: context.now,
      seed: context.seed,
      ...(asked?.by ?? Audit.bySystem),
      action: `${table.name}.${isOver ? "status_changed" : "created"}`,
      resourceId: String(row["id"]),
      changes: [{ field: "status", from: isOver ? "active" : null, to: status }]
    })
  ]
}
