import * as Machine from "../../audio/detect/Machine.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { MediaEvent } from "../message/MediaMessage.ts"
import type * as Taps from "../mix/Tap.ts"

export type LegDetection = ReturnType<typeof make>

/** The detection of an answering machine on one leg: a tap on what its far end says. One goes on at a time. */
export const make = (leg: { readonly taps: Taps.Taps; readonly emit: (event: MediaEvent) => void }) => {
  const { emit, taps } = leg
  let running: WorkId | null = null

  const listen = (id: WorkId): Taps.Tap => {
    const machine = Machine.make()
    const told = (finding: Machine.Finding, at: number): void => {
      switch (finding.type) {
        case "verdict":
          return emit({
            type: "machine_detected",
            id,
            verdict: finding.verdict,
            hasBeep: finding.hasBeep,
            at
          })
        case "beep":
          return emit({ type: "machine_beeped", id, at })
        case "done":
          running = null
          taps.remove(tap)
          return emit({ type: "ended", id, status: "completed", reason: null })
      }
    }
    const tap: Taps.Tap = {
      wants: (track) => track === "inbound",
      hear: (_, frame, at) => {
        for (const finding of machine.hear(frame.samples, frame.rate)) told(finding, at)
      },
      ended: (reason) => {
        running = null
        emit({ type: "ended", id, status: "failed", reason })
      }
    }
    return tap
  }

  return {
    /** Begins it, from the next frame on. One that goes on goes on. */
    begin: (id: WorkId): void => {
      if (running === id) return
      if (running !== null || !taps.add(listen(id)))
        return emit({ type: "ended", id, status: "failed", reason: "too_many_taps" })
      running = id
    }
  }
}
