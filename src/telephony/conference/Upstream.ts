import { Schema } from "effect"
import type { MemberFacts } from "../../carrier/room/RoomEvent.ts"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { ConferenceState, Member } from "./machine/ConferenceState.ts"

/**
 * The carrier's view of a room beside the conference's own, guide/conferences.md#upstream. It is only shown; nothing is
 * repaired by it.
 */
export interface UpstreamFilters {
  readonly muted?: boolean
  readonly onHold?: boolean
  readonly whispering?: boolean
}

/** A member of the carrier's room, or one that the carrier lacks. */
const Row = Wire.struct({
  memberId: Field.idOrNull("member", "The member; null: the conference knows none such."),
  drift: Field.flag("The carrier and the conference disagree on whether it is there.", false),
  callId: Field.callIdOrNull("Its call."),
  legId: Field.legIdOrNull("Its leg."),
  status: Field.oneOf("As the carrier has it; `left`: it does not have it.", ["joining", "joined", "left"]),
  muted: Field.flag("Nobody hears it.", false),
  onHold: Field.flag("It neither hears nor is heard.", false),
  whispering: Field.flag("Only the legs below hear it.", false),
  whisperLegIds: Schema.Array(Field.legId("A leg that hears its whisper.")).annotate({
    description: "Who hears its whisper.",
    examples: [[]]
  }),
  endOnExit: Field.flag("The room is closed when it leaves.", false),
  softEndOnExit: Field.flag("The room is closed when it has left and nobody off hold is there.", false),
  createdAt: Field.time("When it came in, by the carrier."),
  updatedAt: Field.time("When one of its flags changed, by the carrier.")
}).pipe(Schema.annotateEncoded({ identifier: "UpstreamParticipant" }))
type Row = typeof Row.Encoded

const Meta = Wire.struct({
  pageNumber: Field.count("This page.", 1),
  pageSize: Field.count("Rows of a page.", 20),
  totalPages: Field.count("Pages in all.", 1),
  totalResults: Field.count("Rows in all.", 2),
  fetchedAt: Field.time("When the carrier was asked.")
}).pipe(Schema.annotateEncoded({ description: "Of the page, and when it was asked for." }))

export const Page = Schema.Struct({
  results: Schema.Array(Row).annotate({ description: "The rows of this page." }),
  meta: Meta
}).annotate({
  identifier: "UpstreamParticipants"
})
export type UpstreamPage = typeof Page.Encoded

const encode = Wire.encoder(Row)
const encodeMeta = Wire.encoder(Meta)

const endsOnExit = (state: ConferenceState, { endOnExit, role }: Member): boolean =>
  endOnExit ?? (role === "host" && state.endOnExit)

/** Every member of the carrier's room, and those that it lacks. `now`: epoch milliseconds. */
const rowsOf = (state: ConferenceState, facts: ReadonlyArray<MemberFacts>, now: number) => {
  const known = new Map(state.members.map((member) => [member.id, member]))
  const legs = new Map(facts.map(({ legId, memberId }) => [memberId, legId]))
  const there = facts.map((fact) => {
    const member = known.get(fact.memberId)
    const drift = member === undefined || member.phase === "left"
    return {
      memberId: member?.id ?? null,
      drift,
      callId: fact.callId,
      legId: fact.legId,
      status: "joined" as const,
      muted: fact.isMuted,
      onHold: fact.isHeld,
      whispering: fact.role === "whisper",
      whisperLegIds: fact.targets.flatMap((target) => legs.get(target) ?? []),
      endOnExit: member !== undefined && endsOnExit(state, member),
      softEndOnExit: member?.softEndOnExit ?? false,
      createdAt: now - fact.ageMs,
      updatedAt: now - fact.changedMs
    }
  })
  const missing = state.members.flatMap((member) =>
    (member.phase !== "joined" && member.phase !== "joining") || legs.has(member.id)
      ? []
      : [
          {
            memberId: member.id,
            drift: member.phase === "joined",
            callId: member.callId,
            legId: member.legId,
            status: member.phase === "joined" ? ("left" as const) : ("joining" as const),
            muted: member.isMuted,
            onHold: member.isHeld,
            whispering: false,
            whisperLegIds: [],
            endOnExit: endsOnExit(state, member),
            softEndOnExit: member.softEndOnExit,
            createdAt: member.joinedAt ?? member.createdAt,
            updatedAt: member.joinedAt ?? member.createdAt
          }
        ]
  )
  return [...there, ...missing]
}

/** A page of the carrier's view; null: there is no such page. */
export const page = (
  state: ConferenceState,
  facts: ReadonlyArray<MemberFacts>,
  { muted, onHold, whispering }: UpstreamFilters,
  { number, size }: { readonly number: number; readonly size: number },
  now: number
): UpstreamPage | null => {
  const rows = rowsOf(state, facts, now).filter(
    (row) =>
      (muted === undefined || row.muted === muted) &&
      (onHold === undefined || row.onHold === onHold) &&
      (whispering === undefined || row.whispering === whispering)
  )
  const totalPages = Math.ceil(rows.length / size)
  if (number > Math.max(1, totalPages)) return null
  return {
    results: rows.slice((number - 1) * size, number * size).map((row) => encode(row)),
    meta: encodeMeta({ pageNumber: number, pageSize: size, totalPages, totalResults: rows.length, fetchedAt: now })
  }
}
