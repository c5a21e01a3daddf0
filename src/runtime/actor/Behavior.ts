import type { Effect } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"
import type { Machine, StepContext } from "./Machine.ts"

/**
 * The part of an actor (`Actor.ts`) that is its entity's: a pure machine, and how its steps are written and carried
 * out.
 */
export interface Behavior<Id extends string, State, Input extends {}, Effects, Asked, Answer> {
  readonly machine: Machine<State, Input, Effects>
  /**
   * Writes all of a step in one transaction, and gives the answer for the caller. It fails only when nothing was
   * written: then the state stays, and the caller gets the error. It waits for no other actor.
   *
   * `wanted` is called before anything goes to the database. False: the caller has received a 503 meanwhile
   * (`AskTimeout`) or may not write any more (`WritePermit`), and the commit is withdrawn. After true the caller waits
   * for the answer.
   */
  readonly commit: (
    step: Step<State, Input, Effects>,
    asked: Asked | null,
    wanted: () => boolean
  ) => Effect.Effect<Answer, ApiError>
  /** Hands the commands over, after the commit. It never waits for the network. */
  readonly interpret: (step: Step<State, Input, Effects>) => Effect.Effect<void>
  /** Gives the answer when nothing changed. */
  readonly answer: (state: State, asked: Asked) => Answer
  /**
   * Reads the state from its rows, after a defect or for a reread; null: it was never committed. While the database is
   * unreachable, it waits if there is a last will, because an outage must not end an entity; otherwise it fails.
   */
  readonly reload: (id: Id) => Effect.Effect<State | null, ApiError>
  /** Gives the input that announces a recovery after a defect; null: it is enough to read the state again. */
  readonly recovered: ((state: State) => Effect.Effect<Input>) | null
  /**
   * Completes when no event from before this deadline can still come, and when every party that must be asked about it
   * has answered; gives the input with the answers. Other messages are handled meanwhile, before the deadline. The
   * answering side bounds the wait. Null: a deadline is handled as it is when it is due.
   */
  readonly ready: ((state: State, due: Input) => Effect.Effect<Input>) | null
  /**
   * Asks others before an input is decided; null: this input needs no question, which is nearly always so. Gives the
   * inputs to decide instead, in their order: the last one is answered, and the others were due before it. No other
   * message is handled meanwhile, and the answering side bounds the wait. Fails when the input may not be decided.
   */
  readonly prepare:
    | ((state: State, input: Input, now: number) => Effect.Effect<Prepared<Input>, ApiError> | null)
    | null
  /**
   * The input that ends the entity cleanly when it cannot be kept alive; null: the actor just stops, because its rows
   * are whole.
   */
  readonly lastWill: ((reason: string) => Input) | null
  /**
   * Ends whatever the entity holds outside this process, when not even its last will can be committed. The entity does
   * nothing more here until a restart recovers it from its rows.
   */
  readonly abandon?: (state: State) => Effect.Effect<void>
}

export interface Prepared<Input> {
  readonly first: ReadonlyArray<Input>
  readonly input: Input
}

export interface Step<State, Input, Effects> {
  readonly input: Input
  readonly before: State | null
  readonly state: State
  readonly effects: Effects
  readonly context: StepContext
}
