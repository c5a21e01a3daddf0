import { Data, Effect } from "effect"
import type { FairSemaphore } from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"

/** The work took too long, or came too slowly, while another holder waited for its place. */
export class Overdue extends Data.TaggedError("Overdue")<{}> {}

/** The part of a body that has come until now. */
interface Progress {
  readonly bytes: number
  /** Whether some of it waits here, so that its sender is not to blame. */
  readonly isBuffered: boolean
}

/**
 * Runs work that holds a place of `places` and waits for a far end. While another holder waits for a place, the work is
 * interrupted when it has taken `longestMs`, or when its body trickles: fewer than `leastBytes` have come in the last
 * `windowMs`. So a few far ends that send next to nothing cannot keep all places. `progress` null: it is not known.
 */
export const within =
  (places: Pick<FairSemaphore, "othersWait">, holder: string, progress: (() => Progress) | null) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Overdue, R> =>
    Effect.raceFirst(work, watch(places, holder, progress))

const { checkMs, leastBytes, longestMs, windowMs } = Policies.longBodyPace

const watch = Effect.fnUntraced(function* (
  places: Pick<FairSemaphore, "othersWait">,
  holder: string,
  progress: (() => Progress) | null
): Effect.fn.Return<never, Overdue> {
  const began = yield* Monotonic.now
  /** The bytes at each check within the window, the oldest first. */
  const checks: Array<{ readonly at: number; readonly bytes: number }> = []
  while (true) {
    const at = yield* Monotonic.now
    const now = progress?.() ?? null
    if (now !== null) checks.push({ at, bytes: now.bytes })
    while ((checks[1]?.at ?? Infinity) <= at - windowMs) checks.shift()
    const [oldest] = checks
    const trickles =
      now !== null &&
      !now.isBuffered &&
      oldest !== undefined &&
      oldest.at <= at - windowMs &&
      now.bytes - oldest.bytes < leastBytes
    if ((trickles || at - began >= longestMs) && places.othersWait(holder)) return yield* new Overdue()
    yield* Effect.sleep(checkMs)
  }
})
