import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import * as AskedThread from "../../../src/runtime/process/AskedThread.ts"

type Listener = (given?: unknown) => void
interface Sent {
  readonly id: number
  readonly question: string
}

/** A thread whose messages and death come from the test. */
class FakeThread {
  readonly sent: Array<Sent> = []
  readonly listeners = new Map<string, Listener>()
  isHeld = true
  postMessage = (message: unknown): void => void this.sent.push(message as Sent)
  on = (event: string, listener: Listener): void => void this.listeners.set(event, listener)
  unref = (): void => {
    this.isHeld = false
  }
  terminate = (): Promise<void> => {
    this.tell("exit")
    return Promise.resolve()
  }
  tell = (event: string, given?: unknown): void => this.listeners.get(event)?.(given)
  answer = (nth: number, answer: unknown): void =>
    this.tell("message", { id: this.sent[nth]?.id, type: "answer", answer })
}

const world = () => {
  const threads: Array<FakeThread> = []
  const asked = AskedThread.make<string, string>(() => {
    const thread = new FakeThread()
    threads.push(thread)
    return thread
  })
  /** The question has been sent when this returns. */
  const ask = (question: string) =>
    Effect.tap(Effect.forkChild(Effect.exit(asked.ask(question))), () => Effect.yieldNow)
  const thread = (nth: number) => threads[nth] ?? new FakeThread()
  return { asked, ask, thread, threads }
}

describe("A thread that is asked", () => {
  it.effect("is begun for the first question, does not hold the process, and answers each by its own", () =>
    Effect.gen(function* () {
      const { ask, asked, thread, threads } = world()
      expect(threads).toHaveLength(0)
      const [one, two] = [yield* ask("one"), yield* ask("two")]
      expect([threads.length, thread(0).isHeld, asked.size()]).toEqual([1, false, 2])
      thread(0).answer(1, "2")
      thread(0).answer(0, "1")
      expect([yield* Fiber.join(one), yield* Fiber.join(two)]).toEqual([Exit.succeed("1"), Exit.succeed("2")])
      expect(asked.size()).toBe(0)
    })
  )

  it.effect("that dies fails all it had, says why, and the next question gets a new one", () =>
    Effect.gen(function* () {
      const { ask, asked, thread, threads } = world()
      const lost = [yield* ask("poison"), yield* ask("behind it")]
      thread(0).tell("error", new Error("out of memory"))
      thread(0).tell("exit")
      for (const fiber of lost) {
        const died = yield* Effect.flip(Effect.flatten(Fiber.join(fiber)))
        expect([died._tag, died.message]).toEqual(["ThreadDied", "the thread died: Error: out of memory"])
      }
      expect(asked.size()).toBe(0)
      const next = yield* ask("next")
      thread(1).answer(0, "yes")
      expect(yield* Fiber.join(next)).toEqual(Exit.succeed("yes"))
      expect(threads).toHaveLength(2)
    })
  )

  it.effect("whoever hears of its death may ask again at once, and is not lost with it", () =>
    Effect.gen(function* () {
      const { asked, thread } = world()
      const again = yield* Effect.forkChild(
        Effect.catchTag(asked.ask("poison"), "ThreadDied", () => asked.ask("again"))
      )
      yield* Effect.yieldNow
      thread(0).tell("exit")
      yield* Effect.yieldNow
      thread(1).answer(0, "yes")
      expect(yield* Fiber.join(again)).toBe("yes")
    })
  )

  it.effect("a fault in one answer is a defect of that question alone", () =>
    Effect.gen(function* () {
      const { ask, thread, threads } = world()
      const [faulty, other] = [yield* ask("faulty"), yield* ask("other")]
      thread(0).tell("message", { id: thread(0).sent[0]?.id, type: "fault", fault: "a bug" })
      thread(0).answer(1, "yes")
      expect(yield* Fiber.join(faulty)).toEqual(Exit.die("a bug"))
      expect(yield* Fiber.join(other)).toEqual(Exit.succeed("yes"))
      expect(threads).toHaveLength(1)
    })
  )

  it.effect("nobody waits any more for what was interrupted, and its late answer is nobody's", () =>
    Effect.gen(function* () {
      const { ask, asked, thread } = world()
      const gone = yield* ask("gone")
      yield* Fiber.interrupt(gone)
      expect(asked.size()).toBe(0)
      thread(0).answer(0, "late")
      const next = yield* ask("next")
      thread(0).answer(1, "yes")
      expect(yield* Fiber.join(next)).toEqual(Exit.succeed("yes"))
    })
  )
})

describe("The program of such a thread", () => {
  it("answers one question after the other, also where one takes its time, and goes on after a fault", async () => {
    const told: Array<unknown> = []
    let hear: Listener = () => undefined
    const heldBack: Array<() => void> = []
    AskedThread.serve<string>(
      { on: (_, listener) => (hear = listener), postMessage: (message) => void told.push(message) },
      (question: string) => {
        if (question === "faulty") throw new Error("a bug")
        if (question !== "slow") return `${question}!`
        return new Promise((resolve) => void heldBack.push(() => resolve("slow!")))
      }
    )
    for (const [id, question] of ["slow", "faulty", "quick"].entries()) hear({ id, question })
    await new Promise(setImmediate)
    expect(told).toEqual([])
    heldBack[0]?.()
    await new Promise(setImmediate)
    expect(told).toEqual([
      { id: 0, type: "answer", answer: "slow!" },
      { id: 1, type: "fault", fault: new Error("a bug") },
      { id: 2, type: "answer", answer: "quick!" }
    ])
  })
})
