import type { DeliveryId } from "../../domain/Id.ts"

/**
 * A pure machine that decides when one endpoint claims, and which deliveries are under way
 * (src/webhook/README.md#fan-out).
 *
 * At most `places` deliveries are under way. A lane (`EventLane`) is delivered in order: of each lane one first attempt
 * is under way at a time. A retry has left its lane and only takes a place. The machine asks for one
 * claim at a time. A delivery that a commit hands over during a claim may find no place, and waits for the next one.
 */
export const places = 16

/** The properties of a claimed delivery that the machine needs. */
export interface Claimed {
  readonly id: DeliveryId
  /** Null: the delivery is a retry. */
  readonly lane: string | null
}

interface State<D extends Claimed> {
  /** The places for which a claim is under way; 0: none is. */
  readonly claiming: number
  /** True when there may be due rows that no claim has brought yet. */
  readonly waiting: boolean
  /** True when a place or a lane became free during the claim. */
  readonly freed: boolean
  /** The lane that a claim served last. The next claim continues after it, so that lanes take turns. */
  readonly after: string
  /** The attempts under way, at most `places`. */
  readonly underWay: ReadonlySet<DeliveryId>
  /** The claimed deliveries that wait for a place. */
  readonly held: ReadonlyArray<D>
}

export type Input<D extends Claimed> =
  /** There are due rows: new ones, a retry, or one whose lease ran out. */
  | { readonly type: "work_waits" }
  /** The answer to the one claim; `more`: some due rows were not claimed. */
  | { readonly type: "claimed"; readonly deliveries: ReadonlyArray<D>; readonly more: boolean }
  /** A commit made a delivery as already claimed. */
  | { readonly type: "handed_over"; readonly delivery: D }
  | { readonly type: "attempt_finished"; readonly id: DeliveryId }

export interface ClaimWanted {
  readonly capacity: number
  readonly after: string
  readonly underWay: ReadonlyArray<DeliveryId>
}

interface Step<D extends Claimed> {
  readonly state: State<D>
  readonly attempts: ReadonlyArray<D>
  readonly claim: ClaimWanted | null
}

export const initial: State<never> = {
  claiming: 0,
  waiting: false,
  freed: false,
  after: "",
  underWay: new Set(),
  held: []
}

export const step = <D extends Claimed>(state: State<D>, input: Input<D>): Step<D> => {
  switch (input.type) {
    case "work_waits":
      return look({ ...state, waiting: true }, [])
    case "claimed": {
      const { deliveries, more } = input
      const after = deliveries.findLast(({ lane }) => lane !== null)?.lane ?? state.after
      const { attempts, state: next } = start({ ...state, after, claiming: 0, freed: false }, deliveries)
      const left = { ...next, waiting: state.waiting || more }
      // Rows that were not claimed wait for a lane or a place, so another look helps only when one became free.
      return state.waiting || (more && state.freed) ? look(left, attempts) : { state: left, attempts, claim: null }
    }
    case "handed_over":
      return { ...start(state, [input.delivery]), claim: null }
    case "attempt_finished": {
      const underWay = new Set(state.underWay)
      underWay.delete(input.id)
      const { attempts, state: next } = start({ ...state, freed: state.claiming > 0, underWay }, [])
      return look(next, attempts)
    }
  }
}

/** Begins the held and the new deliveries, as far as there are places. */
const start = <D extends Claimed>(state: State<D>, deliveries: ReadonlyArray<D>) => {
  const all = [...state.held, ...deliveries]
  const attempts = all.slice(0, Math.max(0, places - state.underWay.size))
  const underWay = new Set(state.underWay)
  for (const { id } of attempts) underWay.add(id)
  return { attempts, state: { ...state, underWay, held: all.slice(attempts.length) } }
}

const look = <D extends Claimed>(state: State<D>, attempts: ReadonlyArray<D>): Step<D> => {
  const capacity = freePlaces(state)
  if (state.claiming > 0 || !state.waiting || capacity <= 0) return { state, attempts, claim: null }
  const claim = {
    capacity,
    after: state.after,
    underWay: [...state.underWay, ...state.held.map(({ id }) => id)]
  }
  return { state: { ...state, claiming: capacity, waiting: false, freed: false }, attempts, claim }
}

/** True when another delivery may wait for one that is under way. */
export const isFollowed = <D extends Claimed>(state: State<D>): boolean => state.waiting || state.claiming > 0

/** The number of places that are not taken, and for which no claim is under way. */
export const freePlaces = <D extends Claimed>(state: State<D>): number =>
  places - state.underWay.size - state.held.length - state.claiming

/**
 * True when nothing is under way, so that the fiber may stop. Rows that were not claimed may have gone with their
 * subscription; if they are still due, they wake a new fiber.
 */
export const isIdle = <D extends Claimed>(state: State<D>): boolean =>
  state.claiming === 0 && state.underWay.size === 0 && state.held.length === 0
