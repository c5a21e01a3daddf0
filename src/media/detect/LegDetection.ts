import * as Machine from "../../protocol/audio/detect/Machine.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Taps from "../mix/Tap.ts"

export type LegDetection = ReturnType<typeof make>

/** The detection of an answering machine on one leg: a tap on what its far end says. One goes on at a time. */
export const make = (leg: { readonly taps: Taps.Taps; readonly emit: (event: MediaEvent) => void }) => {
  const { emit, taps } = leg
  /** What listens: before the answer, and from `begin` on. */
  let machine: Machine.Machine | null = null
  /** Null: nobody is told. */
  let running: WorkId | null = null

  const told = (id: WorkId, finding: Machine.Finding, at: number): void => {
    switch (finding.type) {
      case "verdict":
        return emit({ type: "machine_detected", id, verdict: finding.verdict, hasBeep: finding.hasBeep, at })
      case "beep":
        return emit({ type: "machine_beeped", id, at })
      case "done":
        machine = null
        running = null
        taps.remove(tap)
        return emit({ type: "ended", id, status: "completed", reason: null })
    }
  }

  const tap: Taps.Tap = {
    wants: (track) => track === "inbound",
    hear: (_, frame, at) => {
      const findings = machine?.hear(frame.samples, frame.rate) ?? []
      for (const finding of findings) if (running !== null) told(running, finding, at)
    },
    ended: (reason) => {
      machine = null
      if (running !== null) emit({ type: "ended", id: running, status: "failed", reason })
      running = null
    }
  }

  const listen = (): Machine.Machine | null => {
    machine ??= taps.add(tap) ? Machine.make() : null
    return machine
  }

  return {
    /** The far end has not answered yet. Where there is no place for another tap, nothing is heard of it. */
    listenEarly: (): void => {
      if (running === null) listen()
    },
    /** It has: begins to tell, from the next frame on. One that goes on goes on. */
    begin: (id: WorkId): void => {
      if (running === id) return
      const listening = running === null ? listen() : null
      if (listening === null) return emit({ type: "ended", id, status: "failed", reason: "too_many_taps" })
      listening.answered()
      running = id
    }
  }
}
