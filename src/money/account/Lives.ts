import { HashMap, Option } from "effect"
import type { EntityId } from "../../domain/Id.ts"

/** A live entity, and what it reserves. */
export interface Live {
  /** The places of the concurrent limit that it takes. */
  readonly places: number
  /** The most that it may cost by everything it was granted so far. */
  readonly reservedCents: number
  /** The number of the last message received from it. */
  readonly heard: number
  /** Whether its charge takes money of the development processor first. */
  readonly takesTestMoney?: boolean
}

/** All live entities of an account. Its sums are kept, so a request costs the same beside ten calls or ten thousand. */
export interface Lives {
  readonly byId: HashMap.HashMap<EntityId, Live>
  /** The places of the concurrent limit that are taken. */
  readonly places: number
  readonly reservedCents: number
}

export const empty: Lives = { byId: HashMap.empty(), places: 0, reservedCents: 0 }

export const isEmpty = (lives: Lives): boolean => HashMap.isEmpty(lives.byId)

export const get = (lives: Lives, id: EntityId): Live | null => Option.getOrNull(HashMap.get(lives.byId, id))

/** Replaces what the id had before. */
export const set = (lives: Lives, id: EntityId, live: Live): Lives =>
  summed(lives, get(lives, id), live, HashMap.set(lives.byId, id, live))

export const remove = (lives: Lives, id: EntityId): Lives =>
  summed(lives, get(lives, id), null, HashMap.remove(lives.byId, id))

/** If two entries have one id, the later one counts. */
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
