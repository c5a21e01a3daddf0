import { Worker } from "node:worker_threads"
import { Clock, Deferred, Duration, Effect, Layer, Schema } from "effect"
import { Fatal } from "../../runtime/process/Fatal.ts"
import { Starting } from "../../runtime/process/Starting.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as RingbackTone from "../../protocol/audio/RingbackTone.ts"
import type * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { AudioSource } from "../sound/AudioSource.ts"
import { MediaPlane } from "../plane/MediaPlane.ts"
import * as SwitchedPlane from "../plane/SwitchedPlane.ts"
import * as Protocol from "../plane/Protocol.ts"
import * as Descriptors from "./packet/Descriptors.ts"
import * as PacketIo from "./packet/PacketIo.ts"
import * as PlaneMetrics from "./PlaneMetrics.ts"
import * as ThreadStart from "./ThreadStart.ts"
import * as ThreadWatch from "./ThreadWatch.ts"
import { type FromThread, resourceLimits, type ThreadConfig, type ToThread } from "./PlaneThread.ts"
import * as UdpPorts from "./packet/UdpPorts.ts"

interface Config {
  /** IP address literal to bind. */
  readonly bindAddress: string
  /** The addresses that are announced to peers, one of each family that the sockets reach. */
  readonly publicAddresses: IpAddress.Addresses
  /** UDP ports for RTP and RTCP, both ends included: two for each leg. */
  readonly portMin: number
  readonly portMax: number
  /** How long a peer may be silent until its leg is reported as lost; 0: for ever. */
  readonly mediaTimeoutMs: number
  /** The country of the ring-back tone; default: the United States. */
  readonly ringback?: RingbackTone.Country
  /** The most legs at once in the thread; about 300 fit a core. */
  readonly maxLegs?: number
  /** How packets are sent and received; default `PacketIo.preferred`. */
  readonly packetIo?: PacketIo.PacketIo
}

/** The thread of the media plane did not start. */
class MediaPlaneFailed extends Schema.TaggedError<MediaPlaneFailed>()("MediaPlaneFailed", {
  detail: Schema.String
}) {
  override get message() {
    return `media thread: ${this.detail}`
  }
}

const stopTimeout = Duration.seconds(2)
/** When the thread dies more often than this within a minute, the process stops, because no call would be possible. */
const maxRestarts = 5
const restartWindowMs = 60_000
const pingMs = 1_000
const startLookMs = 1_000
/** A thread that spins for this long without a turn hangs, and none of its legs has had a packet meanwhile. */
const hungMs = 5_000

/**
 * The media plane over UDP, in a separate worker thread.
 *
 * When the thread dies or hangs, every leg is reported as lost, so that its peer gets a BYE and its call an end, and a
 * new thread takes the next calls.
 */
export const layer = (config: Config) => layerOf(config, new URL("./PlaneWorker.ts", import.meta.url))

