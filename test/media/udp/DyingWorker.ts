import { parentPort, resourceLimits } from "node:worker_threads"
import { noFigures } from "../../../src/media/stream/dialect/Common.ts"
import type { FromThread, ToThread } from "../../../src/media/udp/PlaneThread.ts"

/** A media thread that opens RTP legs, forgets phones, dies of digits, and hangs when a playback is stopped. */
const port = parentPort
if (port === null) throw new Error("DyingWorker is a worker thread")
const say = (message: FromThread) => port.postMessage(message)

port.on("message", (message: ToThread) => {
  if (message.type === "open_rtp")
    // A leg of this name reports the limit of the young generation, in MB.
    say({
      type: "opened",
      leg: message.leg,
      port: message.leg === "young space" ? (resourceLimits.maxYoungGenerationSizeMb ?? 0) : 2
    })
  if (message.type === "ping")
    say({
      type: "pong",
      figures: { legs: 0, skippedFrames: 0, playbackGaps: 0, streams: noFigures(), packetErrors: 0 }
    })
  if (message.type === "media" && message.media.type === "send_dtmf") process.exit(1)
  while (message.type === "media" && message.media.type === "stop_playback");
  if (message.type === "shutdown") port.close()
})
say({
  type: "ready",
  priority: "as the process",
  groupPriority: "as the process",
  packetIo: { io: "node", why: null, isFault: false }
})
