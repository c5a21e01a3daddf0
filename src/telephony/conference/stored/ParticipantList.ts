import type * as Id from "../../../domain/Id.ts"
import * as ListTable from "../../../runtime/store/list/ListTable.ts"
import type { ConferenceState, Member } from "../machine/ConferenceState.ts"

interface Participant extends Member {
  readonly tenantId: Id.TenantId
  readonly conferenceId: Id.ConferenceId
}

const { int, of, text, time, uuid } = ListTable

/** A row for each present or former member of a conference. */
export const ParticipantList = of<Participant>()("conference_participant", {
  id: text((member) => member.id),
  tenantId: uuid((member) => member.tenantId),
  conferenceId: text((member) => member.conferenceId),
  callId: text((member) => member.callId),
  legId: text((member) => member.legId),
  role: text((member) => member.role),
  createdAt: time((member) => member.createdAt),
  joinedAt: time((member) => member.joinedAt),
  leftAt: time((member) => member.leftAt),
  isMuted: int((member) => Number(member.isMuted)),
  isOnHold: int((member) => Number(member.isHeld))
})

export type ParticipantRow = ListTable.RowOf<typeof ParticipantList>

/** The rows of members that are new or have changed. */
export const writes = (before: ConferenceState | null, after: ConferenceState): ReadonlyArray<ListTable.ListWrite> => {
  const { id: conferenceId, tenantId } = after
  const known = new Map(before?.members.map((member) => [member.id, member]))
  return after.members.flatMap((member) => {
    const was = known.get(member.id) ?? null
    return was === member
      ? []
      : ParticipantList.writes(was === null ? null : { ...was, tenantId, conferenceId }, {
          ...member,
          tenantId,
          conferenceId
        })
  })
}
