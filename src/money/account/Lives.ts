import { HashMap, Option } from "effect"
import type { EntityId } from "../../domain/Id.ts"

/** What lives, and what it reserves. */
export interface Live {
  /** Places of the concurrent limit that it takes. */
  readonly places: number
  /** All that it may come to cost by what it was allowed so far. */
  readonly reservedCents: number
  /** The number of the last tell that was heard of it. */
  readonly heard: number
}

/** All that lives at an account. Its sums are kept, so a request costs the same beside ten calls and ten thousand. */
export interface Lives {
  readonly byId: HashMap.HashMap<EntityId, Live>
  /** Places of the concurrent limit that are taken. */
  readonly places: number
  readonly reservedCents: number
}

export const empty: Lives = { byId: HashMap.empty(), places: 0, reservedCents: 0 }

export const isEmpty = (lives: Lives): boolean => HashMap.isEmpty(lives.byId)

export const get = (lives: Lives, id: EntityId): Live | null => Option.getOrNull(HashMap.get(lives.byId, id))

/** In place of what the id had before. */
export const set = (lives: Lives, id: EntityId, live: Live): Lives =>
  summed(lives, get(lives, id), live, HashMap.set(lives.byId, id, live))

export const remove = (lives: Lives, id: EntityId): Lives =>
  summed(lives, get(lives, id), null, HashMap.remove(lives.byId, id))

/** Of two with one id, the later one counts. */
export const from = (entries: Iterable<readonly [EntityId, Live]>): Lives => {
  let lives = empty
  for (const [id, live] of entries) lives = set(lives, id, live)
  return lives
}

export const ids = (lives: Lives): ReadonlyArray<EntityId> => [...HashMap.keys(lives.byId)]

const summed = (lives: Lives, before: Live | null, after: Live | null, byId: Lives["byId"]): Lives => ({
  byId,
  places: lives.places + (after?.places ?? 0) - (before?.places ?? 0),
  reservedCents: lives.reservedCents + (after?.reservedCents ?? 0) - (before?.reservedCents ?? 0)
})
