import * as ListTable from "../../../runtime/store/list/ListTable.ts"
import type { ConferenceState } from "../machine/ConferenceState.ts"

const { int, of, text, time, uuid } = ListTable

/**
 * Folds case in every script, and unifies the encodings of accents. Going through both cases gives ß, ẞ and SS one
 * form; the final sigma becomes the one within a word.
 */
export const fold = (name: string): string =>
  name.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC")

/** The columns that the list of conferences filters and shows; the whole conference is in its entity. */
export const ConferenceList = of<ConferenceState>()("conference", {
  id: text((room) => room.id),
  tenantId: uuid((room) => room.tenantId),
  name: text((room) => room.name),
  /** A search for a part of the name looks here. */
  foldedName: text((room) => fold(room.name)),
  status: text((room) => room.status),
  hostCallId: text((room) => room.hostCallId),
  beepEnabled: text((room) => room.beepEnabled),
  startOnCreate: int((room) => Number(room.startOnCreate)),
  endOnExit: int((room) => Number(room.endOnExit)),
  maxParticipants: int((room) => room.maxParticipants),
  durationMinutes: int((room) => room.durationMinutes),
  endWhenAloneSecs: int((room) => room.endWhenAloneSecs ?? null),
  onMemberLeft: text((room) => room.onMemberLeft ?? null),
  createdAt: time((room) => room.createdAt),
  startedAt: time((room) => room.startedAt),
  endedAt: time((room) => room.endedAt)
})

export type ConferenceRow = ListTable.RowOf<typeof ConferenceList>
