import type { Open } from "../../../ports/egress/WebSocketClient.ts"
import type * as Message from "../../../ports/media/Stream.ts"
import * as ReadBudget from "../ReadBudget.ts"
import * as Room from "../Room.ts"

/** What the streams of a thread share. */
export interface Common {
  readonly open: Open
  /** Epoch milliseconds. */
  readonly wallClock: () => number
  readonly room: Room.Room
  readonly reading: ReadBudget.Tenants
  readonly figures: Figures
}

/** Since the thread began. */
export interface Figures {
  open: number
  failed: Record<Message.Failure, number>
  /** Sound that a slow server never got, and sound of servers that found no room. */
  droppedMs: number
  underruns: number
}

/** Octets of the servers' sound that may wait in a thread. */
const mostRoom = 256 * 1024 * 1024

/** For a thread that begins. */
export const make = (reaches: Pick<Common, "open" | "wallClock">): Common => ({
  ...reaches,
  room: Room.make(mostRoom),
  reading: ReadBudget.tenants(),
  figures: noFigures()
})

export const noFigures = (): Figures => ({
  open: 0,
  failed: { connection_failed: 0, protocol_error: 0, carrier_error: 0 },
  droppedMs: 0,
  underruns: 0
})
