/** Up to `all` members that may be heard are all heard at a time; in a larger room `most` of them are. */
const all = 6
const most = 5

/** A talker whose gate was closed for longer, in frames, gives way to one that speaks. */
const idleFrames = 5
/** A talker that is louder than the quietest by 6 dB, for `louderFrames`, takes its place while that one speaks. */
const louder = 4
const louderFrames = 3
/** How fast the energy for the comparison of talkers rises and falls, per frame. */
const [up, down] = [0.6, 0.1]

/** A member that competes for a place among those that are heard. */
export interface Talker {
  /** Whether it is heard now. */
  isChosen: boolean
  /** The smoothed energy. It is in a cell, because a changing fraction in a property is allocated at each change. */
  readonly score: Float64Array
  /** Frames since the gate was open. */
  idle: number
  /** Frames in which it was louder than the quietest talker that is heard. */
  louder: number
}

export const talker = (): Talker => ({ isChosen: false, score: new Float64Array(1), idle: 0, louder: 0 })

/** Takes the RMS of this round, and whether the gate is open. */
export const heard = (talker: Talker, level: number, isOpen: boolean): void => {
  const score = talker.score[0] ?? 0
  const energy = level * level
  talker.score[0] = score + (energy > score ? up : down) * (energy - score)
  talker.idle = isOpen ? 0 : talker.idle + 1
}

const scoreOf = (talker: Talker): number => talker.score[0] ?? 0

/** The talker that gives way first: the quietest idle one, or if none is idle, the quietest. */
const weakest = (talkers: ReadonlyArray<Talker>, count: number): Talker | null => {
  let found: Talker | null = null
  for (let i = 0; i < count; i++) {
    const each = talkers[i]
    if (each === undefined || !each.isChosen) continue
    if (found === null) {
      found = each
      continue
    }
    const isIdle = each.idle > idleFrames
    if (isIdle === found.idle > idleFrames ? scoreOf(each) < scoreOf(found) : isIdle) found = each
  }
  return found
}

/** The loudest talker that speaks and is not heard. */
const loudest = (talkers: ReadonlyArray<Talker>, count: number): Talker | null => {
  let found: Talker | null = null
  for (let i = 0; i < count; i++) {
    const each = talkers[i]
    if (each === undefined || each.isChosen || each.idle > 0) continue
    if (found === null || scoreOf(each) > scoreOf(found)) found = each
  }
  return found
}

/**
 * Chooses which of the first `count` talkers are heard. Nothing changes until another one speaks, so pauses and noise
 * cost no talker its place.
 */
export const choose = (talkers: ReadonlyArray<Talker>, count: number): void => {
  let chosen = 0
  for (let i = 0; i < count; i++) {
    const each = talkers[i]
    if (each === undefined) continue
    if (count <= all) each.isChosen = true
    if (each.isChosen) chosen++
  }
  if (count <= all) return
  for (; chosen > most; chosen--) {
    const gone = weakest(talkers, count)
    if (gone !== null) gone.isChosen = false
  }
  const last = chosen < most ? null : weakest(talkers, count)
  const bar = last === null ? Number.POSITIVE_INFINITY : louder * scoreOf(last)
  for (let i = 0; i < count; i++) {
    const each = talkers[i]
    if (each !== undefined) each.louder = !each.isChosen && each.idle === 0 && scoreOf(each) > bar ? each.louder + 1 : 0
  }
  for (let tries = 0; tries < most; tries++) {
    const next = loudest(talkers, count)
    if (next === null) return
    if (chosen < most) chosen++
    else {
      const gone = weakest(talkers, count)
      if (gone === null || (gone.idle <= idleFrames && next.louder < louderFrames)) return
      gone.isChosen = false
    }
    next.isChosen = true
    next.louder = 0
  }
}
