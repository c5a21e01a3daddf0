import { Cause, Clock, Deferred, Effect, Exit, Metric, Queue, Result } from "effect"
import { Rejected } from "../domain/Rejected.ts"
import { CrashPoint, type Point } from "./CrashPoint.ts"
import * as Deadlines from "./Deadlines.ts"
import { Entropy } from "./Entropy.ts"
import type { Machine, StepContext } from "./Machine.ts"
import * as Patience from "./Patience.ts"

/**
 * The shell of one entity: a mailbox, a pure machine, a commit, and supervision (house, "The actor and its journal").
 *
 * One message at a time: decide, commit, interpret the commands, answer. A defect answers the message that caused it
 * with a fault and drops it; the state is then read again and told `Recovered`. More than five defects in ten seconds
 * end the entity through `lastWill`. Asks are refused at 64 waiting (503), unless the entity has other room for them;
 * tells have their own room of 1,024, and overflow there ends the entity as a fault.
 */
export interface Behavior<State, Input, Effects, Asked, Answer> {
  readonly machine: Machine<State, Input, Effects>
  /**
   * Writes everything of a step in one transaction; gives the answer for whoever asked. Fails only when nothing was
   * written: the state stays, and whoever asked is refused.
   */
  readonly commit: (step: Step<State, Input, Effects>, asked: Asked | null) => Effect.Effect<Answer, Rejected>
  /** After the commit: hands commands over. Never waits for the network. */
  readonly interpret: (step: Step<State, Input, Effects>) => Effect.Effect<void>
  /** The answer when nothing changed. */
  readonly answer: (state: State, asked: Asked) => Answer
  /** After a defect: the state as it was committed (null: it never was), and the input that tells of the recovery. */
  readonly reload: Effect.Effect<State | null>
  readonly recovered: (state: State) => Effect.Effect<Input>
  /** The input that ends the entity cleanly when it cannot be kept alive; null: the actor just stops, its rows are whole. */
  readonly lastWill: ((reason: string) => Input) | null
}

export interface Step<State, Input, Effects> {
  readonly input: Input
  readonly before: State | null
  readonly state: State
  readonly effects: Effects
  readonly context: StepContext
}

export interface Actor<State, Input, Asked, Answer> {
  readonly id: string
  /** The newest committed state; null before the first commit. */
  readonly state: () => State | null
  readonly ask: (input: Input, asked: Asked) => Effect.Effect<Answer, Rejected>
  /** Completes when the input was handled; also when it was late, or the entity has ended. */
  readonly tell: (input: Input) => Effect.Effect<void>
  /** Runs until the entity is settled or gives up; who waits then is answered. */
  readonly run: Effect.Effect<void>
}

interface Message<Input, Asked, Answer> {
  readonly input: Input
  /** Null: a tell. */
  readonly ask: { readonly asked: Asked } | null
  /** Null: nobody waits. */
  readonly done: Deferred.Deferred<Answer | null, Rejected> | null
}

const defaultAskRoom = 64
const tellRoom = 1024
const restartWindowMs = 10_000
const restartLimit = 5

const handled = Metric.counter("actor_inputs_total", { description: "Inputs by what became of them" })
const acceptedInputs = Metric.withAttributes(handled, { outcome: "accepted" })
const unchangedInputs = Metric.withAttributes(handled, { outcome: "unchanged" })
const rejectedInputs = Metric.withAttributes(handled, { outcome: "rejected" })
const faults = Metric.counter("actor_faults_total", { description: "Messages that died of a defect" })

/** An ask that cannot be taken: nothing happened, the caller may try again. */
const busy = Rejected.of("service_unavailable", "the service is busy; try again")
const fault = Rejected.of("internal_error", "an internal error occurred")

/** What all actors of a registry share. */
export interface Surroundings {
  readonly entropy: Entropy["Service"]
  readonly crash: (point: Point) => void
  readonly deadlines: Deadlines.Deadlines
  readonly patience: Patience.Patience
}

/** `outage`: true while nothing can be committed. */
export const surroundings = Effect.fnUntraced(function* (outage: Effect.Effect<boolean>) {
  return {
    entropy: yield* Entropy,
    crash: yield* CrashPoint,
    deadlines: yield* Deadlines.make,
    patience: yield* Patience.make(outage)
  } satisfies Surroundings
})

