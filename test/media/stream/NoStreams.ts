import type { Open } from "../../../src/egress/WebSocketClient.ts"
import * as Stream from "../../../src/media/stream/Stream.ts"

const open: Open = () => {
  throw new Error("no stream is opened here")
}

/** What the streams of a switch share, for tests in which none is opened. */
export const make = (): Stream.Common => ({
  open,
  wallClock: () => 0,
  ...Stream.shared(),
  figures: Stream.noFigures()
})
