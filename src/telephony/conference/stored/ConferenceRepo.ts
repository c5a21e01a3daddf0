import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ConferenceId, MemberId, TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import { ConferenceList, fold } from "./ConferenceList.ts"
import type { ConferenceState, ConferenceStatus } from "../machine/ConferenceState.ts"
import * as ConferenceView from "../ConferenceView.ts"
import * as ParticipantView from "../ParticipantView.ts"
import { ParticipantList, type ParticipantRow } from "./ParticipantList.ts"

/** Filters of the list of conferences, AND-combined. */
export interface ConferenceFilters {
  readonly status?: ConferenceStatus
  /** A part of the name, in any case. */
  readonly name?: string
}

/** Filters of a conference's list of participants, AND-combined. */
export interface ParticipantFilters {
  readonly muted?: boolean
  readonly onHold?: boolean
  readonly includeLeft: boolean
}

export const make = Effect.gen(function* () {
  const { all, column, equal, first, some, sql, values } = yield* Sql.make
  const read = yield* Listing.reader

  return {
    /**
     * Inserts the row within the transaction of the first commit; false when another conference that is not completed
     * has the name. Of two concurrent claims, one waits for the other.
     */
    takeName: (state: ConferenceState) =>
      some`
        INSERT INTO conference ${values({
          id: state.id,
          tenantId: state.tenantId,
          name: state.name,
          status: state.status,
          beepEnabled: state.beepEnabled,
          startOnCreate: Number(state.startOnCreate),
          endOnExit: Number(state.endOnExit),
          maxParticipants: state.maxParticipants,
          durationMinutes: state.durationMinutes,
          createdAt: state.createdAt
        })} ON CONFLICT DO NOTHING RETURNING 1`,
    /** All present and former members of a conference. */
    everyMember: (conferenceId: ConferenceId) =>
      all<ParticipantRow>`
        SELECT ${sql.literal(ParticipantList.columns)} FROM conference_participant
        WHERE conference_id = ${conferenceId} ORDER BY created_at, id`,
    /** The subset of these calls that still have rows. */
    keptCalls: (ids: ReadonlyArray<string>) =>
      Effect.map(
        column<string>`SELECT id FROM call WHERE id = ANY(${ids}::text[])`,
        (kept): ReadonlySet<string> => new Set(kept)
      ),
    /** Newest first. */
    list: (tenantId: TenantId, { name, status }: ConferenceFilters, window: Listing.Window) =>
      read({
        tenantId,
        columns: sql.literal(ConferenceList.columns),
        from: "conference",
        filters: [...equal({ status }), ...(name === undefined ? [] : [sql`strpos(folded_name, ${fold(name)}) > 0`])],
        order: Listing.byTime(sql, "created_at", "downwards"),
        window,
        item: ConferenceView.ofRow
      }),
    /** The members in `speaking` first, then all others in the order in which they were seated. */
    participants: (
      tenantId: TenantId,
      conferenceId: ConferenceId,
      { includeLeft, muted, onHold }: ParticipantFilters,
      window: Listing.Window,
      speaking: ReadonlyArray<MemberId>,
      now: ParticipantView.Now
    ) =>
      read({
        tenantId,
        columns: sql.literal(ParticipantList.columns),
        from: "conference_participant",
        where: sql.and([
          sql`tenant_id = ${tenantId}`,
          sql`conference_id = ${conferenceId}`,
          ...(includeLeft ? [] : [sql`left_at IS NULL`])
        ]),
        filters: [
          ...(muted === undefined ? [] : [sql`is_muted = ${Number(muted)}`]),
          ...(onHold === undefined ? [] : [sql`is_on_hold = ${Number(onHold)}`])
        ],
        order: speakersFirst(sql, speaking),
        window,
        item: (row: ParticipantRow) => ParticipantView.ofRow(row, now)
      }),
    participant: (tenantId: TenantId, conferenceId: ConferenceId, memberId: MemberId) =>
      first<ParticipantRow>`
        SELECT ${sql.literal(ParticipantList.columns)} FROM conference_participant
        WHERE id = ${memberId} AND conference_id = ${conferenceId} AND tenant_id = ${tenantId}`
  }
})

const place = /^([01])~([0-9]{1,16})~([0-9a-z_]{1,64})$/

/**
 * Speaking members come first. One that begins or ends to speak between two pages may be on both pages, or on neither.
 */
const speakersFirst = (sql: SqlClient.SqlClient, speaking: ReadonlyArray<MemberId>): Listing.Order => {
  const listens = sql`(CASE WHEN id = ANY(string_to_array(${speaking.join(",")}, ',')) THEN 0 ELSE 1 END)`
  return {
    by: sql`${listens}, created_at, id`,
    place: sql`${listens} || '~' || (extract(epoch FROM created_at) * 1000000)::bigint || '~' || id`,
    behind: (after) => {
      const [, listened, micros, id] = place.exec(after) ?? []
      if (listened === undefined || micros === undefined || id === undefined) return null
      const then = sql`(timestamptz 'epoch' + ${micros}::text::float8 * interval '1 microsecond')`
      return sql`(${listens}, created_at, id) > (${Number(listened)}::int, ${then}, ${id})`
    }
  }
}
