import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import * as Actor from "../../../src/runtime/actor/Actor.ts"
import * as AskTimeout from "../../../src/runtime/actor/AskTimeout.ts"
import * as WritePermit from "../../../src/runtime/process/WritePermit.ts"
import type { Behavior } from "../../../src/runtime/actor/Behavior.ts"
import * as EntityTime from "../../../src/runtime/actor/EntityTime.ts"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { accepted, type Machine, rejected, unchanged } from "../../../src/runtime/actor/Machine.ts"
import * as ActorEnvironment from "../../../src/runtime/actor/ActorEnvironment.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import * as SteppedClock from "../../support/SteppedClock.ts"

/** The actor is a counter that counts up to ten, refuses zero, ignores negatives, and dies of 666 while it decides. */
type Input = number | "recovered" | "will" | "due"
interface State {
  readonly total: number
  readonly inputs: ReadonlyArray<Input>
}

const machine: Machine<State, Input, string> = {
  step: (state, input, { now }) => {
    const before = state ?? { total: 0, inputs: [] }
    const next = (total: number) => accepted({ total, inputs: [...before.inputs, input] }, `${String(input)}@${now}`)
    if (input === "recovered" || input === "due") return next(before.total)
    if (input === "will") return next(10)
    if (input === 0) return rejected(ApiError.of("conflict", "zero"))
    if (input < 0) return unchanged
    if (input === 666) throw new Error("planted")
    return next(before.total + input)
  },
  nextDeadline: (state) => (state.inputs.includes("due") || state.total < 3 ? null : { at: 60_000, input: "due" }),
  isSettled: (state) => state.total >= 10
}

const place: Actor.Place = { partition: 0, gate: Latch.makeUnsafe(true) }
const ended = ApiError.of("call_already_ended", "ended")

const setUp = Effect.fnUntraced(function* (
  options: {
    readonly commit?: (state: State) => Effect.Effect<void, ApiError>
    /** Runs after the writing. */
    readonly written?: (state: State) => Effect.Effect<void>
    readonly time?: EntityTime.EntityTime
    readonly prepare?: Behavior<string, State, Input, string, string, string>["prepare"]
  } = {}
) {
  const log: Array<string> = []
  let stored: State | null = null
  const surroundings = yield* ActorEnvironment.make(Effect.succeed(false))
  const actor = yield* Actor.make<string, State, Input, string, string, string>({
    id: "counter",
    place,
    initial: null,
    since: 0,
    time: options.time ?? EntityTime.wall,
    surroundings,
    ended,
    behavior: {
      machine,
      commit: (step, asked, wanted) =>
        Effect.gen(function* () {
          yield* options.commit?.(step.state) ?? Effect.void
          if (!wanted()) return yield* AskTimeout.unavailable
          stored = step.state
          log.push(`commit ${step.effects}`)
          yield* options.written?.(step.state) ?? Effect.void
          return `${asked ?? "nobody"} ${step.state.total}`
        }),
      interpret: (step) => Effect.sync(() => void log.push(`send ${step.effects}`)),
      answer: (state, asked) => `${asked} still ${state.total}`,
      reload: () => Effect.sync(() => stored),
      recovered: () => Effect.succeed("recovered"),
      ready: null,
      prepare: options.prepare ?? null,
      lastWill: () => "will",
      abandon: (state) => Effect.sync(() => void log.push(`abandon ${state.total}`))
    }
  })
  const fiber = yield* Effect.forkScoped(actor.run)
  return { actor, log, fiber }
})

/** An entity whose callers are not named (`asked` is null), as an account's are. */
const anonymous = Effect.fnUntraced(function* () {
  const actor = yield* Actor.make<string, State, Input, string, string | null, number>({
    id: "anonymous",
    place,
    initial: { total: 0, inputs: [] },
    since: 0,
    time: EntityTime.wall,
    surroundings: yield* ActorEnvironment.make(Effect.succeed(false)),
    ended,
    behavior: {
      machine: { ...machine, isSettled: () => false },
      commit: (step) => Effect.succeed(step.state.total),
      interpret: () => Effect.void,
      answer: (state) => state.total,
      reload: () => Effect.succeed(null),
      recovered: () => Effect.succeed("recovered"),
      ready: null,
      prepare: null,
      lastWill: () => "will"
    }
  })
  yield* Effect.forkScoped(actor.run)
  return actor
})

const test = <A>(body: Effect.Effect<A, unknown>) => Effect.orDie(body)
const provide = Effect.provide(Entropy.layerFixed("actor test"))

