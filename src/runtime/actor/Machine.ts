import type { ApiError } from "../../domain/ApiError.ts"

/** Everything that a pure step may know of the world: the time, and randomness to derive new ids from. */
export interface StepContext {
  /** The entity's time (`EntityTime`): epoch milliseconds, never smaller than at the step before. */
  readonly now: number
  /** 32 hex digits, fresh for each input and written with it. */
  readonly seed: string
}

/**
 * The decision of a step (src/telephony/README.md#machine): `accepted` is committed, `unchanged` (late or duplicate) is
 * only counted, `rejected` answers an API command. `Effects` is everything that the feature commits and sends with the
 * new state.
 */
export type Outcome<State, Effects> =
  | { readonly type: "accepted"; readonly state: State; readonly effects: Effects }
  | { readonly type: "unchanged" }
  | { readonly type: "rejected"; readonly error: ApiError }

/** The next moment at which the state has to be looked at again, and the input that it then gets. */
export interface Deadline<Input> {
  readonly at: number
  readonly input: Input
}

/** A pure machine. `state` is null before the first input. */
export interface Machine<State, Input, Effects> {
  readonly step: (state: State | null, input: Input, context: StepContext) => Outcome<State, Effects>
  readonly nextDeadline: (state: State) => Deadline<Input> | null
  /** True when the entity has ended, is rated and has nothing pending, so that its actor may stop. */
  readonly isSettled: (state: State) => boolean
}

export const accepted = <State, Effects>(state: State, effects: Effects): Outcome<State, Effects> => ({
  type: "accepted",
  state,
  effects
})
export const unchanged: Outcome<never, never> = { type: "unchanged" }
export const rejected = (error: ApiError): Outcome<never, never> => ({ type: "rejected", error })

/** The seed of steps whose ids are thrown away. */
const drySeed = "0".repeat(32)

/** Gives the outcome of a step without taking it. */
export const dryStep = <State, Input, Effects>(
  { step }: Pick<Machine<State, Input, Effects>, "step">,
  state: State,
  input: Input,
  now: number
): Outcome<State, Effects> => step(state, input, { now, seed: drySeed })

/** Gives the reason why the machine would reject the input now; null: it would not. */
export const refusal = <State, Input, Effects>(
  machine: Pick<Machine<State, Input, Effects>, "step">,
  state: State,
  input: Input,
  now: number
): ApiError | null => {
  const outcome = dryStep(machine, state, input, now)
  return outcome.type === "rejected" ? outcome.error : null
}
