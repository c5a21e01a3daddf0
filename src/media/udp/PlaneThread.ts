import type { Country } from "../../protocol/audio/RingbackTone.ts"
import type { Command, Event } from "../plane/Protocol.ts"
import type { Figures as StreamFigures } from "../stream/dialect/Common.ts"
import type * as Descriptors from "./packet/Descriptors.ts"
import type { Chosen, PacketIo } from "./packet/PacketIo.ts"

/**
 * Of the heap of the thread. Each datagram of a socket of Node leaves objects behind, some 10 MB a second in a room of 250. The space
 * for what is young grows to dozens of MB where it may, and emptying it then takes 20 ms and more, in which every leg waits;
 * on busy cores much more, because helpers without the priority of this thread take part. Filled and emptied at 4 MB that
 * is 1 to 4 ms, for one percent of a core.
 */
export const resourceLimits = { maxYoungGenerationSizeMb: 8 } as const

/** What the thread is started with. */
export interface ThreadConfig {
  readonly ringback: Country
  readonly bindAddress: string
  readonly portMin: number
  readonly portMax: number
  /** What the thread has open, which its parent closes when it has ended. */
  readonly descriptors: Descriptors.Descriptors
  readonly packetIo: PacketIo
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
  /** Datagrams that could not be sent, and other errors of their sockets. */
  readonly packetErrors: number
}

/**
 * From the thread. `ready` comes first, and tells in words what priority the thread has, and how its packets come and go;
 * `defect` is a fault of ours that ended one leg.
 */
export type FromThread =
  | Event
  | { readonly type: "ready"; readonly priority: string; readonly packetIo: Chosen }
  | { readonly type: "pong"; readonly figures: Figures }
  | { readonly type: "defect"; readonly error: string }
