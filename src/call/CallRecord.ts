import type { Step } from "../actor/Actor.ts"
import { receipt, type Rendered, type Slot } from "../idempotency/Slot.ts"
import * as Id from "../domain/Id.ts"
import * as EventRecord from "../store/EventRecord.ts"
import type { AuditRow, CallRow, Commit } from "../store/Journal.ts"
import type { CallInput } from "./CallInput.ts"
import { isSettled, machineVersion } from "./CallMachine.ts"
import { type CallState, durationSeconds, stateVersion } from "./CallState.ts"
import type { Effects } from "./Draft.ts"

/** Who asked, and where the first response is to be stored. */
export interface Asked {
  readonly keyId: string | null
  readonly slot: Slot | null
  readonly status: number
}

/** A step of a call as the rows of one commit. */
export const commitOf = (
  step: Step<CallState, CallInput, Effects>,
  asked: Asked | null,
  rendered: Rendered | null
): Commit => {
  const { before, context, effects, input, state } = step
  return {
    entity: {
      id: state.id,
      kind: "call",
      tenantId: state.tenantId,
      seq: state.seq,
      settled: isSettled(state),
      stateVersion,
      state,
      input: { at: context.now, seed: context.seed, machineVersion, body: input }
    },
    call: before === null || listed(before) !== listed(state) ? rowOf(state) : null,
    events: effects.events.map((event, index) =>
      EventRecord.make(
        { tenantId: state.tenantId, entityId: state.id, routeId: state.routeId, occurredAt: context.now },
        (before?.sequence ?? 0) + index + 1,
        event
      )
    ),
    money:
      effects.chargeCents === 0
        ? []
        : [
            {
              id: Id.derive(state.id, "ledger"),
              tenantId: state.tenantId,
              cause: `call:${state.id}`,
              type: "call_charge",
              amountCents: -effects.chargeCents,
              description: `Call to ${state.to}`,
              referenceType: "call",
              referenceId: state.id,
              at: context.now
            }
          ],
    audit: before !== null && before.status === state.status ? [] : [auditOf(step, asked)],
    receipt: asked === null || rendered === null ? null : receipt(asked.slot, rendered, context.now)
  }
}

/** What the list shows of a call: its row is written again only when this changes. */
const listed = (state: CallState): string => `${state.status} ${state.ratingStatus} ${state.answeredAt}`

export const rowOf = (state: CallState): CallRow => ({
  id: state.id,
  tenantId: state.tenantId,
  direction: state.direction,
  status: state.status,
  fromNumber: state.from,
  toNumber: state.to,
  routeId: state.routeId,
  initiatedAt: state.initiatedAt,
  answeredAt: state.answeredAt,
  endedAt: state.endedAt,
  durationSeconds: durationSeconds(state.answeredAt, state.endedAt),
  endReason: state.endReason,
  endInitiator: state.endInitiator,
  customerReference: state.customerReference,
  costCents: state.costCents,
  ratingStatus: state.ratingStatus
})

const auditOf = ({ before, context, state }: Step<CallState, CallInput, Effects>, asked: Asked | null): AuditRow => ({
  id: Id.deriveUuid(context.seed, "audit"),
  tenantId: state.tenantId,
  at: context.now,
  actor:
    asked === null || asked.keyId === null
      ? { type: "system", id: null, name: null }
      : { type: "api_key", id: asked.keyId, name: null },
  action: before === null ? "call.created" : "call.status_changed",
  resourceType: "call",
  resourceId: state.id,
  changes: [{ field: "status", from: before?.status ?? null, to: state.status }],
  ip: null
})
