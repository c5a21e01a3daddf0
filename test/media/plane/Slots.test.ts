import { describe, expect, it } from "@effect/vitest"
import * as Slots from "../../../src/media/plane/Slots.ts"

/** Records its turns. */
const ticked = () => {
  const turns: Array<number> = []
  return { turns, tick: (now: number) => void turns.push(now), skip: () => undefined }
}

describe("A slot", () => {
  it("makes up for turns that are late, but not for those from before somebody came or was awake", () => {
    const slots = Slots.make()
    const [first, second, third] = [ticked(), ticked(), ticked()]
    slots.add(first, 1000)
    slots.add(second, 1000)
    slots.tick(1040)
    slots.rest(second)
    slots.tick(1060)
    slots.wake(second, 1130)
    slots.add(third, 1130)
    slots.tick(1140)
    expect(first.turns).toEqual([1020, 1040, 1060, 1080, 1100, 1120, 1140])
    slots.tick(1160)
    expect(second.turns).toEqual([1001, 1021, 1141])
    expect(third.turns).toEqual([1142])
  })
})
