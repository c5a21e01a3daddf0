import { Result, Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import type { StoredOf } from "../../../runtime/store/journal/Journal.ts"
import { ConferenceState, type Member, stateVersion, untouched } from "../machine/ConferenceState.ts"
import type { ParticipantRow } from "./ParticipantList.ts"
import * as ConferenceSealing from "./ConferenceSealing.ts"

/** Reads conferences as the journal stores them. */
const decodeState = Schema.decodeUnknownResult(ConferenceState)

/** `open` decrypts a sealed secret. */
export const decode = (
  row: { readonly stateVersion: number; readonly state: unknown },
  open: (sealed: string) => string | null
): Result.Result<ConferenceState, unknown> =>
  row.stateVersion > stateVersion
    ? Result.fail(new Error(`state version ${row.stateVersion} is newer than this program`))
    : decodeState(ConferenceSealing.openState(row.state, open))

/** The state with placeholders for its secrets. */
export const shown = (row: { readonly stateVersion: number; readonly state: unknown }) => decode(row, () => null)

const Known = Schema.Struct({
  tenantId: Schema.optionalKey(Id.TenantId),
  name: Schema.optionalKey(Schema.String),
  adapter: Schema.optionalKey(Schema.String),
  routeId: Schema.optionalKey(Id.RouteId),
  hostCallId: Schema.optionalKey(Id.CallId),
  hostLegId: Schema.optionalKey(Id.LegId),
  timeOffsetMs: Schema.optionalKey(Schema.Number),
  status: Schema.optionalKey(Schema.Literals(["init", "in_progress", "completed"])),
  createdAt: Schema.optionalKey(Schema.Number),
  startedAt: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  endedAt: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  sequence: Schema.optionalKey(Schema.Number),
  at: Schema.optionalKey(Schema.Number)
})

const fieldsOf = (state: unknown): typeof Known.Type => {
  if (typeof state !== "object" || state === null) return {}
  return Object.fromEntries(
    Object.entries(Known.fields).flatMap(([name, schema]) => {
      const value: unknown = (state as Readonly<Record<string, unknown>>)[name]
      return value !== undefined && Schema.is(schema)(value) ? [[name, value]] : []
    })
  )
}

/** Rebuilds a conference whose state cannot be read from its row and its participants, so that it can be ended. */
export const rebuild = (row: StoredOf<"conference">, members: ReadonlyArray<ParticipantRow>): ConferenceState => {
  const known = fieldsOf(row.state)
  const createdAt = known.createdAt ?? 0
  return {
    timeOffsetMs: 0,
    name: "",
    adapter: "",
    routeId: Id.schema("route").make(""),
    hostCallId: Id.derive(row.id, "call"),
    hostLegId: Id.derive(row.id, "leg"),
    status: "init",
    startedAt: null,
    endedAt: null,
    at: createdAt,
    ...known,
    ...untouched,
    id: row.id,
    tenantId: row.tenantId,
    createdAt,
    customerReference: null,
    beepEnabled: "never",
    startOnCreate: true,
    endOnExit: true,
    maxParticipants: 2,
    durationMinutes: 1,
    members: members.flatMap((member): ReadonlyArray<Member> =>
      member.leftAt === null
        ? [
            {
              id: member.id,
              callId: member.callId,
              legId: member.legId,
              role: member.role,
              phase: member.joinedAt === null ? "claimed" : "joined",
              createdAt: member.createdAt,
              joinedAt: member.joinedAt,
              leftAt: null,
              isMuted: member.isMuted === 1,
              isHeld: member.isOnHold === 1,
              isSpeaking: false,
              endOnExit: null,
              softEndOnExit: false,
              beepEnabled: null,
              told: null
            }
          ]
        : []
    ),
    room: "live",
    // Above every number that was used: gaps do no harm.
    sequence: known.sequence ?? row.seq * 1_000,
    seq: row.seq
  }
}
