import { Clock, type Duration, Effect } from "effect"

/**
 * The clock of a test whose wall can be set while time passes, as an operator or NTP does it.
 *
 * `step` moves the wall by `ms`; sleeps and the monotonic reading do not change.
 */
export const make = Effect.map(Clock.Clock, (clock) => {
  let offsetMs = 0
  const millis = () => clock.currentTimeMillisUnsafe() + offsetMs
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(offsetMs) * 1_000_000n
  // Every other function of a test clock, above all adjusting it, works through this one too.
  const stepped: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: Effect.sync(() => clock.monotonicTimeNanosUnsafe()),
    sleep: (duration: Duration.Duration) => clock.sleep(duration)
  })
  return {
    clock: stepped,
    step: (ms: number) =>
      Effect.sync(() => {
        offsetMs += ms
      })
  }
})

/** Hours by which tests set a wall clock. */
export const steps = [-5, -2, 2, 5].map((hours) => hours * 3_600_000)
