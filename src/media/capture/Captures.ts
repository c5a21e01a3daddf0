import type { LegId, WorkId } from "../../domain/Id.ts"
import type { CaptureEnd, Chunk, Wanted } from "./Capture.ts"
import type { CaptureCommand, CaptureEvent } from "./CaptureMessage.ts"

/** Gets what is captured of a leg. Its functions must not throw; they are called outside of any fiber. */
export interface Receiver {
  /** Each chunk in order. It counts as waiting until it is given back by `taken`. */
  readonly heard: (chunk: Chunk) => void
  /** The last that it hears, once. */
  readonly ended: (reason: CaptureEnd) => void
}

/** A capture that goes on, as who asked for it sees it. After its end nothing here does anything. */
export interface Captured {
  /** So many chunks are worked through, one when left out. */
  readonly taken: (chunks?: number) => void
  /** From now on, or no longer, what is captured is silence. */
  readonly silence: (isSilent: boolean) => void
  /** What was heard until then still comes, then the end. */
  readonly stop: () => void
}

export type Captures = ReturnType<typeof make>

/** The receivers of all captures, outside of the media thread. `post` hands a command to the leg's thread. */
export const make = (post: (command: CaptureCommand) => void) => {
  const receivers = new Map<LegId, Map<WorkId, Receiver>>()

  const forget = (leg: LegId, id: WorkId): void => {
    const ofLeg = receivers.get(leg)
    ofLeg?.delete(id)
    if (ofLeg?.size === 0) receivers.delete(leg)
  }

  return {
    /** `isKnown`: whether the leg is there. An id is used once. */
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
    /** The leg is gone; whatever has not told its end was lost with the plane. */
    closed: (leg: LegId): void => {
      const ofLeg = receivers.get(leg)
      receivers.delete(leg)
      for (const receiver of ofLeg?.values() ?? []) receiver.ended("plane_stopped")
    }
  }
}
