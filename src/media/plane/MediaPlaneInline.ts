import { Clock, Effect, Latch, Layer } from "effect"
import type * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { Open } from "../../ports/egress/WebSocketClient.ts"
import { AudioSource } from "../sound/AudioSource.ts"
import { MediaPlane } from "./MediaPlane.ts"
import * as SwitchedPlane from "./SwitchedPlane.ts"
import type { PacketPort } from "../rtp/PacketPort.ts"
import * as Frame from "../Frame.ts"
import type * as Protocol from "./Protocol.ts"
import * as Common from "../stream/dialect/Common.ts"
import * as Switch from "./Switch.ts"

interface Options {
  readonly ports: PacketPort
  /** Returns 32 bits, uniformly distributed and unsigned. */
  readonly random: () => number
  /** The addresses that are announced to peers. */
  readonly publicAddresses: IpAddress.Addresses
  readonly mediaTimeoutMs: number
  readonly maxLegs: number
  /** The most legs over RTP at once; default: as many as legs. */
  readonly maxPorts?: number
  /** Makes the phones of legs, as in `Switch.Options`. */
  readonly phoneOf?: Exclude<Switch.Options["phoneOf"], undefined>
  /** Opens the sockets of media streams; without it none can be opened. */
  readonly openSocket?: Open
}

/** A port for planes that carry simulated phones only: none is ever free. */
export const noPorts: PacketPort = { open: (_, opened) => opened(null) }

const noSockets: Open = (_pinned, _options, { onClose }) => {
  queueMicrotask(() => onClose({ reason: "connect", code: null, detail: "there are no sockets here" }))
  return {
    send: () => false,
    bufferedBytes: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined
  }
}

/** The media plane in this thread, on the clock of its fibers, which a test can advance at any speed. */
export const layer = (options: Options) =>
  Layer.effect(
    MediaPlane,
    Effect.gen(function* () {
      const effectClock = yield* Clock.Clock
      const clock = () => Monotonic.read(effectClock)
      const sources = yield* AudioSource
      const busy = yield* Latch.make()
      let onEvent: (event: Protocol.Event) => void = () => undefined

      const wallClock = () => effectClock.currentTimeMillisUnsafe()
      const plane = Switch.make({
        ...options,
        clock,
        wallClock,
        streams: Common.make({ open: options.openSocket ?? noSockets, wallClock }),
        emit: (event) => onEvent(event),
        onDefect: (error) => {
          throw error
        }
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => plane.close(clock())))

      const round = Effect.gen(function* () {
        const due = plane.nextDue()
        if (due === null) {
          yield* busy.close
          return yield* busy.await
        }
        // A command may cause work that is due earlier.
        yield* Effect.sleep(Math.min(Frame.frameMs, Math.max(1, due - clock())))
        plane.tick(clock())
      })
      yield* Effect.forkScoped(Effect.forever(round))

      return yield* SwitchedPlane.make(
        [
          {
            post: (command) => {
              plane.handle(command, clock())
              busy.openUnsafe()
            },
            listen: (listener) => {
              onEvent = listener
            }
          }
        ],
        sources,
        options.publicAddresses,
        { legs: options.maxLegs, ports: options.maxPorts ?? options.maxLegs }
      )
    })
  )
