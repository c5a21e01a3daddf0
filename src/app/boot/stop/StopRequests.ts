import { Deferred, Effect } from "effect"
import * as StopMachine from "./StopMachine.ts"

/** The requests to stop this process and its faults, and what has to be ended when it must exit quickly. */
interface StopRequests {
  /** Completes when live calls are no longer waited for. */
  readonly hurried: Effect.Effect<void>
  /**
   * Registers a function that ends something that would outlive this process. It is called only when the process exits
   * without closing its scopes, and must not take longer than a few seconds.
   */
  readonly outlives: (end: () => Promise<void>) => void
  /** Reports that this process cannot continue: its calls get their BYE now, and it leaves within a bound. */
  readonly failed: () => void
  readonly hasFailed: () => boolean
  /** Leaves after this time, for an end that does not come. */
  readonly leaveAfter: (ms: number) => void
  /** Registers what runs at the first request to stop. */
  readonly onStop: (then: () => void) => void
  /** Registers what takes an error that nothing caught. Without it, the process says so and leaves. */
  readonly onUncaught: (then: (error: unknown) => void) => void
}

/** How long the functions of `outlives` may take together. */
const endsMs = 8_000

/** The number of errors that are reported when nothing caught them, because one may repeat with every packet. */
const reportedErrors = 20

const asSupervisor = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const

/**
 * Counts the requests to stop (signals, and the end of the launcher that started this process) and takes the errors
 * that nothing caught, which all lead to the same way out (`StopMachine`).
 *
 * `interrupt` stops the service in order. When that takes too long, the process ends everything that would outlive it
 * and exits; the next start then recovers as after a kill -9.
 */
export const listen = (interrupt: () => void): StopRequests => {
  const hurried = Deferred.makeUnsafe<void>()
  const ends: Array<() => Promise<void>> = []
  let state = StopMachine.initial
  let stopped: () => void = () => undefined
  let uncaught: ((error: unknown) => void) | null = null
  let errors = 0

  const take = (input: StopMachine.Input): void => {
    const [next, acts] = StopMachine.step(state, input)
    state = next
    for (const act of acts) perform(act)
  }
  const perform = (act: StopMachine.Act): void => {
    switch (act.type) {
      case "stop":
        stopped()
        return state.isFaulty ? undefined : interrupt()
      case "hurry":
        return void Deferred.doneUnsafe(hurried, Effect.void)
      case "leaveAfter":
        return leaveAfter(act.ms)
      case "leave":
        return leave(act.code)
    }
  }
  const leaveAfter = (ms: number): void => void setTimeout(() => take({ type: "overdue" }), ms).unref()
  const leave = (code: number): void => {
    setTimeout(() => process.exit(code), endsMs).unref()
    // The functions run in the reverse order of their registration.
    const all = ends.reduceRight((before, end) => before.then(end, end), Promise.resolve())
    void all.finally(() => process.exit(code))
  }

  const signalled = (by: "keyboard" | "supervisor") => () => take({ type: "signalled", by, at: performance.now() })
  process.on("SIGINT", signalled("keyboard"))
  for (const signal of asSupervisor) process.on(signal, signalled("supervisor"))
  // The banner and the last line of a failed start are not worth the calls when their reader has gone.
  process.stdout.on("error", () => undefined)
  process.stderr.on("error", () => undefined)

  process.on("uncaughtException", (error) => {
    if (++errors > reportedErrors) return
    if (uncaught !== null) return uncaught(error)
    process.stderr.write(`trunkline: ${error.stack ?? error.message}\n`)
    take({ type: "failed" })
    take({ type: "overdue" })
  })

  if (process.send !== undefined) {
    if (process.connected) {
      process.once("disconnect", signalled("supervisor"))
      // The listener alone would keep a restore alive after its end.
      process.channel?.unref()
    } else setImmediate(signalled("supervisor"))
  }
  return {
    hurried: Deferred.await(hurried),
    outlives: (end) => void ends.push(end),
    failed: () => take({ type: "failed" }),
    hasFailed: () => state.isFaulty,
    leaveAfter,
    onStop: (then) => void (stopped = then),
    onUncaught: (then) => void (uncaught = then)
  }
}
