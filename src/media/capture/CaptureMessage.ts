import type { LegId, WorkId } from "../../domain/Id.ts"
import type { CaptureEnd, Chunk, Wanted } from "./Capture.ts"

/** The commands to a capture in the media thread, and its events. */
export type CaptureCommand =
  | { readonly type: "capture"; readonly leg: LegId; readonly id: WorkId; readonly wanted: Wanted }
  | { readonly type: "capture_taken"; readonly leg: LegId; readonly id: WorkId; readonly chunks: number }
  | { readonly type: "capture_silence"; readonly leg: LegId; readonly id: WorkId; readonly isSilent: boolean }
  | { readonly type: "capture_stop"; readonly leg: LegId; readonly id: WorkId }

export type CaptureEvent =
  | { readonly type: "captured"; readonly id: WorkId; readonly chunk: Chunk }
  /** The last event of a capture. */
  | { readonly type: "capture_ended"; readonly id: WorkId; readonly reason: CaptureEnd }
