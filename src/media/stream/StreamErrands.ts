import { Effect, FiberMap, type Scope } from "effect"
import type { LegId, TenantId, WorkId } from "../../domain/Id.ts"
import { Egress } from "../../ports/egress/Egress.ts"
import { AudioDecoder } from "../sound/AudioDecoder.ts"
import { fileRate, type StreamAnswer, type StreamAsk } from "./dialect/StreamMessage.ts"

/** The failures that another attempt would meet again. */
const final: ReadonlySet<string> = new Set(["invalid_url", "blocked"])

/**
 * The services of this thread for streams: resolving and checking the addresses of their servers, and decoding MP3
 * files. A stream makes one request of each at a time, so there is at most one fiber for each.
 */
export const make = Effect.fnUntraced(function* (post: (leg: LegId, answer: StreamAnswer) => void): Effect.fn.Return<
  {
    readonly asked: (tenant: TenantId, leg: LegId, ask: StreamAsk) => void
    /** Work with this id has ended on the leg; false: it was not a stream. */
    readonly ended: (leg: LegId, id: WorkId) => boolean
    readonly closed: (leg: LegId) => void
  },
  never,
  Egress | AudioDecoder | Scope.Scope
> {
  const egress = yield* Egress
  const decoder = yield* AudioDecoder
  const fibers = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(fibers)()
  const legs = new Map<LegId, Set<WorkId>>()

  const reach = (leg: LegId, { id, timeoutMs, url }: Extract<StreamAsk, { readonly type: "stream_reach" }>) =>
    egress.pin(url, timeoutMs).pipe(
      Effect.match({
        onSuccess: (pinned): StreamAnswer => ({ type: "stream_reached", id, pinned }),
        onFailure: ({ detail, reason }): StreamAnswer => ({
          type: "stream_unreachable",
          id,
          detail,
          isFinal: final.has(reason)
        })
      }),
      Effect.map((answer) => post(leg, answer))
    )

  const decode = (
    tenant: TenantId,
    leg: LegId,
    { bytes, file, id }: Extract<StreamAsk, { readonly type: "stream_decode" }>
  ) =>
    Effect.scoped(
      Effect.gen(function* () {
        const reading = yield* Effect.acquireRelease(
          Effect.sync(() => decoder.open({ bytes, contentType: "audio/mpeg" }, fileRate)),
          ({ close }) => Effect.sync(close)
        )
        for (let isOver = false; !isOver;) {
          const { isLast, samples } = yield* reading.next(tenant)
          post(leg, { type: "stream_sound", id, file, samples, isLast })
          isOver = isLast
        }
      })
    ).pipe(Effect.catch(() => Effect.sync(() => post(leg, { type: "stream_sound_failed", id, file }))))

  return {
    asked: (tenant, leg, ask) => {
      legs.set(leg, (legs.get(leg) ?? new Set()).add(ask.id))
      run(ask.id, ask.type === "stream_reach" ? reach(leg, ask) : decode(tenant, leg, ask))
    },
    ended: (leg, id) => {
      if (legs.get(leg)?.delete(id) !== true) return false
      run(id, Effect.void)
      if (legs.get(leg)?.size === 0) legs.delete(leg)
      return true
    },
    closed: (leg) => {
      for (const id of legs.get(leg) ?? []) run(id, Effect.void)
      legs.delete(leg)
    }
  }
})
