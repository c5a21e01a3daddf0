import type { Country } from "../../protocol/audio/RingbackTone.ts"
import type { Command, Event } from "../plane/Protocol.ts"
import type { Figures as StreamFigures } from "../stream/dialect/Common.ts"
import type * as Descriptors from "./packet/Descriptors.ts"
import type { Chosen, PacketIo } from "./packet/PacketIo.ts"

/**
 * Limits of the thread's heap. Each datagram of a socket of Node creates garbage, some 10 MB a second in a room of 250.
 * Without a limit the young generation grows to dozens of MB, and a collection then takes 20 ms and more, in which
 * every leg waits; on busy cores much more, because helper threads without the priority of this thread take part.
 * Collected at 4 MB it takes 1 to 4 ms, for one percent of a core.
 */
export const resourceLimits = { maxYoungGenerationSizeMb: 8 } as const

/** The configuration that the thread is started with. */
export interface ThreadConfig {
  readonly ringback: Country
  readonly bindAddress: string
  readonly portMin: number
  readonly portMax: number
  /** The descriptors that the thread has open, which its parent closes when it has ended. */
  readonly descriptors: Descriptors.Descriptors
  readonly packetIo: PacketIo
  /** One counter, which the thread raises in each turn: its parent sees there that it lives. */
  readonly turns: Int32Array<SharedArrayBuffer>
  readonly mediaTimeoutMs: number
  readonly maxLegs: number
}

/** A message to the thread. `pong` answers `ping`; `shutdown` ends every leg, then the thread. */
export type ToThread = Command | { readonly type: "ping" } | { readonly type: "shutdown" }

/** The counts of the switch since the thread began. */
export interface Figures {
  readonly legs: number
  /** Frames of legs that were skipped because the thread stood still. */
  readonly skippedFrames: number
  /** Frames in which a playback waited for its next piece. */
  readonly playbackGaps: number
  readonly streams: StreamFigures
  /** Datagrams that could not be sent, and other errors of their sockets. */
  readonly packetErrors: number
}

/**
 * A message from the thread. `ready` comes first, and states in words the priority of the thread, and how it sends and
 * receives packets; `defect` is an internal error that ended one leg.
 */
export type FromThread =
  | Event
  | { readonly type: "ready"; readonly priority: string; readonly groupPriority: string; readonly packetIo: Chosen }
  | { readonly type: "pong"; readonly figures: Figures }
  | { readonly type: "defect"; readonly error: string }
