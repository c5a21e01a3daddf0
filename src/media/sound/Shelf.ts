/**
 * What is kept of the sounds that were fetched or spoken, up to a number of bytes. Mutable; keyed by URL or by what is
 * said, the least recently used first.
 *
 * A sound that is in use stays. Beyond the room, idle sounds go: those of the holder that keeps the most, the least
 * recently used first. Of what is in use, one holder has at most half of what the others leave.
 */
export interface Kept {
  /** The tenant for whom it was fetched or spoken. */
  readonly holder: string
  /** Monotonic milliseconds, from which on it is given to nobody. */
  readonly expiresAt: number
  readonly bytes: () => number
  readonly isIdle: () => boolean
}

export const make = <Sound extends Kept>(capacity: number) => {
  const kept = new Map<string, Sound>()
  /** Expired or replaced, but still in use. */
  const leaving = new Set<Sound>()

  const all = () => [...kept.values(), ...leaving]
  const sum = (sounds: ReadonlyArray<Sound>) => sounds.reduce((total, sound) => total + sound.bytes(), 0)

  const remove = (key: string): void => {
    const sound = kept.get(key)
    kept.delete(key)
    if (sound?.isIdle() === false) leaving.add(sound)
  }

  const idleOfLargest = (): string | null => {
    const held = new Map<string, number>()
    for (const sound of kept.values())
      if (sound.isIdle()) held.set(sound.holder, (held.get(sound.holder) ?? 0) + sound.bytes())
    const [largest] = [...held].sort(([, one], [, other]) => other - one)
    for (const [key, sound] of kept) if (sound.isIdle() && sound.holder === largest?.[0]) return key
    return null
  }

  const shrink = (now: number): void => {
    for (const sound of leaving) if (sound.isIdle()) leaving.delete(sound)
    for (const [key, { expiresAt }] of kept) if (expiresAt <= now) remove(key)
    for (let left = sum(all()); left > capacity; left = sum(all())) {
      const key = idleOfLargest()
      if (key === null) return
      kept.delete(key)
    }
  }

  /** What is in use, of all and of one holder. */
  const usedBy = (holder: string) => {
    const used = all().filter((sound) => !sound.isIdle())
    return { used: sum(used), own: sum(used.filter((sound) => sound.holder === holder)) }
  }

  return {
    /** Whether a holder who has so much in use may have more, however little: what is refused need not be fetched. */
    mayAdd: (holder: string): boolean => {
      const { own, used } = usedBy(holder)
      return own < capacity - used
    },
    find: (key: string, now: number): Sound | null => {
      const sound = kept.get(key)
      if (sound === undefined || sound.expiresAt <= now) return null
      kept.delete(key)
      kept.set(key, sound)
      return sound
    },
    /** False: there is no room for it. */
    add: (key: string, sound: Sound, now: number): boolean => {
      remove(key)
      kept.set(key, sound)
      shrink(now)
      const { own, used } = usedBy(sound.holder)
      const left = capacity - used
      if (sound.bytes() <= left && own <= left) return true
      kept.delete(key)
      return false
    },
    /** It is given to nobody any more. */
    drop: (key: string, sound: Sound): void => {
      if (kept.get(key) === sound) remove(key)
    },
    shrink,
    bytes: (): number => sum(all())
  }
}

export type Shelf<Sound extends Kept> = ReturnType<typeof make<Sound>>
