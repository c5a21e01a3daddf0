import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { RecordingRow } from "./RecordingList.ts"
import { statuses } from "./RecordingList.ts"

/** A recording as the API shows it, guide/recordings.md#the-recording. */
export const Recording = Wire.struct({
  id: Field.recordingId,
  callId: Field.callId("The recorded call; of a conference, its host's."),
  channels: Field.oneOf("Both sides mixed, or one channel for each.", ["single", "dual"]),
  format: Field.oneOf("Of the file.", ["mp3", "wav"]),
  durationSeconds: Field.seconds("Its length; 0 of one that failed."),
  sizeBytes: Schema.Int.annotate({ description: "Of the file; 0 of one that failed.", examples: [488_044] }),
  downloadUrl: Field.textOrNull(
    "Where the file is, for ten minutes and without a key; fetch a fresh one rather than keeping it. Null unless it is `available`.",
    "https://trunkline.example/recordings/svc_rec_0123456789abcdef0123456789abcdef.mp3?expires=1767225600&signature=…"
  ),
  status: Field.oneOf("Only an `available` one can be downloaded.", statuses),
  createdAt: Field.time("When its outcome was known.")
}).pipe(Schema.annotateEncoded({ identifier: "Recording" }))
export type Recording = typeof Recording.Encoded

const encode = Wire.encoder(Recording)

export const of = (row: RecordingRow, downloadUrl: string | null): Recording => encode({ ...row, downloadUrl })
