import type { TrunkState } from "../../peer/TrunkStates.ts"

/** What became of one OPTIONS to a trunk; `status` null: nothing came, or it could not be sent. */
export interface Answer {
  readonly status: number | null
  readonly rttMs: number
}

export interface Qualification extends TrunkState {
  /** Questions in a row that showed no live peer. */
  readonly misses: number
}

/** So many in a row make a trunk unreachable: one packet that is lost seven times over is not enough. */
const missesAllowed = 1

export const start = (now: number): Qualification => ({
  state: "unknown",
  since: now,
  rttMs: null,
  lastStatus: null,
  misses: 0
})

/**
 * Whether the answer shows a peer that takes calls, RFC 3261 section 11: any status does, also a challenge, a 404 and a
 * 405, but for a 408 and a 503, by which a proxy speaks for a peer that is not there.
 */
const isAlive = ({ status }: Answer): boolean => status !== null && status !== 408 && status !== 503

/** The state after an answer; `now` in epoch milliseconds. */
export const step = (before: Qualification, answer: Answer, now: number): Qualification => {
  const misses = isAlive(answer) ? 0 : before.misses + 1
  const state = misses === 0 ? "reachable" : misses > missesAllowed ? "unreachable" : before.state
  return {
    state,
    since: state === before.state ? before.since : now,
    rttMs: answer.status === null ? null : answer.rttMs,
    lastStatus: answer.status,
    misses
  }
}