describe("Actor", () => {
  it.effect("commits, then sends, then answers", () =>
    test(
      Effect.gen(function* () {
        const { actor, log } = yield* setUp()
        const answer = yield* actor.ask(1, "me")
        expect(answer).toBe("me 1")
        expect(log).toStrictEqual(["commit 1@0", "send 1@0"])
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("what has to be asked before an input is decided first, and may refuse it", () =>
    test(
      Effect.gen(function* () {
        const refusal = ApiError.of("conflict", "not now")
        const { actor, log } = yield* setUp({
          prepare: (_, input) =>
            input === 2 ? Effect.succeed({ first: [1], input: 3 }) : input === 3 ? Effect.fail(refusal) : null
        })
        yield* actor.ask(1, "me")
        expect(yield* actor.ask(2, "me")).toBe("me 5")
        expect(yield* Effect.flip(actor.ask(3, "me"))).toBe(refusal)
        expect(yield* actor.ask(1, "me")).toBe("me 6")
        expect(log.filter((line) => line.startsWith("commit"))).toHaveLength(4)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("a rejection reaches the asker and leaves the actor alive; nothing is committed for it", () =>
    test(
      Effect.gen(function* () {
        const { actor, log } = yield* setUp()
        yield* actor.ask(1, "me")
        const refused = yield* Effect.flip(actor.ask(0, "me"))
        expect(refused.code).toBe("conflict")
        expect(yield* actor.ask(-5, "me")).toBe("me still 1")
        expect(yield* actor.ask(2, "me")).toBe("me 3")
        expect(log.length).toBe(4)
      }).pipe(Effect.scoped, provide)
    )
  )

  // An ask without a named caller was once taken for a tell. Its place was never given back, and the 65th ask was
  // refused.
  it.effect(
    "an ask by nobody in particular is an ask: it is answered when nothing changes, and gives its place back",
    () =>
      test(
        Effect.gen(function* () {
          const actor = yield* anonymous()
          expect(yield* actor.ask(-5, null)).toBe(0)
          for (let count = 1; count <= 200; count++) expect(yield* actor.ask(1, null)).toBe(count)
        }).pipe(Effect.scoped, provide)
      )
  )

  it.effect("a settled actor stops; who waits then is told that it has ended, nobody waits for ever", () =>
    test(
      Effect.gen(function* () {
        const gate = Latch.makeUnsafe(true)
        const { actor, fiber } = yield* setUp({ commit: () => Effect.asVoid(gate.await) })
        yield* actor.ask(1, "me")
        gate.closeUnsafe()
        const last = yield* Effect.forkChild(actor.ask(9, "me"))
        const late = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.exit(actor.ask(1, "late"))))
        const told = yield* Effect.forkChild(actor.tell(1))
        yield* TestClock.adjust(1)
        gate.openUnsafe()
        expect(yield* Fiber.join(last)).toBe("me 10")
        for (const each of late) expect(Exit.isFailure(yield* Fiber.join(each))).toBe(true)
        yield* Fiber.join(told)
        yield* Fiber.join(fiber)
        expect((yield* Effect.flip(actor.ask(1, "me"))).code).toBe("call_already_ended")
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect(
    "a message that kills is answered with a fault and dropped; the actor recovers from what was committed",
    () =>
      test(
        Effect.gen(function* () {
          const { actor, log } = yield* setUp()
          yield* actor.ask(2, "me")
          const dying = yield* Effect.forkChild(Effect.flip(actor.ask(666, "me")))
          yield* TestClock.adjust("1 second")
          expect((yield* Fiber.join(dying)).code).toBe("internal_error")
          expect(log.some((line) => line.startsWith("commit recovered"))).toBe(true)
          expect(yield* actor.ask(1, "me")).toBe("me 3")
        }).pipe(Effect.scoped, provide)
      )
  )

  it.effect("a commit that says that nothing was written refuses the asker and changes nothing", () =>
    test(
      Effect.gen(function* () {
        let away = false
        const { actor, log } = yield* setUp({
          commit: () => (away ? Effect.fail(ApiError.of("service_unavailable", "away")) : Effect.void)
        })
        yield* actor.ask(1, "me")
        away = true
        expect((yield* Effect.flip(actor.ask(2, "me"))).code).toBe("service_unavailable")
        expect(actor.state()?.total).toBe(1)
        away = false
        expect(yield* actor.ask(2, "me")).toBe("me 3")
        expect(log.some((line) => line.includes("recovered"))).toBe(false)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("a caller that lost the right to write while it waited is refused, and nothing is committed for it", () =>
    test(
      Effect.gen(function* () {
        const turn = yield* Latch.make(false)
        const { actor, log } = yield* setUp({ commit: () => Latch.await(turn) })
        const lost = ApiError.of("invalid_credentials", "the key was revoked")
        let refusal: ApiError | null = null
        const permit = () => ({ check: Effect.sync(() => refusal), isUsed: false })
        const [first, second, begun] = [permit(), permit(), { ...permit(), isUsed: true }]
        const asks = (by: WritePermit.Permit, amount: number) =>
          Effect.forkChild(Effect.provideService(actor.ask(amount, "me"), WritePermit.WritePermit, by), {
            startImmediately: true
          })
        const early = yield* asks(first, 1)
        yield* Effect.yieldNow
        const late = yield* asks(second, 2)
        const going = yield* asks(begun, 3)
        refusal = lost
        yield* Latch.open(turn)
        expect(yield* Fiber.join(early)).toBe("me 1")
        expect(yield* Effect.flip(Fiber.join(late))).toBe(lost)
        expect(yield* Fiber.join(going)).toBe("me 4")
        expect([first.isUsed, second.isUsed]).toStrictEqual([true, false])
        expect(actor.state()?.inputs).toStrictEqual([1, 3])
        expect(log.filter((line) => line.startsWith("commit")).length).toBe(2)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("too many defects in ten seconds end the entity cleanly", () =>
    test(
      Effect.gen(function* () {
        const { actor, fiber } = yield* setUp()
        yield* actor.ask(1, "me")
        const dying = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () =>
          Effect.forkChild(Effect.exit(actor.ask(666, "me")))
        )
        yield* TestClock.adjust("9 seconds")
        for (const each of dying) yield* Fiber.join(each)
        yield* Fiber.join(fiber)
        expect(actor.state()?.total).toBe(10)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("what a recovery has written is not written over when it dies then: the end follows from it", () =>
    test(
      Effect.gen(function* () {
        const { actor, fiber } = yield* setUp({
          written: ({ inputs }) => (inputs.at(-1) === "recovered" ? Effect.die(new Error("planted")) : Effect.void)
        })
        yield* actor.ask(1, "me")
        const dying = yield* Effect.forkChild(Effect.exit(actor.ask(666, "me")))
        yield* TestClock.adjust("9 seconds")
        yield* Fiber.join(dying)
        yield* Fiber.join(fiber)
        expect(actor.state()?.inputs).toStrictEqual([1, "recovered", "will"])
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect.each(SteppedClock.steps)("a deadline comes after what has passed, though the wall is set by %i ms", (ms) =>
    test(
      Effect.gen(function* () {
        const { clock, step } = yield* SteppedClock.make
        yield* Effect.gen(function* () {
          const time = EntityTime.start(clock, 1_000_000)
          const { actor, log } = yield* setUp({ time })
          yield* actor.ask(3, "me")
          yield* step(ms)
          yield* TestClock.adjust(59_999)
          expect(actor.state()?.inputs).toStrictEqual([3])
          yield* TestClock.adjust(1)
          expect(actor.state()?.inputs).toStrictEqual([3, "due"])
          expect(log.slice(-1)).toStrictEqual(["send due@60000"])
        }).pipe(Effect.provideService(Clock.Clock, clock))
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("a deadline is told when it is due, once", () =>
    test(
      Effect.gen(function* () {
        const { actor } = yield* setUp()
        yield* actor.ask(3, "me")
        yield* TestClock.adjust("59 seconds")
        expect(actor.state()?.inputs).toStrictEqual([3])
        yield* TestClock.adjust("10 seconds")
        expect(actor.state()?.inputs).toStrictEqual([3, "due"])
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("asks beyond sixty-four waiting are refused with 503; carrier events have their own room", () =>
    test(
      Effect.gen(function* () {
        const gate = Latch.makeUnsafe(true)
        const { actor } = yield* setUp({ commit: () => Effect.asVoid(gate.await) })
        yield* actor.ask(1, "me")
        gate.closeUnsafe()
        const asks = yield* Effect.forEach(Array.from({ length: 70 }), () =>
          Effect.forkChild(Effect.exit(actor.ask(-1, "me")))
        )
        const first = yield* Effect.forkChild(actor.tell(1))
        yield* TestClock.adjust(1)
        const second = yield* Effect.forkChild(actor.tell(1))
        yield* TestClock.adjust(1)
        gate.openUnsafe()
        const exits = yield* Effect.forEach(asks, Fiber.join)
        expect(exits.filter(Exit.isFailure).length).toBeGreaterThanOrEqual(5)
        yield* Fiber.join(first)
        yield* Fiber.join(second)
        expect(actor.state()?.total).toBe(3)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("interrupting the actor answers the one in flight and the queued", () =>
    test(
      Effect.gen(function* () {
        const never = yield* Deferred.make<void>()
        let block = false
        const { actor, fiber } = yield* setUp({ commit: () => (block ? Deferred.await(never) : Effect.void) })
        yield* actor.ask(1, "me")
        block = true
        const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.exit(actor.ask(1, "me"))))
        yield* TestClock.adjust(1)
        yield* Fiber.interrupt(fiber)
        for (const each of waiting) expect(Exit.isFailure(yield* Fiber.join(each))).toBe(true)
      }).pipe(Effect.scoped, provide)
    )
  )

  it.effect("an entity that cannot even commit its end lets go of what it holds outside", () =>
    test(
      Effect.gen(function* () {
        let refuses = false
        const { actor, log } = yield* setUp({ commit: () => (refuses ? Effect.die("too large") : Effect.void) })
        yield* actor.ask(1, "me")
        refuses = true
        const asking = yield* Effect.forkChild(Effect.exit(actor.ask(1, "me")))
        yield* TestClock.adjust("10 seconds")
        expect(Exit.isFailure(yield* Fiber.join(asking))).toBe(true)
        expect(log.filter((line) => line.startsWith("abandon"))).toStrictEqual(["abandon 1"])
      }).pipe(Effect.scoped, provide)
    )
  )
})
