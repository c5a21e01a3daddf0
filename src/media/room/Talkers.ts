/** In a room of so many who may be heard, all are; in a larger one so many at a time. */
export const all = 6
export const most = 5

/** Who stays behind its gate for longer gives way to whoever speaks. */
const idleFrames = 5
/** Whoever is louder than the quietest by 6 dB, for so many frames, takes its place while it speaks. */
const louder = 4
const louderFrames = 3
/** How fast the energy that talkers are compared by follows up and down, a frame. */
const [up, down] = [0.6, 0.1]

/** One who may be heard, or not. */
export interface Talker {
  /** Whether it is one of those who are heard now. */
  isChosen: boolean
  /** Energy, smoothed. A cell, because a changing fraction in a property is allocated at each change. */
  readonly score: Float64Array
  /** Frames since the gate was open. */
  idle: number
  /** Frames in which it was louder than the quietest of those who are heard. */
  louder: number
}

export const talker = (): Talker => ({ isChosen: false, score: new Float64Array(1), idle: 0, louder: 0 })

/** What it has said in this round: RMS, and whether its gate is open. */
export const heard = (talker: Talker, level: number, isOpen: boolean): void => {
  const score = talker.score[0] ?? 0
  const energy = level * level
  talker.score[0] = score + (energy > score ? up : down) * (energy - score)
  talker.idle = isOpen ? 0 : talker.idle + 1
}

const scoreOf = (talker: Talker): number => talker.score[0] ?? 0

/** The one that gives way first: the quietest of those who are idle, else of all. */
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

/** The loudest of those who speak and are not heard. */
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
 * Chooses who is heard of the first `count` talkers. While nobody else speaks nothing changes, so pauses and noise move
 * nobody.
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
