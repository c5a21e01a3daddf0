import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import { phraseTimes } from "../../domain/event/CallEvent.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as Message from "../../ports/media/TranscriptionMessages.ts"
import {
  confidenceParts,
  type SegmentRow,
  type SessionRow,
  statuses,
  type Word as StoredWord
} from "./TranscriptionList.ts"

const Segment = Wire.struct({
  sequence: Schema.Int.annotate({ description: "1, 2, 3 and so on, as they were recognized.", examples: [1] }),
  transcript: Field.text("The phrase.", "hello"),
  confidence: Schema.NullOr(Schema.Finite).annotate({ description: "0 to 1; null when not known.", examples: [0.97] }),
  isFinal: Schema.Boolean.annotate({ description: "Always true.", examples: [true] }),
  track: Schema.NullOr(Message.Track).annotate({
    description: "Who said it: `inbound` is the far end of the leg, `outbound` is what it hears.",
    examples: ["inbound"]
  }),
  ...phraseTimes
})

const session = {
  id: Field.transcriptionId,
  callId: Field.callId(),
  legId: Field.legId(),
  status: Field.oneOf("`active` until its last words are here.", statuses),
  engine: Message.Engine.annotate({ description: "Which engine was asked for.", examples: ["fast"] }),
  language: Field.text("As it was asked for.", "en"),
  transcriptionTracks: Message.Tracks.annotate({ description: "Who is transcribed.", examples: ["inbound"] }),
  startedAt: Field.timeOrNull("When it began."),
  endedAt: Field.timeOrNull("When its last words were here; null until then."),
  durationSeconds: Field.seconds("What is billed of it; 0 until it has ended."),
  costCents: Field.centsOrNull("What it costs; null until it has ended.")
}

/** A session of transcription with all of its phrases, guide/transcription.md#the-transcript. */
export const Transcription = Wire.struct({
  ...session,
  segments: Schema.Array(Segment).annotate({ description: "Every phrase." }),
  transcript: Field.text("Every phrase, with a line break between two.", "hello")
}).pipe(Schema.annotateEncoded({ identifier: "Transcription" }))

const encodeSession = Wire.encoder(Wire.struct(session))
const encodeSegment = Wire.encoder(Segment)

/** The words of a row, parsed without a check because only this service writes them. */
const wordsOf = (stored: string): ReadonlyArray<StoredWord> => JSON.parse(stored)

/** Writes a `Transcription` in pieces, so that a long one does not block the thread. */
export const writer = (of: SessionRow) => {
  const phrases: Array<string> = []
  const head = (): string =>
    `${JSON.stringify(encodeSession({ ...of, transcriptionTracks: of.tracks })).slice(0, -1)},"segments":[`
  const textOf = (segment: SegmentRow): string =>
    JSON.stringify(
      encodeSegment({
        ...segment,
        confidence: segment.confidence === null ? null : segment.confidence / confidenceParts,
        isFinal: true,
        words: wordsOf(segment.words)
      })
    )
  return {
    /** The next piece of the JSON, with the phrases that follow those already written. */
    write: (segments: ReadonlyArray<SegmentRow>, isLast: boolean): string => {
      const start = phrases.length === 0 ? head() : segments.length === 0 ? "" : ","
      for (const { transcript } of segments) phrases.push(transcript)
      const end = isLast ? `],"transcript":${JSON.stringify(phrases.join("\n"))}}` : ""
      return start + segments.map(textOf).join(",") + end
    }
  }
}
