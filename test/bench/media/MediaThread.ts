import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { type LegId, type MemberId, WorkId } from "../../../src/domain/Id.ts"
import type { Pinned } from "../../../src/ports/egress/Pinned.ts"
import type { StartStream } from "../../../src/ports/media/StreamMessages.ts"
import type { RtpRemote } from "../../../src/media/plane/MediaPlane.ts"
import * as Descriptors from "../../../src/media/udp/packet/Descriptors.ts"
import * as PacketIo from "../../../src/media/udp/packet/PacketIo.ts"
import {
  type FromThread,
  resourceLimits,
  type ThreadConfig,
  type ToThread
} from "../../../src/media/udp/PlaneThread.ts"

const program = new URL("../../../src/media/udp/PlaneWorker.ts", import.meta.url)

/** The thread that the service has for its calls, driven by its own messages; ends with its scope. */
export const start = Effect.fnUntraced(function* (options: Omit<ThreadConfig, "packetIo" | "descriptors" | "turns">) {
  // The setting is read as the service reads it.
  const packetIo = PacketIo.all.find((io) => io === process.env["RTP_IO"]) ?? PacketIo.preferred
  const config: ThreadConfig = {
    ...options,
    packetIo,
    descriptors: Descriptors.make(),
    turns: new Int32Array(new SharedArrayBuffer(4))
  }
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(program, { workerData: config, resourceLimits })),
    (worker) => Effect.promise(() => worker.terminate())
  )
  const post = (message: ToThread) => worker.postMessage(message, [])

  /** The first message that `read` accepts. */
  const next = <Answer>(read: (message: FromThread) => Answer | null, ask: () => void = () => undefined) =>
    Effect.promise(
      () =>
        new Promise<Answer>((resolve, reject) => {
          const heard = (message: FromThread) => {
            if (message.type === "defect") return reject(new Error(message.error))
            const answer = read(message)
            if (answer === null) return
            worker.off("message", heard)
            resolve(answer)
          }
          worker.on("message", heard)
          ask()
        })
    )

  yield* next((message) => (message.type === "ready" ? message : null))
  return {
    /** Opens a leg and returns its port. */
    open: (leg: LegId) =>
      next(
        (message) => (message.type === "opened" && message.leg === leg ? message.port : null),
        () => post({ type: "open_rtp", leg })
      ),
    connect: (leg: LegId, remote: RtpRemote) => Effect.sync(() => post({ type: "connect_rtp", leg, remote })),
    /** Captures the sound of a leg in both directions, as a recording does. */
    capture: (leg: LegId) =>
      Effect.sync(() =>
        post({
          type: "capture",
          leg,
          id: WorkId.make(`capture of ${leg}`),
          wanted: {
            tracks: ["inbound", "outbound"],
            chunkMs: 100,
            mostRate: 48_000,
            mostWaiting: Number.MAX_SAFE_INTEGER,
            beeps: { atStart: false, everyMs: null }
          }
        })
      ),
    /** Completes when it is connected; its server is at `pinned`. */
    stream: (leg: LegId, media: StartStream, pinned: Pinned) =>
      next(
        (message) => {
          if (message.type === "stream_reach" && message.leg === leg)
            post({ type: "stream_reached", leg, id: media.id, pinned })
          return message.type === "media" && message.leg === leg && message.event.type === "stream_started"
            ? true
            : null
        },
        () => post({ type: "media", leg, media })
      ),
    openRoom: (leg: LegId) =>
      next(
        (message) => (message.type === "opened" && message.leg === leg ? true : null),
        () => post({ type: "open_room", leg })
      ),
    /** Completes when the leg is in the room. */
    enter: (leg: LegId, room: LegId, memberId: MemberId) =>
      next(
        (message) => (message.type === "bridged" && message.leg === leg ? true : null),
        () => post({ type: "enter_room", leg, room, entry: { memberId, isHost: false, isMuted: false, isHeld: false } })
      ),
    mute: (room: LegId, memberId: MemberId) =>
      Effect.sync(() => post({ type: "change_member", leg: room, memberId, change: { type: "mute", isMuted: true } })),
    bridge: (leg: LegId, peer: LegId) => Effect.sync(() => post({ type: "bridge", leg, peer })),
    close: (leg: LegId) =>
      next(
        (message) => (message.type === "closed" && message.leg === leg ? message : null),
        () => post({ type: "close", leg })
      )
  }
})
