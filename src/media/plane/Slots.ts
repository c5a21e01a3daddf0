import * as Frame from "../Frame.ts"

/** A leg or a room: it has a turn every 20 ms. Neither call may throw. */
export interface Ticked {
  readonly tick: (now: number) => void
  /** Skips this many frames, because the clock stood still; they are not made up for. */
  readonly skip: (frames: number) => void
}

/** Frames that are later than this are skipped instead of being sent in a burst. */
const catchUpMs = 100

interface Slot {
  /** The members with turns in this slot, and the millisecond from which on each has them. */
  readonly awake: Map<Ticked, number>
  /** The number of its members, resting ones included. */
  members: number
}

export type Slots = ReturnType<typeof make>

/**
 * Twenty slots of a millisecond each. Every member has its turn in one of them, once every 20 ms. It gets the slot with
 * the fewest members when it is added, so that the work is spread over the 20 ms.
 *
 * `tick(now)` runs every slot that is due; the owner calls it again at `nextDue`. Turns that are up to 100 ms late are
 * made up for; later ones are skipped. A resting member keeps its slot and has no turns.
 */
export const make = () => {
  const slots = Array.from({ length: Frame.frameMs }, (): Slot => ({ awake: new Map(), members: 0 }))
  const slotOf = new Map<Ticked, Slot>()
  let awake = 0
  /** The last millisecond whose slot was run. */
  let cursor = 0
  let skippedFrames = 0

  const at = (ms: number): Slot["awake"] => slots[ms % Frame.frameMs]?.awake ?? new Map()

  const wake = (ticked: Ticked, now: number): void => {
    const slot = slotOf.get(ticked)
    if (slot === undefined || slot.awake.has(ticked)) return
    const since = Math.floor(now)
    if (awake === 0) cursor = since
    slot.awake.set(ticked, since)
    awake++
  }

  const rest = (ticked: Ticked): void => {
    if (slotOf.get(ticked)?.awake.delete(ticked) === true) awake--
  }

  /** A member that was added meanwhile does not make up for earlier turns. */
  const turn = (since: number, ticked: Ticked): void => {
    if (cursor > since) ticked.tick(cursor)
  }

  const skip = (now: number) => {
    const frames = Math.floor((now - cursor) / Frame.frameMs)
    cursor += frames * Frame.frameMs
    skippedFrames += frames
    for (const ticked of slotOf.keys()) ticked.skip(frames)
  }

  return {
    add: (ticked: Ticked, now: number): void => {
      const slot = slots.reduce((best, other) => (other.members < best.members ? other : best))
      slot.members++
      slotOf.set(ticked, slot)
      wake(ticked, now)
    },
    remove: (ticked: Ticked): void => {
      rest(ticked)
      const slot = slotOf.get(ticked)
      if (slot !== undefined) slot.members--
      slotOf.delete(ticked)
    },
    rest,
    wake,
    /** Runs the slots that are due at `now`. */
    tick: (now: number): void => {
      if (awake === 0) return
      if (now - cursor > catchUpMs) skip(now)
      while (cursor + 1 <= now) {
        cursor++
        at(cursor).forEach(turn)
      }
    },
    /** Returns when the next turn is; `null` when no member has turns. */
    nextDue: (): number | null => {
      if (awake === 0) return null
      for (let ms = cursor + 1; ms <= cursor + Frame.frameMs; ms++) if (at(ms).size > 0) return ms
      return null
    },
    skippedFrames: (): number => skippedFrames
  }
}
