import { describe, expect, it } from "@effect/vitest"
import * as SoundCache from "../../../src/media/sound/SoundCache.ts"

interface Sound extends SoundCache.Kept {
  isUsed: boolean
}
const soundOf = (holder: string, size: number, expiresAt = 1000): Sound => ({
  holder,
  expiresAt,
  isUsed: false,
  bytes: () => size,
  isIdle(this: Sound) {
    return !this.isUsed
  }
})

describe("Sounds that are kept", () => {
  it("are found until they expire", () => {
    const shelf = SoundCache.make<Sound>(100)
    const sound = soundOf("a", 10, 50)
    expect(shelf.add("x", sound, 0)).toBe(true)
    expect(shelf.find("x", 49)).toBe(sound)
    expect(shelf.find("x", 50)).toBeNull()
    shelf.shrink(50)
    expect(shelf.bytes()).toBe(0)
  })

  it("give way by age, those of the holder first who keeps the most", () => {
    const shelf = SoundCache.make<Sound>(100)
    shelf.add("quiet", soundOf("quiet", 20), 0)
    for (const name of ["a", "b", "c", "d", "e"]) expect(shelf.add(name, soundOf("loud", 20), 0)).toBe(true)
    expect(["quiet", "a", "b", "e"].map((name) => shelf.find(name, 0) !== null)).toEqual([true, false, true, true])
    shelf.add("f", soundOf("loud", 20), 0)
    expect(shelf.find("c", 0)).toBeNull()
    expect(shelf.find("b", 0)).not.toBeNull()
  })

  it("stay while they are used, of one holder at most half of what the others leave", () => {
    const shelf = SoundCache.make<Sound>(100)
    for (let n = 0; n < 10; n++) {
      const sound = soundOf("loud", 20)
      sound.isUsed = shelf.add(`loud ${n}`, sound, 0)
    }
    expect(shelf.bytes()).toBe(60)
    const quiet = soundOf("quiet", 20)
    expect(shelf.add("quiet", quiet, 0)).toBe(true)
  })

  it("count while they are used, also when they have expired", () => {
    const shelf = SoundCache.make<Sound>(100)
    const sound = soundOf("a", 60, 50)
    shelf.add("x", sound, 0)
    sound.isUsed = true
    shelf.shrink(60)
    expect([shelf.find("x", 60), shelf.bytes()]).toEqual([null, 60])
    sound.isUsed = false
    shelf.shrink(60)
    expect(shelf.bytes()).toBe(0)
  })
})
