import type { Open } from "../../../src/ports/egress/WebSocketClient.ts"
import * as Common from "../../../src/media/stream/dialect/Common.ts"

const open: Open = () => {
  throw new Error("no stream is opened here")
}

/** The shared state of streams of a switch, for tests in which none is opened. */
export const make = (): Common.Common => Common.make({ open, wallClock: () => 0 })
