import type { Country } from "../../audio/RingbackTone.ts"
import type { Command, Event } from "../Protocol.ts"
import type { Figures as StreamFigures } from "../stream/Common.ts"

/** What the thread is started with. */
export interface ThreadConfig {
  readonly ringback: Country
  readonly bindAddress: string
  readonly portMin: number
  readonly portMax: number
  readonly mediaTimeoutMs: number
  readonly maxLegs: number
}

/** To the thread. `ping` is answered by `pong`; `shutdown`: end every leg, then the thread. */
export type ToThread = Command | { readonly type: "ping" } | { readonly type: "shutdown" }

/** What the switch counts, since the thread began. */
export interface Figures {
  readonly legs: number
  /** Frames of legs that were not sent because the thread stood still. */
  readonly skippedFrames: number
  /** Frames in which a playback waited for its next piece. */
  readonly playbackGaps: number
  readonly streams: StreamFigures
}

/**
 * From the thread. `ready` comes first, and tells in words what priority the thread has; `defect` is a fault of ours
 * that ended one leg.
 */
export type FromThread =
  | Event
  | { readonly type: "ready"; readonly priority: string }
  | { readonly type: "pong"; readonly figures: Figures }
  | { readonly type: "defect"; readonly error: string }
