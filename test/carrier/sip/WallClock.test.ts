/**
 * The wall clock is set while messages are repeated: timers of SIP measure elapsed time (src/runtime/README.md#time).
 */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as SteppedClock from "../../support/SteppedClock.ts"
import * as Rig from "./Rig.ts"

const twoMinutes = 120_000

/** The number of messages sent in each of the next seconds; the wall clock is set by `ms` before each. */
const perSecond = Effect.fnUntraced(function* (rig: Rig.Rig, seconds: number, set: Effect.Effect<void>) {
  const counts: Array<number> = []
  for (let second = 0; second < seconds; second++) {
    yield* set
    yield* Rig.pass(1_000)
    counts.push(rig.sent().length)
  }
  return counts
})

describe.each([-twoMinutes, twoMinutes, ...SteppedClock.steps])(
  "when the wall clock is set by %i ms every second",
  (ms) => {
    const inStep = <A, E, R>(act: (set: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(SteppedClock.make, ({ clock, step }) => Effect.provideService(act(step(ms)), Clock.Clock, clock))

    it.effect("an INVITE is repeated and given up in its time", () =>
      inStep((set) =>
        Effect.gen(function* () {
          const rig = yield* Rig.make()
          yield* rig.command(Rig.dial)
          // Timer A doubles from 500 ms on.
          expect(yield* perSecond(rig, 8, set)).toEqual([2, 1, 0, 1, 0, 0, 0, 1])
          yield* perSecond(rig, 23, set)
          expect(rig.told()).toEqual([])
          yield* perSecond(rig, 1, set)
          expect(Rig.words(rig.told())).toEqual(["ended timer - network"])
        })
      )
    )

    it.effect("a BYE is repeated, and its leg ends within eight seconds", () =>
      inStep((set) =>
        Effect.gen(function* () {
          const rig = yield* Rig.make()
          yield* rig.command(Rig.dial)
          const invite = Rig.requestOf(rig.sent(), "INVITE")
          yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
          yield* rig.command(Rig.hangup)
          rig.sent()
          expect(yield* perSecond(rig, 7, set)).toEqual([1, 1, 0, 1, 0, 0, 0])
          expect(Rig.words(rig.told())).toEqual(["answered", "leaving hangup - near"])
          yield* perSecond(rig, 1, set)
          expect(Rig.words(rig.told())).toEqual(["ended hangup - near"])
          // Timer E repeats every four seconds until 64*T1, Timer F.
          expect(yield* perSecond(rig, 24, set)).toEqual(
            Array.from({ length: 24 }, (_, second) => (second % 4 === 3 ? 1 : 0))
          )
          expect(yield* rig.stats).toMatchObject({ legs: 0, dialogs: 0 })
        })
      )
    )

    it.effect("a 200 is repeated until its ACK comes, and the call is ended when none does", () =>
      inStep((set) =>
        Effect.gen(function* () {
          const rig = yield* Rig.make()
          yield* rig.deliver(Rig.invite())
          yield* rig.command({ ...Rig.ofOffered(rig), type: "answer" })
          rig.sent()
          expect(yield* perSecond(rig, 8, set)).toEqual([1, 1, 0, 1, 0, 0, 0, 1])
          yield* perSecond(rig, 23, set)
          yield* set
          yield* Rig.pass(1_000)
          expect(Rig.names(rig.sent())).toContain("BYE")
        })
      )
    )
  }
)
