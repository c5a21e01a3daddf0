import { Worker } from "node:worker_threads"
import { Clock, Deferred, Duration, Effect, Layer, Schema } from "effect"
import type * as IpAddress from "../../domain/IpAddress.ts"
import * as Monotonic from "../../domain/Monotonic.ts"
import { AudioSource } from "../AudioSource.ts"
import { MediaPlane, make, type SwitchLink } from "../MediaPlane.ts"
import * as Protocol from "../Protocol.ts"
import type { FromThread, ThreadConfig, ToThread } from "./PlaneThread.ts"

export interface Config {
  /** IP address literal to bind. */
  readonly bindAddress: string
  /** The addresses that peers are told, one of each family that the sockets reach. */
  readonly publicAddresses: IpAddress.Addresses
  /** UDP ports for RTP and RTCP, both ends included: two for each leg. */
  readonly portMin: number
  readonly portMax: number
  /** Silence of a peer after which its leg is told as lost; 0: never. */
  readonly mediaTimeoutMs: number
  /** Legs at once in the thread; about 300 fit a core. */
  readonly maxLegs?: number
}

/** The thread of the media plane did not come up. */
export class MediaPlaneFailed extends Schema.TaggedError<MediaPlaneFailed>()("MediaPlaneFailed", {
  detail: Schema.String
}) {
  override get message() {
    return `media thread: ${this.detail}`
  }
}

const startTimeout = Duration.seconds(15)
const stopTimeout = Duration.seconds(2)
/** A thread that dies more often than this within a minute is not started again. */
const maxRestarts = 5
const restartWindowMs = 60_000

/**
 * The media plane over UDP, in a worker thread of its own.
 *
 * When the thread dies, every leg is told to be lost, and a new thread takes the next calls.
 */
export const layer = (config: Config) => layerOf(config, new URL("./PlaneWorker.ts", import.meta.url))

/** The same with another program in the thread. */
export const layerOf = (config: Config, program: URL) =>
  Layer.effect(
    MediaPlane,
    Effect.gen(function* () {
      const sources = yield* AudioSource
      const clock = yield* Clock.Clock
      const context = yield* Effect.context()
      const log = Effect.runForkWith(context)
      const ready = yield* Deferred.make<void, MediaPlaneFailed>()
      const threadConfig: ThreadConfig = {
        bindAddress: config.bindAddress,
        portMin: config.portMin,
        portMax: config.portMax,
        mediaTimeoutMs: config.mediaTimeoutMs,
        maxLegs: config.maxLegs ?? 1000
      }
      let onEvent: (event: Protocol.Event) => void = () => undefined
      let onDown: () => void = () => undefined
      let worker: Worker | null = null
      let stopping = false
      let deaths: Array<number> = []

      const receive = (message: FromThread): void => {
        if (message.type === "ready") {
          log(Effect.logDebug("media thread started, priority", message.priority))
          return void Deferred.doneUnsafe(ready, Effect.void)
        }
        if (message.type === "defect") return void log(Effect.logError("media leg died", message.error))
        onEvent(message)
      }

      const start = (): void => {
        const thread = new Worker(program, { workerData: threadConfig })
        worker = thread
        thread.on("message", receive)
        thread.on("error", (error) => {
          log(Effect.logError("media thread died", error))
          Deferred.doneUnsafe(ready, Effect.fail(new MediaPlaneFailed({ detail: String(error) })))
        })
        thread.on("exit", () => {
          if (worker !== thread) return
          worker = null
          if (stopping) return
          const now = Monotonic.read(clock)
          deaths = [...deaths.filter((at) => now - at < restartWindowMs), now]
          if (deaths.length <= maxRestarts) start()
          else log(Effect.logFatal("media thread died too often and is not started again"))
          onDown()
        })
      }

      const post = (message: ToThread) => {
        if (worker !== null) worker.postMessage(message, [])
      }

      /** Answers a command that somebody waits for while there is no thread. */
      const answerDown = (command: Protocol.Command): void => {
        const { leg } = command
        if (Protocol.isOpening(command)) onEvent({ type: "refused", leg, reason: "plane_stopped" })
        if (command.type === "close") onEvent({ type: "closed", leg })
      }

      const link: SwitchLink = {
        post: (command) => (worker === null ? answerDown(command) : post(command)),
        listen: (event, down) => {
          onEvent = event
          onDown = down
        }
      }

      const stop = Effect.callback<void>((resume) => {
        stopping = true
        if (worker === null) return resume(Effect.void)
        worker.once("exit", () => resume(Effect.void))
        post({ type: "shutdown" })
      })
      const kill = Effect.promise(async () => {
        await worker?.terminate()
      })

      yield* Effect.acquireRelease(Effect.sync(start), () =>
        stop.pipe(Effect.timeoutOrElse({ duration: stopTimeout, orElse: () => kill }))
      )
      yield* Deferred.await(ready).pipe(
        Effect.timeoutOrElse({
          duration: startTimeout,
          orElse: () => Effect.fail(new MediaPlaneFailed({ detail: "did not start in time" }))
        })
      )
      return yield* make([link], sources, config.publicAddresses)
    })
  )
