import type { WorkId } from "../../domain/Id.ts"
import type * as Taps from "../mix/Tap.ts"
import * as Capture from "./Capture.ts"
import type { CaptureCommand, CaptureEvent } from "./CaptureMessage.ts"

export type LegCaptures = ReturnType<typeof make>

/** The captures of one leg, by id; the number of taps bounds them. */
export const make = (leg: {
  readonly taps: Taps.Taps
  readonly ready: () => boolean
  /** Sounds the warning tone for all parties that hear the leg. */
  readonly beep: () => void
  readonly emit: (event: CaptureEvent) => void
}) => {
  const { beep, emit, ready, taps } = leg
  const captures = new Map<WorkId, Capture.Capture>()

  const start = (id: WorkId, wanted: Capture.Wanted): void => {
    if (captures.has(id)) return
    const capture = Capture.make({
      ...wanted,
      ready,
      beep,
      give: (chunk) => emit({ type: "captured", id, chunk }),
      ended: (reason) => {
        taps.remove(capture.tap)
        captures.delete(id)
        emit({ type: "capture_ended", id, reason })
      }
    })
    captures.set(id, capture)
    if (!taps.add(capture.tap)) capture.stop("too_many_taps")
  }

  return {
    /** A command for an unknown capture is ignored, because that has reported its end. */
    command: (command: CaptureCommand): void => {
      switch (command.type) {
        case "capture":
          return start(command.id, command.wanted)
        case "capture_taken":
          return captures.get(command.id)?.taken(command.chunks)
        case "capture_silence":
          return captures.get(command.id)?.silence(command.isSilent)
        case "capture_stop":
          return captures.get(command.id)?.stop("stopped")
      }
    }
  }
}
