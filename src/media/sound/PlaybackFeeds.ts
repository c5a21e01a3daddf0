import { Effect, Fiber, FiberSet, Queue, type Scope } from "effect"
import type { LegId, TenantId, WorkId } from "../../domain/Id.ts"
import * as AudioMetrics from "./AudioMetrics.ts"
import type * as AudioSource from "./AudioSource.ts"
import type { MediaEnded } from "../../ports/media/MediaMessage.ts"
import type * as Protocol from "../plane/Protocol.ts"

type Wanted = Extract<Protocol.Event, { readonly type: "wanted" }>

/**
 * Feeds the playbacks of all legs with their sounds. Each has a fiber that reads one piece on each request, from the
 * first one until the playback has ended.
 *
 * A playback requests one piece at a time, and a leg requests them for only a few playbacks, which bounds the work
 * under way.
 */
export const make = Effect.fnUntraced(function* (
  sources: AudioSource.AudioSource["Service"],
  post: (command: Protocol.Command) => void
): Effect.fn.Return<
  {
    readonly wanted: (tenant: TenantId, event: Wanted) => void
    readonly ended: (leg: LegId, event: MediaEnded) => void
    /** The playback has ended on this leg, and another leg reports its end. */
    readonly unwanted: (leg: LegId, id: WorkId) => void
    readonly closed: (leg: LegId) => void
  },
  never,
  Scope.Scope
> {
  const run = yield* FiberSet.makeRuntime()
  const context = yield* Effect.context()
  const legs = new Map<LegId, Map<WorkId, { readonly asked: Queue.Queue<void>; readonly fiber: Fiber.Fiber<void> }>>()

  const feed = (tenant: TenantId, { id, leg, rate, sound }: Wanted, asked: Queue.Queue<void>) =>
    Effect.gen(function* () {
      const reader = yield* sources.open(tenant, sound, rate)
      while (true) {
        yield* Queue.take(asked)
        const { isLast, samples } = yield* reader.next
        post({ type: "supply", leg, id, sound: { rate: reader.rate, samples }, isLast })
      }
    }).pipe(
      Effect.scoped,
      Effect.catchTag("AudioUnavailable", ({ reason }) =>
        Effect.sync(() => post({ type: "supply_failed", leg, id, reason }))
      )
    )

  const unwanted = (leg: LegId, id: WorkId): void => {
    const known = legs.get(leg)
    known?.get(id)?.fiber.interruptUnsafe()
    known?.delete(id)
    if (known?.size === 0) legs.delete(leg)
  }

  return {
    wanted: (tenant, event) => {
      const known = legs.get(event.leg) ?? new Map()
      legs.set(event.leg, known)
      const feeding = known.get(event.id)
      if (feeding !== undefined) return void Queue.offerUnsafe(feeding.asked, undefined)
      const asked = Effect.runSync(Queue.unbounded<void>())
      Queue.offerUnsafe(asked, undefined)
      known.set(event.id, { asked, fiber: run(feed(tenant, event, asked)) })
    },
    ended: (leg, { id, reason, status }) => {
      AudioMetrics.playbackEnded(status, reason).updateUnsafe(1, context)
      unwanted(leg, id)
    },
    unwanted,
    closed: (leg) => {
      for (const { fiber } of legs.get(leg)?.values() ?? []) fiber.interruptUnsafe()
      legs.delete(leg)
    }
  }
})
