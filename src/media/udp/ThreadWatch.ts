/**
 * Decides whether a thread that is up hangs. Its signs of life are a counter in shared memory, which it raises in each
 * turn, and its messages: what the parent has not read yet, because it stood still itself, is no silence of the thread.
 *
 * A thread without a sign hangs when it used the processor all the while. One that used none may be waiting for the
 * processor of a busy machine, and gets more time.
 */
interface State {
  /** The signs at the last look. */
  readonly signs: number
  /** The processor time that the thread had used at the last sign, in milliseconds. */
  readonly usedMs: number
  /** For how many looks in a row there was no sign. */
  readonly silentLooks: number
}

export const initial: State = { signs: -1, usedMs: 0, silentLooks: 0 }

interface Options {
  /** The time between two looks; a parent that stands still makes none. */
  readonly lookMs: number
  /** How long a thread may spin without a sign. */
  readonly patienceMs: number
}

/** A thread that neither gives a sign nor uses the processor gets this many times the patience. */
const idlePatience = 4
/** The part of the time that a spinning thread uses, on a machine that it shares with others. */
const spinningShare = 0.5

/** `usedMs` null: the thread did not answer the question for it. Gives for how long a thread hangs, or null. */
export const look = (
  state: State,
  now: { readonly signs: number; readonly usedMs: number | null },
  { lookMs, patienceMs }: Options
): readonly [State, number | null] => {
  const usedMs = now.usedMs ?? state.usedMs
  if (now.signs !== state.signs) return [{ signs: now.signs, usedMs, silentLooks: 0 }, null]
  const silentLooks = state.silentLooks + 1
  const silentMs = silentLooks * lookMs
  const spins = usedMs - state.usedMs >= spinningShare * silentMs
  const hangs = silentMs > (spins ? patienceMs : idlePatience * patienceMs)
  return [{ ...state, silentLooks }, hangs ? silentMs : null]
}
