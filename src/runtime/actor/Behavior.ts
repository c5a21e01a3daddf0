import type { Effect } from "effect"
import type { ApiError } from "../../domain/ApiError.ts"
import type { Machine, StepContext } from "./Machine.ts"

/** What an entity brings to its actor (`Actor.ts`): its pure machine, and how its steps are written and carried out. */
export interface Behavior<Id extends string, State, Input extends {}, Effects, Asked, Answer> {
  readonly machine: Machine<State, Input, Effects>
  /**
   * Writes everything of a step in one transaction, and gives the answer for the caller. It fails only when nothing was
   * written: then the state stays, and the caller gets the error. It waits for no other actor.
   *
   * `wanted` is asked before anything goes to the database: false when the caller has received a 503 meanwhile
   * (`AskTimeout`), and the commit is withdrawn. From true on the caller waits for the answer.
   */
  readonly commit: (
    step: Step<State, Input, Effects>,
    asked: Asked | null,
    wanted: () => boolean
  ) => Effect.Effect<Answer, ApiError>
  /** Hands the commands over, after the commit. It never waits for the network. */
  readonly interpret: (step: Step<State, Input, Effects>) => Effect.Effect<void>
  /** The answer when nothing changed. */
  readonly answer: (state: State, asked: Asked) => Answer
  /**
   * Reads the state from its rows, after a defect or to reread it; null: it was never committed. While the
   * database is away it waits where there is a last will, which must not end an entity for that; else it fails.
   */
  readonly reload: (id: Id) => Effect.Effect<State | null, ApiError>
  /** Gives the input that tells the state of a recovery, after a defect; null: reading the state again was enough. */
  readonly recovered: ((state: State) => Effect.Effect<Input>) | null
  /**
   * Completes when no event from before this deadline can still come, and when those who must be asked about it have
   * been asked; gives the input with their answers. Other messages are handled meanwhile, and the deadline after them.
   * Whoever answers bounds the wait. Null: a deadline is handled as it is when its time has come.
   */
  readonly ready: ((state: State, due: Input) => Effect.Effect<Input>) | null
  /**
   * What has to be asked of others before an input is decided; null: nothing, as nearly always. Gives the inputs to
   * decide in its place, in their order: the last one is answered, and the others stand for what was due before it.
   * Nothing else is handled meanwhile, and whoever answers bounds the wait. It fails when the input may not be decided.
   */
  readonly prepare:
    | ((state: State, input: Input, now: number) => Effect.Effect<Prepared<Input>, ApiError> | null)
    | null
  /**
   * The input that ends the entity cleanly when it cannot be kept alive; null: the actor just stops, for its rows are
   * whole.
   */
  readonly lastWill: ((reason: string) => Input) | null
  /**
   * Ends outside what the entity holds there, when not even its last will can be committed: nobody will hear of it here
   * again until a restart recovers it from its rows.
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