/** The same with another program in the thread, and its `patienceMs` (`ThreadWatch`). */
export const layerOf = (config: Config, program: URL, patienceMs = hungMs) =>
  Layer.effect(
    MediaPlane,
    Effect.gen(function* () {
      const sources = yield* AudioSource
      const clock = yield* Clock.Clock
      const context = yield* Effect.context()
      const log = Effect.runForkWith(context)
      const fatal = yield* Fatal
      const ready = yield* Deferred.make<void, MediaPlaneFailed>()
      const threadConfig: Omit<ThreadConfig, "descriptors" | "turns"> = {
        bindAddress: config.bindAddress,
        portMin: config.portMin,
        portMax: config.portMax,
        mediaTimeoutMs: config.mediaTimeoutMs,
        maxLegs: config.maxLegs ?? 1000,
        ringback: config.ringback ?? RingbackTone.defaultCountry,
        packetIo: config.packetIo ?? PacketIo.preferred
      }
      let onEvent: (event: Protocol.Event) => void = () => undefined
      let onDown: () => void = () => undefined
      let worker: Worker | null = null
      let stopping = false
      let deaths: Array<number> = []
      let watched = ThreadWatch.initial
      /** The signs of life of the present thread: its turns, and the messages that it has sent. */
      let turns = new Int32Array(new SharedArrayBuffer(4))
      let messages = 0
      /** Whether the present thread has said that it is ready; before that, `ThreadStart` is its limit. */
      let isReady = false
      let progress = ThreadStart.initial
      let pingedAt = 0
      const told = PlaneMetrics.make(context)

      const receive = (message: FromThread): void => {
        messages++
        if (message.type === "pong") return told.pong(Monotonic.read(clock) - pingedAt, message.figures)
        if (message.type === "ready") {
          isReady = true
          const { io, isFault, why } = message.packetIo
          told.started(io)
          const { groupPriority, priority } = message
          log(Effect.logDebug("media thread started", { priority, groupPriority, packetIo: io, why }))
          if (isFault) log(Effect.logWarning("media packets go by sockets of Node, which cost more CPU time", { why }))
          return void Deferred.doneUnsafe(ready, Effect.void)
        }
        if (message.type === "defect") return void log(Effect.logError("media leg died", message.error))
        onEvent(message)
      }

      const start = (): void => {
        const descriptors = Descriptors.make()
        turns = new Int32Array(new SharedArrayBuffer(4))
        const workerData: ThreadConfig = { ...threadConfig, descriptors, turns }
        const thread = new Worker(program, { workerData, resourceLimits })
        worker = thread
        watched = ThreadWatch.initial
        isReady = false
        progress = ThreadStart.initial
        thread.on("message", (message: FromThread) => {
          if (worker === thread) receive(message)
        })
        thread.on("error", (error) => {
          log(Effect.logError("media thread died", error))
          Deferred.doneUnsafe(ready, Effect.fail(new MediaPlaneFailed({ detail: String(error) })))
        })
        thread.on("exit", () => {
          PacketIo.closeLeft(descriptors)
          if (worker !== thread) return
          worker = null
          if (stopping) return
          told.died()
          const now = Monotonic.read(clock)
          deaths = [...deaths.filter((at) => now - at < restartWindowMs), now]
          if (deaths.length <= maxRestarts) start()
          else fatal(`the media thread died ${deaths.length} times in a minute`)
          onDown()
        })
      }

      const post = (message: ToThread) => {
        if (worker !== null) worker.postMessage(message, [])
      }

      /** The processor time of the thread; null: it does not say. */
      const used = Effect.promise(async () => {
        const of = await worker?.cpuUsage().catch(() => null)
        return of === null || of === undefined ? null : (of.user + of.system) / 1_000
      }).pipe(Effect.timeoutOrElse({ duration: startLookMs, orElse: () => Effect.succeed(null) }))

      const lookMs = Math.min(pingMs, patienceMs / 2)
      const watch = Effect.gen(function* () {
        const usedMs = yield* used
        const signs = Atomics.load(turns, 0) + messages
        const [next, hangsMs] = ThreadWatch.look(watched, { signs, usedMs }, { lookMs, patienceMs })
        watched = next
        if (worker !== null && hangsMs !== null) {
          log(Effect.logError("media thread hangs and is ended", { quietMs: Math.round(hangsMs) }))
          watched = ThreadWatch.initial
          return void worker.terminate()
        }
        pingedAt = Monotonic.read(clock)
        post({ type: "ping" })
      })

      /** Looks after a thread that starts; completes with the reason why it will not become ready. */
      const watchStart = Effect.gen(function* () {
        const [next, why] = ThreadStart.look(progress, yield* used)
        progress = next
        return why
      })

      /** Waits for the first thread. */
      const started = Effect.gen(function* () {
        for (;;) {
          yield* Effect.sleep(startLookMs)
          const why = yield* watchStart
          if (why !== null) return yield* new MediaPlaneFailed({ detail: why })
        }
      })

      /** A later thread that does not become ready is ended, and the next one starts. */
      const watchAll = Effect.gen(function* () {
        yield* Effect.sleep(isReady ? lookMs : startLookMs)
        if (isReady) return yield* watch
        const why = yield* watchStart
        if (why === null || worker === null) return
        log(Effect.logError(`media thread is ended: ${why}`))
        worker.terminate().catch(() => undefined)
      })

      /** Answers a command for whose answer a caller waits, while there is no thread. */
      const answerDown = (command: Protocol.Command): void => {
        const { leg } = command
        if (Protocol.isOpening(command)) onEvent({ type: "refused", leg, reason: "plane_stopped" })
        if (command.type === "close") onEvent({ type: "closed", leg })
      }

      const link: SwitchedPlane.SwitchLink = {
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
      const isThere = (yield* Starting).awaits("the media thread")
      yield* Effect.raceFirst(Deferred.await(ready), started).pipe(Effect.ensuring(Effect.sync(isThere)))
      yield* Supervised.fork("the watch over the media thread", Effect.forever(watchAll))
      return yield* SwitchedPlane.make([link], sources, config.publicAddresses, {
        legs: threadConfig.maxLegs,
        ports: UdpPorts.pairsOf(config)
      })
    })
  )
