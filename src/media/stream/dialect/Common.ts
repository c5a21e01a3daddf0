import * as FairShare from "../../../domain/fair/FairShare.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import type { Open } from "../../../ports/egress/WebSocketClient.ts"
import type * as Message from "../../../ports/media/StreamMessages.ts"
import * as GivenUp from "../GivenUp.ts"
import * as ReadBudget from "../ReadBudget.ts"

/** The state that the streams of a thread share. */
export interface Common {
  readonly open: Open
  /** Epoch milliseconds. */
  readonly wallClock: () => number
  /** The octets of waiting sound. */
  readonly capacity: FairShare.CountedShare
  readonly reading: ReadBudget.Tenants
  readonly givenUp: GivenUp.GivenUp
  readonly figures: Figures
}

/** Counts since the thread began. */
export interface Figures {
  open: number
  failed: Record<Message.Failure, number>
  /** Sound that a slow server never got, and sound of servers for which there was no room. */
  droppedMs: number
  underruns: number
}

/** Makes the state for a new thread. */
export const make = (reaches: Pick<Common, "open" | "wallClock">): Common => ({
  ...reaches,
  capacity: FairShare.counted(Policies.streamSound),
  reading: ReadBudget.tenants(),
  givenUp: GivenUp.make(),
  figures: noFigures()
})

export const noFigures = (): Figures => ({
  open: 0,
  failed: { connection_failed: 0, protocol_error: 0, carrier_error: 0 },
  droppedMs: 0,
  underruns: 0
})
