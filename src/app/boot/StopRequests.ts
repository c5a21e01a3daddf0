import { Deferred, Effect } from "effect"

/** The requests to stop this process, and what has to be ended when the process must exit quickly. */
interface StopRequests {
  /** Completes at the second request, after which the process no longer waits for live calls. */
  readonly hurried: Effect.Effect<void>
  /**
   * Registers a function that ends something that would outlive this process. It is called only when the process exits
   * without closing its scopes, and must not take longer than a few seconds.
   */
  readonly outlives: (end: () => Promise<void>) => void
}

/** How long the service may take to close in order after a second request. */
const hurryMs = 2_000

/**
 * Counts the requests to stop: SIGINT, SIGTERM, SIGHUP, and the end of the launcher that started this process.
 *
 * The first one stops the service in order, through the handlers of `NodeRuntime.runMain`. The second cuts the drain
 * short: live calls get their BYE now. `hurryMs` later, or at the third, the process ends everything that would outlive
 * it and exits with 130; the next start then recovers as after a kill -9.
 */
export const listen = (): StopRequests => {
  const hurried = Deferred.makeUnsafe<void>()
  const ends: Array<() => Promise<void>> = []
  let requests = 0
  let leaving = false

  const leave = () => {
    if (leaving) return
    leaving = true
    // The functions run in the reverse order of their registration.
    const all = ends.reduceRight((before, end) => before.then(end, end), Promise.resolve())
    void all.finally(() => process.exit(130))
  }
  const count = () => {
    requests++
    if (requests === 2) {
      Deferred.doneUnsafe(hurried, Effect.void)
      setTimeout(leave, hurryMs).unref()
    }
    if (requests > 2) leave()
  }
  process.on("SIGINT", count).on("SIGTERM", count)

  const asSigterm = () => void process.kill(process.pid, "SIGTERM")
  process.on("SIGHUP", asSigterm)
  if (process.send !== undefined) {
    if (process.connected) {
      process.once("disconnect", asSigterm)
      // The listener alone would keep a restore alive after its end.
      process.channel?.unref()
    } else asSigterm()
  }
  return { hurried: Deferred.await(hurried), outlives: (end) => void ends.push(end) }
}
