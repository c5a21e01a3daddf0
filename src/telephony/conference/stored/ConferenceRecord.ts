import type { Step } from "../../../runtime/actor/Behavior.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { Meter } from "../../call/Call.ts"
import * as Id from "../../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../../runtime/idempotency/Slot.ts"
import * as EventRecord from "../../../runtime/store/journal/EventRecord.ts"
import type { AuditRow, Commit, Elements, MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import type { UsageRow } from "../../../runtime/store/usage/UsageRow.ts"
import type { ConferenceInput } from "../machine/ConferenceInput.ts"
import { ConferenceList } from "./ConferenceList.ts"
import { isSettled, machineVersion } from "../machine/ConferenceMachine.ts"
import { type ConferenceState, isCompleted, isPresent, type Member, stateVersion } from "../machine/ConferenceState.ts"
import type { Effects } from "../machine/ConferenceStepBuilder.ts"
import * as ParticipantList from "./ParticipantList.ts"

/** The author of a request, what it asks for, and the slot that stores its first response. */
export interface Asked {
  readonly by: Audit.By
  readonly slot: Slot | null
  readonly status: number
  /** The member that the response shows, by its id or its call's; null: the response shows the conference. */
  readonly member: Id.MemberId | Id.CallId | null
}

export type ConferenceStep = Step<ConferenceState, ConferenceInput, Effects>

/** A step of a conference as the rows of one commit. */
export const commitOf = (step: ConferenceStep, asked: Asked | null, rendered: Rendered | null): Commit => {
  const { before, context, effects, input, state } = step
  return {
    entities: [
      {
        id: state.id,
        kind: "conference",
        tenantId: state.tenantId,
        seq: state.seq,
        settled: isSettled(state),
        stateVersion,
        state,
        elements: elementsOf(step),
        input: { at: context.now, seed: context.seed, machineVersion, body: input }
      }
    ],
    lists: [...ConferenceList.writes(before, state), ...ParticipantList.writes(before, state), ...effects.rows],
    events: effects.events.map((event, index) =>
      EventRecord.make(
        { tenantId: state.tenantId, entityId: state.id, routeId: state.routeId, occurredAt: context.now },
        (before?.sequence ?? 0) + index + 1,
        event
      )
    ),
    money: effects.charges.map((charge) => moneyOf(step, charge)),
    audit: auditOf(step, asked),
    receipt: asked === null || rendered === null ? null : receipt(asked.slot, rendered, context.now),
    usage: usageOf(step)
  }
}

/** The members are rows, so that a change of one in a large room writes no more than in a small one. */
const elementsOf = ({ before, state }: ConferenceStep): Elements => {
  const known = new Map(before?.members.map((member) => [member.id, member]))
  const changed = new Set(state.members.flatMap((member) => (known.get(member.id) === member ? [] : [member.id])))
  for (const { id } of state.members) known.delete(id)
  return { field: "members", changed, gone: isSettled(state) ? null : [...known.keys()] }
}

const moneyOf = ({ context, state }: ConferenceStep, { cents, type }: Meter.Charge): MoneyRow => ({
  id: Id.derive(`${state.id} ${type}`, "ledger"),
  tenantId: state.tenantId,
  cause: `conference:${state.id}:${type}`,
  type,
  amountCents: -cents,
  description: "Recording of a conference",
  referenceType: "conference",
  referenceId: state.id,
  at: context.now
})

/** The usage that an ended conference adds for its tenant. The minutes of its members belong to their calls. */
const usageOf = ({ before, context, state }: ConferenceStep): UsageRow | null => {
  const minutes = Meter.minutes(state.meters, "recording")
  if (minutes === 0 || !isCompleted(state) || (before !== null && isCompleted(before))) return null
  return {
    tenantId: state.tenantId,
    dimensions: { customer_reference: state.customerReference, number: null, destination: null },
    counted: [{ id: state.id, at: state.endedAt ?? context.now, figures: { recording_minutes: minutes } }]
  }
}

/** The settings whose changes the audit log reports, by their names on the wire. */
const settings = {
  conference: {
    beep_enabled: (state: ConferenceState) => state.beepEnabled,
    end_on_exit: (state: ConferenceState) => state.endOnExit,
    max_participants: (state: ConferenceState) => state.maxParticipants,
    duration_minutes: (state: ConferenceState) => state.durationMinutes,
    end_when_alone_secs: (state: ConferenceState) => state.endWhenAloneSecs ?? null
  },
  participant: {
    end_on_exit: (member: Member) => member.endOnExit,
    soft_end_on_exit: (member: Member) => member.softEndOnExit,
    beep_enabled: (member: Member) => member.beepEnabled,
    is_muted: (member: Member) => member.isMuted,
    is_on_hold: (member: Member) => member.isHeld
  }
} as const

const changesOf = <Of>(
  of: Readonly<Record<string, (value: Of) => null | boolean | number | string>>,
  from: Of | null,
  to: Of
): AuditRow["changes"] =>
  from === null
    ? []
    : Object.entries(of).flatMap(([field, read]) =>
        read(from) === read(to) ? [] : [{ field, from: read(from), to: read(to) }]
      )

/**
 * An audit line for the conference when its status or a setting changed, and one for each participant that entered,
 * left or changed.
 */
const auditOf = ({ before, context, effects, state }: ConferenceStep, asked: Asked | null) => {
  const of = { tenantId: state.tenantId, at: context.now, seed: context.seed, ...(asked?.by ?? Audit.bySystem) }
  const known = new Map(before?.members.map((member) => [member.id, member]))
  const participants = state.members.flatMap((member) => {
    const was = known.get(member.id) ?? null
    if (was === member) return []
    const [from, to] = [placeOf(was), placeOf(member)]
    const changes = changesOf(settings.participant, was, member)
    const changed =
      changes.length === 0
        ? []
        : [Audit.line({ ...of, action: "conference_participant.updated", resourceId: member.id, changes })]
    return from === to
      ? changed
      : [
          ...changed,
          Audit.line({
            ...of,
            action: from === null ? "conference_participant.created" : "conference_participant.status_changed",
            resourceId: member.id,
            changes: [{ field: "status", from, to }]
          })
        ]
  })
  const updated = changesOf(settings.conference, before, state)
  return [
    ...(before?.status === state.status
      ? []
      : [
          Audit.line({
            ...of,
            action: before === null ? "conference.created" : "conference.status_changed",
            resourceId: state.id,
            changes: [{ field: "status", from: before?.status ?? null, to: state.status }]
          })
        ]),
    ...(updated.length === 0
      ? []
      : [Audit.line({ ...of, action: "conference.updated", resourceId: state.id, changes: updated })]),
    ...participants,
    ...effects.rows.flatMap(({ row, table }) =>
      table.name === "recording"
        ? [
            Audit.line({
              ...of,
              action: "recording.created",
              resourceId: String(row["id"]),
              changes: [{ field: "status", from: null, to: row["status"] ?? null }]
            })
          ]
        : []
    )
  ]
}

/** A readable name for a member's place; null: there is no member yet. */
const placeOf = (member: Member | null): string | null =>
  member === null ? null : !isPresent(member) ? "left" : member.phase === "joined" ? "joined" : "joining"
