import { Schema } from "effect"
import * as Field from "../Field.ts"
import type { Family } from "./PublicEvent.ts"

const ofRecording = {
  call_id: Field.callId("The recorded call; of a conference, its host's."),
  conference_id: Field.conferenceIdOrNull,
  recording_id: Field.recordingId,
  channels: Field.oneOf("Both sides mixed, or one channel for each.", ["single", "dual"]),
  format: Field.oneOf("Of the file.", ["mp3", "wav"]),
  customer_reference: Field.customerReference
}

export const rows = {
  "recording.completed": {
    when: "A recording is stored and can be downloaded.",
    emitted: false,
    data: Schema.Struct({
      ...ofRecording,
      duration_seconds: Field.seconds("Length of the recording."),
      download_url: Field.text(
        "Signed, and expires; fetch a fresh one rather than keeping it.",
        "https://recordings.example/0123456789abcdef.mp3"
      )
    })
  },
  "recording.failed": {
    when: "A recording could not be stored.",
    emitted: false,
    data: Schema.Struct({
      ...ofRecording,
      reason: Field.oneOf("What went wrong.", ["storage_error", "internal_error", "unsupported"]),
      failed_at: Field.moment("When it failed.")
    })
  }
} as const satisfies Family<"recording">
