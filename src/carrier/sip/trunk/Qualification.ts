import type { TrunkState } from "../../peer/TrunkStates.ts"

/** The result of one OPTIONS request to a trunk; `status` is null when no response came, or it could not be sent. */
export interface Answer {
  readonly status: number | null
  readonly rttMs: number
}

export interface Qualification extends TrunkState {
  /** The number of requests in a row that showed no live peer. */
  readonly misses: number
}

/**
 * More misses in a row make a trunk unreachable. A single request that is lost with all its repetitions is not enough.
 */
const missesAllowed = 1

export const start = (now: number): Qualification => ({
  state: "unknown",
  since: now,
  rttMs: null,
  lastStatus: null,
  misses: 0
})

/**
 * Whether the answer shows a peer that takes calls, RFC 3261 section 11. Any status does, including a challenge, a 404
 * and a 405, except 408 and 503, which a proxy sends for an absent peer.
 */
const isAlive = ({ status }: Answer): boolean => status !== null && status !== 408 && status !== 503

/** The state after an answer, with `now` in epoch milliseconds. */
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
