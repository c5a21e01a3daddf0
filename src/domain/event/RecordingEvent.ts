import * as Field from "../schema/Field.ts"
import * as Wire from "../schema/Wire.ts"
import type { Family } from "./PublicEvent.ts"

const ofRecording = {
  callId: Field.callId("The recorded call; of a conference, its host's."),
  conferenceId: Field.conferenceIdOrNull,
  recordingId: Field.recordingId,
  channels: Field.oneOf("Both sides mixed, or one channel for each.", ["single", "dual"]),
  format: Field.oneOf("Of the file.", ["mp3", "wav"]),
  customerReference: Field.customerReference
}

export const rows = {
  "recording.completed": {
    when: "A recording is stored and can be downloaded.",
    data: Wire.struct({
      ...ofRecording,
      durationSeconds: Field.seconds("Length of the recording."),
      downloadUrl: Field.text(
        "Signed, and expires; fetch a fresh one rather than keeping it.",
        "https://recordings.example/0123456789abcdef.mp3"
      )
    })
  },
  "recording.failed": {
    when: "A recording could not be stored.",
    data: Wire.struct({
      ...ofRecording,
      reason: Field.oneOf("What went wrong.", ["storage_error", "internal_error", "unsupported"]),
      failedAt: Field.time("When it failed.")
    })
  }
} as const satisfies Family<"recording">
