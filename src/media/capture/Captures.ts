import type { LegId, WorkId } from "../../domain/Id.ts"
import type { CaptureEnd, Chunk, Wanted } from "./Capture.ts"
import type { CaptureCommand, CaptureEvent } from "./CaptureMessage.ts"

/** Receives the captured sound of a leg. Its functions must not throw; they are called outside of any fiber. */
export interface Receiver {
  /** Takes each chunk in order. It counts as waiting until `taken` acknowledges it. */
  readonly heard: (chunk: Chunk) => void
  /** Called once, as the last callback. */
  readonly ended: (reason: CaptureEnd) => void
}

/** The handle of a running capture. After its end its functions do nothing. */
export interface Captured {
  /** Acknowledges chunks as processed; the default is one. */
  readonly taken: (chunks?: number) => void
  /** Begins or ends the replacement of the captured sound by silence. */
  readonly silence: (isSilent: boolean) => void
  /** Stops the capture: the sound up to now still comes, then the end. */
  readonly stop: () => void
}

/** The receivers of all captures, outside of the media thread. `post` sends a command to the leg's thread. */
export const make = (post: (command: CaptureCommand) => void) => {
  const receivers = new Map<LegId, Map<WorkId, Receiver>>()

  const forget = (leg: LegId, id: WorkId): void => {
    const ofLeg = receivers.get(leg)
    ofLeg?.delete(id)
    if (ofLeg?.size === 0) receivers.delete(leg)
  }

  return {
    /** `isKnown`: whether the leg exists. An id is used once. */
    open: (leg: LegId, id: WorkId, wanted: Wanted, receiver: Receiver, isKnown: boolean): Captured => {
      const ofLeg = receivers.get(leg) ?? new Map<WorkId, Receiver>()
      if (isKnown) {
        receivers.set(leg, ofLeg.set(id, receiver))
        post({ type: "capture", leg, id, wanted })
      } else receiver.ended("unknown_leg")
      const goesOn = () => receivers.get(leg)?.has(id) === true
      return {
        taken: (chunks = 1) => {
          if (goesOn()) post({ type: "capture_taken", leg, id, chunks })
        },
        silence: (isSilent) => {
          if (goesOn()) post({ type: "capture_silence", leg, id, isSilent })
        },
        stop: () => {
          if (goesOn()) post({ type: "capture_stop", leg, id })
        }
      }
    },
    told: (leg: LegId, event: CaptureEvent): void => {
      const receiver = receivers.get(leg)?.get(event.id)
      if (receiver === undefined) return
      if (event.type === "captured") return receiver.heard(event.chunk)
      forget(leg, event.id)
      receiver.ended(event.reason)
    },
    /** Ends the captures of a closed leg whose own end events were lost with the plane. */
    closed: (leg: LegId): void => {
      const ofLeg = receivers.get(leg)
      receivers.delete(leg)
      for (const receiver of ofLeg?.values() ?? []) receiver.ended("plane_stopped")
    }
  }
}