export const make = Effect.fnUntraced(function* <State, Input, Effects, Asked, Answer>(options: {
  readonly id: string
  readonly initial: State | null
  /** `now` never runs behind this. */
  readonly since: number
  readonly behavior: Behavior<State, Input, Effects, Asked, Answer>
  readonly surroundings: Surroundings
  /** What an ask gets when the entity has ended. */
  readonly ended: Rejected
  /** Asks that may wait. */
  readonly askRoom?: number
}) {
  type Mail = Message<Input, Asked, Answer>
  const { askRoom = defaultAskRoom, behavior, id } = options
  const { crash, deadlines, entropy, patience } = options.surroundings
  const { machine } = behavior
  const mailbox = yield* Queue.unbounded<Mail>()
  let state = options.initial
  let now = options.since
  let asks = 0
  let tells = 0
  let overflowed = false
  let closed = false
  let current: Mail | null = null
  let faultsAt: ReadonlyArray<number> = []

  const offer = (mail: Mail): boolean => !closed && Queue.offerUnsafe(mailbox, mail)

  const ask = (input: Input, asked: Asked): Effect.Effect<Answer, Rejected> =>
    Effect.suspend(() => {
      if (asks >= askRoom) return Effect.fail(busy)
      const done = Deferred.makeUnsafe<Answer | null, Rejected>()
      if (!offer({ input, ask: { asked }, done })) return Effect.fail(options.ended)
      asks++
      return Effect.flatMap(patience.wait(done), (answer) =>
        answer === null ? Effect.fail(options.ended) : Effect.succeed(answer)
      )
    })

  const put = (input: Input, done: Mail["done"]): boolean => {
    if (tells >= tellRoom) {
      overflowed = true
      return false
    }
    if (!offer({ input, ask: null, done })) return false
    tells++
    return true
  }

  const tell = (input: Input): Effect.Effect<void> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<Answer | null, Rejected>()
      return put(input, done) ? Effect.ignore(Deferred.await(done)) : Effect.void
    })

  const watch = (): void => {
    const next = state === null || machine.isSettled(state) ? null : machine.nextDeadline(state)
    deadlines.set(id, next === null ? null : next.at, next === null ? nothing : () => void put(next.input, null))
  }

  const decide = ({ ask, done, input }: Mail) =>
    Effect.gen(function* () {
      now = Math.max(now, yield* Clock.currentTimeMillis)
      const context: StepContext = { now, seed: entropy.hex(16) }
      const before = state
      const outcome = machine.step(before, input, context)
      switch (outcome._tag) {
        case "rejected":
          yield* Metric.update(rejectedInputs, 1)
          if (done !== null) Deferred.doneUnsafe(done, Exit.fail(new Rejected(outcome.rejection)))
          return
        case "unchanged":
          yield* Metric.update(unchangedInputs, 1)
          if (done !== null)
            Deferred.doneUnsafe(
              done,
              Exit.succeed(ask === null || before === null ? null : behavior.answer(before, ask.asked))
            )
          return
        case "accepted": {
          const step = { input, before, state: outcome.state, effects: outcome.effects, context }
          const committed = yield* Effect.result(behavior.commit(step, ask?.asked ?? null))
          if (Result.isFailure(committed)) {
            if (done !== null) Deferred.doneUnsafe(done, Exit.fail(committed.failure))
            return
          }
          state = outcome.state
          yield* behavior.interpret(step)
          crash("after_command")
          yield* Metric.update(acceptedInputs, 1)
          crash("before_answer")
          if (done !== null) Deferred.doneUnsafe(done, Exit.succeed(committed.success))
          return
        }
      }
    })

  /** True while the actor may go on. */
  const handle = (mail: Mail): Effect.Effect<void> =>
    Effect.matchCauseEffect(decide(mail), {
      onSuccess: () => Effect.void,
      onFailure: (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : afterDefect(mail, cause))
    })

  const afterDefect = (mail: Mail, cause: Cause.Cause<unknown>) =>
    Effect.gen(function* () {
      yield* Metric.update(faults, 1)
      yield* Effect.logError("an actor's message died", cause).pipe(Effect.annotateLogs({ actor: id }))
      if (mail.done !== null) Deferred.doneUnsafe(mail.done, Exit.fail(fault))
      faultsAt = [...faultsAt.filter((at) => now - at < restartWindowMs), now]
      if (faultsAt.length > restartLimit) return yield* giveUp("too many restarts")
      yield* Effect.sleep(10 * 2 ** faultsAt.length)
      const recovery = Effect.gen(function* () {
        state = yield* behavior.reload
        if (state === null) return
        yield* decide({ input: yield* behavior.recovered(state), ask: null, done: null })
      })
      yield* Effect.catchCause(recovery, (again) =>
        Cause.hasInterruptsOnly(again) ? Effect.failCause(again) : giveUp("recovery died")
      )
    })

  const giveUp = (reason: string) =>
    Effect.gen(function* () {
      yield* Effect.logError("an actor gives up", reason).pipe(Effect.annotateLogs({ actor: id }))
      faultsAt = []
      if (behavior.lastWill === null) {
        closed = true
        return
      }
      const will = decide({ input: behavior.lastWill(reason), ask: null, done: null })
      yield* Effect.catchCause(will, (cause) =>
        Effect.logError("an actor could not end cleanly; a restart of the service recovers it", cause).pipe(
          Effect.annotateLogs({ actor: id }),
          Effect.andThen(Effect.sync(() => (closed = true)))
        )
      )
    })

  const next = Effect.gen(function* () {
    const mail = yield* Queue.take(mailbox)
    if (mail.ask === null) tells--
    else asks--
    // Who asked was told meanwhile that it cannot be done now (`Patience`): it must not be done later behind their back.
    if (mail.done === null || !Deferred.isDoneUnsafe(mail.done)) {
      current = mail
      yield* handle(mail)
      current = null
    }
    // The first input did not make the entity: there is nothing to keep alive.
    if (state === null) closed = true
    if (overflowed) {
      overflowed = false
      yield* giveUp("the mailbox overflowed")
    }
    watch()
  })

  const over = () => closed || (state !== null && machine.isSettled(state))

  const close = Effect.gen(function* () {
    closed = true
    deadlines.set(id, null, nothing)
    // Interrupted in the middle (the service stops): whether it was committed is for a repetition to find out.
    if (current?.done != null) Deferred.doneUnsafe(current.done, Exit.fail(busy))
    for (const { done } of yield* Queue.clear(mailbox)) if (done !== null) Deferred.doneUnsafe(done, Exit.succeed(null))
  })

  const run = Effect.suspend(() => {
    watch()
    return Effect.whileLoop({ while: () => !over(), body: () => next, step: nothing })
  }).pipe(Effect.ensuring(close), Effect.asVoid)

  return { id, state: () => state, ask, tell, run } satisfies Actor<State, Input, Asked, Answer>
})

const nothing = () => {}
