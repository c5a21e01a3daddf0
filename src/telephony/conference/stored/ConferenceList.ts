import * as ListTable from "../../../runtime/store/list/ListTable.ts"
import type { ConferenceState } from "../machine/ConferenceState.ts"

const { int, of, text, time, uuid } = ListTable

/**
 * Without the difference of case, in every script, and however accents are written. The way through both cases gives ß, ẞ
 * and SS one form; the sigma at the end of a word is that within it.
 */
export const fold = (name: string): string =>
  name.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC")

/** What the list of conferences filters and shows; the whole conference is in its entity. */
export const ConferenceList = of<ConferenceState>()("conference", {
  id: text((room) => room.id),
  tenantId: uuid((room) => room.tenantId),
  name: text((room) => room.name),
  /** What a part of the name is looked for in. */
  foldedName: text((room) => fold(room.name)),
  status: text((room) => room.status),
  hostCallId: text((room) => room.hostCallId),
  beepEnabled: text((room) => room.beepEnabled),
  startOnCreate: int((room) => Number(room.startOnCreate)),
  endOnExit: int((room) => Number(room.endOnExit)),
  maxParticipants: int((room) => room.maxParticipants),
  durationMinutes: int((room) => room.durationMinutes),
  createdAt: time((room) => room.createdAt),
  startedAt: time((room) => room.startedAt),
  endedAt: time((room) => room.endedAt)
})

export type ConferenceRow = ListTable.RowOf<typeof ConferenceList>
