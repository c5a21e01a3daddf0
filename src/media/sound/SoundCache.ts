/**
 * A cache of the sounds that were fetched or spoken, bounded in bytes. Mutable; keyed by URL or by text, the least
 * recently used first.
 *
 * A sound in use stays. Past the capacity, idle sounds are dropped: those of the holder with the most bytes, the least
 * recently used first. Of the bytes in use, one holder has at most half of the capacity that the others leave.
 */
export interface Kept {
  /** The tenant that it was fetched or spoken for. */
  readonly holder: string
  /** The time, in monotonic milliseconds, from which on it is not given out. */
  readonly expiresAt: number
  readonly bytes: () => number
  readonly isIdle: () => boolean
}

export const make = <Sound extends Kept>(capacity: number) => {
  const kept = new Map<string, Sound>()
  /** Sounds that are expired or replaced, but still in use. */
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

  /** The bytes in use, by all and by one holder. */
  const usedBy = (holder: string) => {
    const used = all().filter((sound) => !sound.isIdle())
    return { used: sum(used), own: sum(used.filter((sound) => sound.holder === holder)) }
  }

  return {
    /** Whether a holder may add more at all, given its bytes in use; if not, a sound need not be fetched. */
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
    /** Returns false when there is no room for it. */
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
    /** Stops giving out this sound. */
    drop: (key: string, sound: Sound): void => {
      if (kept.get(key) === sound) remove(key)
    },
    shrink,
    bytes: (): number => sum(all())
  }
}

export type SoundCache<Sound extends Kept> = ReturnType<typeof make<Sound>>
