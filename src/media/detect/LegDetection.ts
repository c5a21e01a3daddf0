import * as AnsweringMachine from "../../protocol/audio/detect/AnsweringMachine.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Taps from "../mix/Tap.ts"

/** The detection of an answering machine on one leg: a tap on the sound of its far end. One runs at a time. */
export const make = (leg: { readonly taps: Taps.Taps; readonly emit: (event: MediaEvent) => void }) => {
  const { emit, taps } = leg
  /** The detector, which listens before the answer or from `begin` on. */
  let machine: AnsweringMachine.AnsweringMachine | null = null
  /** The detection that findings are reported for; null: they are not reported. */
  let running: WorkId | null = null

  const told = (id: WorkId, finding: AnsweringMachine.Finding, at: number): void => {
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

  const listen = (): AnsweringMachine.AnsweringMachine | null => {
    machine ??= taps.add(tap) ? AnsweringMachine.make() : null
    return machine
  }

  return {
    /** Begins to listen before the far end has answered. Without a place for another tap, the early sound is missed. */
    listenEarly: (): void => {
      if (running === null) listen()
    },
    /** Begins to report after the answer, from the next frame on. Without effect for a detection that runs. */
    start: (id: WorkId): void => {
      if (running === id) return
      const listening = running === null ? listen() : null
      if (listening === null) return emit({ type: "ended", id, status: "failed", reason: "too_many_taps" })
      listening.answered()
      running = id
    }
  }
}
