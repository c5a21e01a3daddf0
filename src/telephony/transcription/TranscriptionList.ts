import type { CallId, LegId, TenantId, TranscriptionId } from "../../domain/Id.ts"
import type * as Message from "../../ports/media/TranscriptionMessages.ts"
import * as ListTable from "../../runtime/store/list/ListTable.ts"

export const statuses = ["active", "completed", "failed"] as const
type Status = (typeof statuses)[number]

export interface Session {
  readonly id: TranscriptionId
  readonly tenantId: TenantId
  readonly callId: CallId
  readonly legId: LegId
  readonly status: Status
  readonly engine: typeof Message.Engine.Type
  readonly language: string
  readonly tracks: typeof Message.Tracks.Type
  readonly startedAt: number
  readonly endedAt: number | null
  readonly durationSeconds: number
  readonly costCents: number | null
}

/** A word of a phrase, as the API shows it: times from the start of its session. */
export interface Word {
  readonly word: string
  readonly startMs: number
  readonly endMs: number
  readonly confidence: number | null
}

export interface Segment {
  readonly transcriptionId: TranscriptionId
  /** Counts from 1 within the session. */
  readonly sequence: number
  readonly transcript: string
  readonly confidence: number | null
  readonly track: Message.Track
  readonly startedAt: number
  readonly endedAt: number
  readonly words: ReadonlyArray<Word>
}

const { int, of, text, time, uuid } = ListTable

/** Sessions, written with the commits that begin and end them. */
export const Sessions = of<Session>()("transcription", {
  id: text((session) => session.id),
  tenantId: uuid((session) => session.tenantId),
  callId: text((session) => session.callId),
  legId: text((session) => session.legId),
  status: text((session) => session.status),
  engine: text((session) => session.engine),
  language: text((session) => session.language),
  tracks: text((session) => session.tracks),
  startedAt: time((session) => session.startedAt),
  endedAt: time((session) => session.endedAt),
  durationSeconds: int((session) => session.durationSeconds),
  costCents: int((session) => session.costCents)
})

/** The table keeps a confidence of 0 to 1 as a whole number of these parts. */
export const confidenceParts = 10_000

/** Phrases, each written with the commit that reports it. `words` is JSON. */
export const Segments = of<Segment>()("transcript_segment", {
  id: text(({ sequence, transcriptionId }) => `${transcriptionId}_${String(sequence).padStart(6, "0")}`),
  transcriptionId: text((segment) => segment.transcriptionId),
  sequence: int((segment) => segment.sequence),
  transcript: text((segment) => segment.transcript),
  confidence: int(({ confidence }) => (confidence === null ? null : Math.round(confidence * confidenceParts))),
  track: text((segment) => segment.track),
  startedAt: time((segment) => segment.startedAt),
  endedAt: time((segment) => segment.endedAt),
  words: text((segment) => JSON.stringify(segment.words))
})

export type SessionRow = ListTable.RowOf<typeof Sessions>
export type SegmentRow = ListTable.RowOf<typeof Segments>
