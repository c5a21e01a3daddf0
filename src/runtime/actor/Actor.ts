import { Cause, Deferred, Effect, Exit, Fiber, Latch, Metric, Result } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import type { Behavior, Step } from "./Behavior.ts"
import * as EntityTime from "./EntityTime.ts"
import type { StepContext } from "./Machine.ts"
import * as Mailbox from "./Mailbox.ts"
import type { ActorEnvironment } from "./ActorEnvironment.ts"
import * as WritePermit from "../process/WritePermit.ts"

/** The partition of the journal in which an actor lives. While the gate is closed, no message is decided there. */
export interface Place {
  readonly partition: number
  readonly gate: Latch.Latch
}

export interface Actor<Id extends string, State, Input, Asked, Answer> {
  readonly id: Id
  readonly place: Place
  readonly time: EntityTime.EntityTime
  /** The newest committed state; null before the first commit. */
  readonly state: () => State | null
  readonly ask: (input: Input, asked: Asked) => Effect.Effect<Answer, ApiError>
  /** Completes when the input has been handled, or never will be. */
  readonly tell: (input: Input) => Effect.Effect<Handled>
  /** Like `tell`, but returns without waiting. */
  readonly post: (input: Input) => void
  /** Reads the state again when its turn among the messages comes; completes when that is done. */
  readonly reread: () => Effect.Effect<void>
  /**
   * Stops the actor if it is idle: no message waits or is being handled, and none came since the last call. True: the
   * actor takes no more messages, and its id may be loaded again.
   */
  readonly retire: () => boolean
  /** Runs until the entity is settled, retires or gives up. Every waiting caller then gets an answer. */
  readonly run: Effect.Effect<void>
}

/**
 * The outcome of a tell. `done`: the tell and its consequences are durable, or it changed nothing; `ended`: the entity
 * needs no more messages; `fault`: nothing was written, and the tell may be repeated.
 */
export type Handled = "done" | "ended" | "fault"

const defaultAskCapacity = 64
const restartWindowMs = 10_000
const restartLimit = 5

const handled = Metric.counter("actor_inputs_total", { description: "Inputs by what became of them" })
const acceptedInputs = Metric.withAttributes(handled, { outcome: "accepted" })
const unchangedInputs = Metric.withAttributes(handled, { outcome: "unchanged" })
const rejectedInputs = Metric.withAttributes(handled, { outcome: "rejected" })
const faults = Metric.counter("actor_faults_total", { description: "Messages that died of a defect" })

/** The answer to an ask when the mailbox is full: nothing happened, and the caller may try again. */
const busy = ApiError.of("service_unavailable", "the service is busy; try again")
const fault = ApiError.of("internal_error", "an internal error occurred")
/** The entity lives, but no longer in this actor: the caller may load it again. */
export const gone = ApiError.of("service_unavailable", "the service is busy; try again")

/**
 * The shell of one entity: a mailbox, a pure machine, a commit, and supervision (src/runtime/README.md#supervision).
 *
 * The actor takes one message at a time: it decides, commits, interprets the commands and answers. After a defect it
 * answers the message that caused it with a fault, drops that message, reads the state again and tells it `Recovered`.
 * After more than five defects in ten seconds it ends the entity through `lastWill`. At most 64 asks may wait, or
 * `askRoom`; the next one gets 503. At most 1,024 tells may wait; one more ends the entity as a fault.
 */
