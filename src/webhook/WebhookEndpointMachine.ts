import type { DeliveryId, EntityId } from "../domain/Id.ts"

/**
 * When one endpoint claims, and what it has under way, as a pure machine (src/README.md#fan-out).
 *
 * At most `places` deliveries are under way. A lane is an entity, whose events go in their order: of each lane one
 * first try is under way at a time. A retry has left its lane and only takes a place. The machine asks for one claim at
 * a time.
 */
export const places = 16

/** What the machine has to know of a claimed delivery. */
export interface Claimed {
  readonly id: DeliveryId
  /** Null: a retry. */
  readonly lane: EntityId | null
}

interface State {
  readonly claiming: boolean
  /** There may be due rows that no claim has brought yet. */
  readonly waiting: boolean
  /** A place or a lane became free while the claim was out. */
  readonly freed: boolean
  /** Delivery id to lane; at most `places`. */
  readonly underWay: ReadonlyMap<DeliveryId, EntityId | null>
}

export type Input<D extends Claimed> =
  /** New rows, a retry that is due, or a lease that ran out: somebody saw due rows. */
  | { readonly type: "work_waits" }
  /** The answer to the one claim; `more`: due rows were left behind. */
  | { readonly type: "claimed"; readonly deliveries: ReadonlyArray<D>; readonly more: boolean }
  /** The attempt is over and its outcome is durable. */
  | { readonly type: "attempt_finished"; readonly id: DeliveryId }

export interface ClaimWanted {
  readonly room: number
  readonly busyLanes: ReadonlyArray<EntityId>
  readonly underWay: ReadonlyArray<DeliveryId>
}

interface Step<D extends Claimed> {
  readonly state: State
  readonly attempts: ReadonlyArray<D>
  readonly claim: ClaimWanted | null
}

export const initial: State = { claiming: false, waiting: false, freed: false, underWay: new Map() }

export const step = <D extends Claimed>(state: State, input: Input<D>): Step<D> => {
  switch (input.type) {
    case "work_waits":
      return look({ ...state, waiting: true })
    case "claimed": {
      const underWay = new Map(state.underWay)
      for (const { id, lane } of input.deliveries) underWay.set(id, lane)
      const next: State = { claiming: false, waiting: state.waiting || input.more, freed: false, underWay }
      // What was left behind waits for a lane or a place, so another look helps only when one became free.
      const step: Step<D> = state.waiting || (input.more && state.freed) ? look(next) : rest(next)
      return { ...step, attempts: input.deliveries }
    }
    case "attempt_finished": {
      const underWay = new Map(state.underWay)
      underWay.delete(input.id)
      return look({ ...state, freed: state.claiming, underWay })
    }
  }
}

const rest = <D extends Claimed>(state: State): Step<D> => ({ state, attempts: [], claim: null })

const look = <D extends Claimed>(state: State): Step<D> => {
  const room = places - state.underWay.size
  if (state.claiming || !state.waiting || room <= 0) return rest(state)
  return {
    state: { ...state, claiming: true, waiting: false, freed: false },
    attempts: [],
    claim: {
      room,
      busyLanes: [...state.underWay.values()].filter((lane) => lane !== null),
      underWay: [...state.underWay.keys()]
    }
  }
}

/**
 * Nothing runs, so the fiber may stop. Deliveries that were left behind may have gone with their subscription; if they
 * are still due, they wake a new fiber.
 */
export const isIdle = (state: State): boolean => !state.claiming && state.underWay.size === 0
