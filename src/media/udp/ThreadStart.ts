/**
 * How long the start of a thread is waited for: as long as it makes progress, because on a busy machine it gets little
 * of the processor. Progress is processor time that it used. A thread that has used more than a start can need spins,
 * and one that uses none hangs.
 */
interface State {
  /** The processor time that the thread has used so far, in milliseconds. */
  readonly usedMs: number
  /** For how many looks in a row it has used nothing. */
  readonly idleLooks: number
}

export const initial: State = { usedMs: 0, idleLooks: 0 }

/** A start needs about half a second of the processor. */
const mostUsedMs = 60_000
/** The caller looks once a second. A machine that sleeps or stands still makes no looks. */
const mostIdleLooks = 60

/** `usedMs` null: the thread did not answer the question for it. Gives the reason why the start has failed, or null. */
export const look = (state: State, usedMs: number | null): readonly [State, string | null] => {
  const now = usedMs ?? state.usedMs
  const next: State = { usedMs: now, idleLooks: now > state.usedMs ? 0 : state.idleLooks + 1 }
  if (next.usedMs > mostUsedMs) return [next, `not ready after ${Math.round(next.usedMs)} ms of the processor`]
  if (next.idleLooks >= mostIdleLooks) return [next, `not ready, and has done nothing for ${mostIdleLooks} s`]
  return [next, null]
}