export const make = Effect.fnUntraced(function* <
  Id extends string,
  State,
  Input extends {},
  Effects,
  Asked,
  Answer
>(options: {
  readonly id: Id
  readonly place: Place
  readonly initial: State | null
  /** The lower bound of `now`. */
  readonly since: number
  readonly time: EntityTime.EntityTime
  readonly behavior: Behavior<Id, State, Input, Effects, Asked, Answer>
  readonly surroundings: ActorEnvironment
  /** The answer to an ask when the entity has ended. */
  readonly ended: ApiError
  readonly askCapacity?: number
}) {
  type Mail = Mailbox.Mail<Input, Asked, Answer>
  const { behavior, id, place, time } = options
  const { askTimeout, clock, crash, deadlines, entropy, fork } = options.surroundings
  const { machine } = behavior
  const mailbox = yield* Mailbox.make<Mail>(options.askCapacity ?? defaultAskCapacity)
  let state = options.initial
  let now = options.since
  let overflowed = false
  /** The answer to every ask from now on; null: the actor takes messages. */
  let closed: ApiError | null = null
  let current: Mail | null = null
  /** The waiting caller whose step the database may already have. */
  let underway: Mail["done"] = null
  /** A message has come since the last call of `retire`. */
  let touched = true
  let faultsAt: ReadonlyArray<number> = []
  /** The deadline that is due, while it waits for events that may have happened before it. */
  let holding: Fiber.Fiber<void> | null = null

  const ask = (input: Input, asked: Asked): Effect.Effect<Answer, ApiError> =>
    Effect.flatMap(WritePermit.WritePermit, (permit) => {
      if (closed !== null) return Effect.fail(closed)
      const done = Deferred.makeUnsafe<Answer | null, ApiError>()
      const isTaken = Latch.isOpen(place.gate) && Mailbox.put(mailbox, { input, ask: { asked, permit }, done })
      if (!isTaken) return Effect.fail(busy)
      touched = true
      return Effect.flatMap(askTimeout.wait(done), (answer) =>
        answer === null ? Effect.fail(closed ?? options.ended) : Effect.succeed(answer)
      )
    })

  const put = (input: Input | null, done: Mail["done"]): boolean => {
    if (closed !== null) return false
    if (!Mailbox.put(mailbox, { input, ask: null, done })) {
      overflowed = true
      return false
    }
    touched = true
    return true
  }

  const putAndWait = (input: Input | null): Effect.Effect<Handled> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<Answer | null, ApiError>()
      if (!put(input, done)) return Effect.succeed(settled() ? "ended" : "fault")
      return Effect.match(Deferred.await(done), { onFailure: () => "fault", onSuccess: () => "done" })
    })

  const watch = (): void => {
    const next = state === null || over() || holding !== null ? null : machine.nextDeadline(state)
    // The key is the mailbox and not the id: an actor that stops late must not take the deadline of its successor.
    deadlines.set(
      mailbox,
      next === null ? null : EntityTime.toMonotonic(time, clock, next.at),
      next === null ? nothing : () => fall(next.input)
    )
  }

  const fall = (due: Input): void => {
    if (behavior.ready === null || state === null) return void put(due, null)
    let ready = due
    holding = fork(
      Effect.map(behavior.ready(state, due), (input) => {
        ready = input
      })
    )
    holding.addObserver(() => {
      holding = null
      put(ready, null)
    })
  }

  const decide = (input: Input, ask: Mail["ask"], done: Mail["done"]): Effect.Effect<void> =>
    Effect.suspend(() => {
      const asking =
        state === null || behavior.prepare === null
          ? null
          : behavior.prepare(state, input, Math.max(now, EntityTime.now(time, clock)))
      return asking === null
        ? apply(input, ask, done)
        : Effect.matchEffect(asking, {
            onFailure: (refused) =>
              Effect.sync(() => {
                if (done !== null) Deferred.doneUnsafe(done, Exit.fail(refused))
              }),
            onSuccess: (prepared) =>
              Effect.andThen(
                Effect.forEach(prepared.first, (each) => apply(each, null, null), { discard: true }),
                apply(prepared.input, ask, done)
              )
          })
    })

  const apply = (input: Input, ask: Mail["ask"], done: Mail["done"]): Effect.Effect<void> =>
    Effect.suspend(() => {
      now = Math.max(now, EntityTime.now(time, clock))
      const context: StepContext = { now, seed: entropy.hex(16) }
      const before = state
      const outcome = machine.step(before, input, context)
      switch (outcome.type) {
        case "rejected":
          return Effect.map(Metric.update(rejectedInputs, 1), () => {
            if (done !== null) Deferred.doneUnsafe(done, Exit.fail(outcome.error))
          })
        case "unchanged":
          return Effect.map(Metric.update(unchangedInputs, 1), () => {
            if (done !== null)
              Deferred.doneUnsafe(
                done,
                Exit.succeed(ask === null || before === null ? null : behavior.answer(before, ask.asked))
              )
          })
        case "accepted": {
          const step = { input, before, state: outcome.state, effects: outcome.effects, context }
          // The fork is detached because a committed step is carried out and answered even when the actor is stopped
          // meanwhile.
          return Effect.flatMap(Effect.forkDetach(carryOut(step, ask, done), { startImmediately: true }), Fiber.join)
        }
      }
    })

  const carryOut = (step: Step<State, Input, Effects>, ask: Mail["ask"], done: Mail["done"]) =>
    Effect.gen(function* () {
      const permit = ask?.permit ?? null
      const refused = permit === null ? null : yield* WritePermit.refusal(permit)
      const wanted = () => {
        if (ask === null || done === null) return true
        if (refused !== null || !askTimeout.claim(done)) return false
        underway = done
        return true
      }
      const committed = yield* Effect.result(behavior.commit(step, ask?.asked ?? null, wanted))
      if (Result.isFailure(committed)) {
        if (done !== null) Deferred.doneUnsafe(done, Exit.fail(refused ?? committed.failure))
        return
      }
      if (underway === done) WritePermit.used(permit)
      state = step.state
      yield* behavior.interpret(step)
      crash("after_command")
      yield* Metric.update(acceptedInputs, 1)
      crash("before_answer")
      if (done !== null) Deferred.doneUnsafe(done, Exit.succeed(committed.success))
    }).pipe(
      // A defect is answered by the actor itself, unless the actor was stopped.
      Effect.onError((cause) =>
        Effect.sync(() => {
          if (closed !== null && done !== null) Deferred.doneUnsafe(done, Exit.failCause(cause))
        })
      )
    )

  const read = Effect.map(behavior.reload(id), (rows) => {
    state = rows
  })

  const handle = (mail: Mail): Effect.Effect<void> =>
    Effect.matchCauseEffect(mail.input === null ? reread(mail.done) : decide(mail.input, mail.ask, mail.done), {
      onSuccess: () => Effect.void,
      onFailure: (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : afterDefect(mail, cause))
    })

  /**
   * A state that cannot be read again now may be out of date. An entity without a last will therefore leaves memory,
   * because its rows are whole, and the next ask loads it.
   */
  const reread = (done: Mail["done"]) =>
    Effect.match(read, {
      onFailure: (unavailable) => {
        if (behavior.lastWill === null) closed ??= gone
        if (done !== null) Deferred.doneUnsafe(done, Exit.fail(unavailable))
      },
      onSuccess: () => {
        if (done !== null) Deferred.doneUnsafe(done, Exit.succeed(null))
      }
    })

  /** Does the same after a defect. It dies where the entity ends by a last will, which needs a state that was read. */
  const unread = (unavailable: ApiError) =>
    behavior.lastWill === null ? Effect.sync(() => (closed ??= gone)) : Effect.die(unavailable)

  const afterDefect = (mail: Mail, cause: Cause.Cause<unknown>) =>
    Effect.gen(function* () {
      yield* Metric.update(faults, 1)
      yield* Effect.logError("an actor's message died", cause).pipe(Effect.annotateLogs({ actor: id }))
      if (mail.done !== null) Deferred.doneUnsafe(mail.done, Exit.fail(fault))
      faultsAt = [...faultsAt.filter((at) => now - at < restartWindowMs), now]
      if (faultsAt.length > restartLimit) return yield* giveUp("too many restarts")
      yield* Effect.sleep(10 * 2 ** faultsAt.length)
      const recovery = Effect.gen(function* () {
        yield* Effect.catch(read, unread)
        if (state !== null && behavior.recovered !== null) yield* decide(yield* behavior.recovered(state), null, null)
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
        closed = gone
        return
      }
      // The newest written state may be newer than the one in memory. Where it cannot be read, the one in memory has to
      // do.
      yield* Effect.exit(read)
      yield* Effect.catchCause(decide(behavior.lastWill(reason), null, null), (cause) =>
        Effect.logError("an actor could not end cleanly, because nothing of it can be committed", cause).pipe(
          Effect.annotateLogs({ actor: id }),
          Effect.andThen(
            Effect.suspend(() => (state === null ? Effect.void : (behavior.abandon?.(state) ?? Effect.void)))
          ),
          Effect.ensuring(Effect.sync(() => (closed = gone)))
        )
      )
    })

  const next = Effect.gen(function* () {
    const mail = yield* Mailbox.take(mailbox)
    Mailbox.took(mailbox, mail)
    current = mail
    if (!Latch.isOpen(place.gate)) yield* place.gate.await
    // The caller already received a 503; drop the message instead of applying it later.
    if (mail !== null && (mail.done === null || !Deferred.isDoneUnsafe(mail.done))) yield* handle(mail)
    current = null
    // The first input did not create the entity, so the actor has nothing to keep alive.
    if (state === null) closed ??= options.ended
    if (overflowed) {
      overflowed = false
      yield* giveUp("the mailbox overflowed")
    }
    watch()
  })

  const settled = () => state !== null && machine.isSettled(state)
  const over = () => closed !== null || settled()

  const retire = (): boolean => {
    if (over() || touched || current !== null || !Mailbox.isEmpty(mailbox)) {
      touched = false
      return false
    }
    closed = gone
    Mailbox.knock(mailbox)
    return true
  }

  const close = Effect.gen(function* () {
    closed ??= settled() ? options.ended : gone
    deadlines.set(mailbox, null, nothing)
    // The service stops in the middle of this message. A step that the database may already have is answered by
    // `carryOut`, which runs on.
    if (current?.done != null && current.done !== underway) Deferred.doneUnsafe(current.done, Exit.fail(busy))
    for (const { ask, done } of yield* Mailbox.clear(mailbox))
      if (done !== null) Deferred.doneUnsafe(done, ask !== null || settled() ? Exit.succeed(null) : Exit.fail(busy))
    holding?.interruptUnsafe()
  })

  const run = Effect.suspend(() => {
    watch()
    return Effect.whileLoop({ while: () => !over(), body: () => next, step: nothing })
  }).pipe(Effect.ensuring(close), Effect.asVoid)

  return {
    id,
    place,
    time,
    state: () => state,
    ask,
    tell: putAndWait,
    post: (input) => void put(input, null),
    reread: () => Effect.asVoid(putAndWait(null)),
    retire,
    run
  } satisfies Actor<Id, State, Input, Asked, Answer>
})

const nothing = () => {}
