/**
 * The process stood still for longer than any timer of SIP: messages of peers have come meanwhile, and wait in the
 * sockets when the overdue timers wake.
 */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as Rig from "./Rig.ts"

const standstillMs = 60_000

/** A clock whose monotonic reading jumps, as it does for a process that was stopped: timers wake late. */
const stopping = Effect.map(Clock.Clock, (clock) => {
  let stoodMs = 0
  const nanos = () => clock.monotonicTimeNanosUnsafe() + BigInt(stoodMs) * 1_000_000n
  const stopped: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos)
  })
  return { clock: stopped, stand: (ms: number) => Effect.sync(() => void (stoodMs += ms)) }
})

const inStandstill = <A, E, R>(act: (stand: (ms: number) => Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(stopping, ({ clock, stand }) => Effect.provideService(act(stand), Clock.Clock, clock))

describe("after a standstill", () => {
  it.effect("a dial is answered by what came meanwhile", () =>
    inStandstill((stand) =>
      Effect.gen(function* () {
        const rig = yield* Rig.make()
        yield* rig.command(Rig.dial)
        const invite = Rig.requestOf(rig.sent(), "INVITE")
        yield* Rig.pass(100)
        yield* stand(standstillMs)
        // The timer wakes; the answer is read after it.
        yield* Rig.pass(410)
        yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
        yield* Rig.pass(2_000)
        expect(Rig.words(rig.told())).toEqual(["answered"])
      })
    )
  )

  it.effect("a dial that has no answer is given up soon", () =>
    inStandstill((stand) =>
      Effect.gen(function* () {
        const rig = yield* Rig.make()
        yield* rig.command(Rig.dial)
        yield* Rig.pass(100)
        yield* stand(standstillMs)
        yield* Rig.pass(1_000)
        expect(Rig.words(rig.told())).toEqual(["ended timer - network"])
      })
    )
  )
})
