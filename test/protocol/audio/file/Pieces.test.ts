import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Pieces from "../../../../src/protocol/audio/file/Pieces.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
/** A decoding of 1, 2, 3 and so on in stretches of these lengths. */
const decodingOf = (lengths: ReadonlyArray<number>) => {
  let sample = 0
  let stretch = 0
  return {
    next: () => {
      const length = lengths[stretch++]
      return Result.succeed(length === undefined ? null : Int16Array.from({ length }, () => ++sample))
    },
    free: () => undefined
  }
}
const never = () => false

const all = (pieces: Pieces.Pieces): ReadonlyArray<Pieces.Piece> => {
  const made: Array<Pieces.Piece> = []
  for (let isOver = false; !isOver;) {
    const piece = Result.getOrThrow(pieces.next(never))
    if (piece === null) return expect.fail("it was not told to stop")
    made.push(piece)
    isOver = piece.isLast
  }
  return made
}

describe("Pieces of a sound", () => {
  it.prop(
    "hold every sample once and in order, and the last is long enough to be faded out",
    [
      Schema.Array(between(0, 250)).check(Schema.isMinLength(1), Schema.isMaxLength(20)),
      between(1, 300),
      between(1, 100)
    ],
    ([lengths, length, least]) => {
      const total = lengths.reduce((sum, each) => sum + each, 0)
      if (total === 0) return
      const pieces = all(Pieces.make(decodingOf(lengths), length, least))
      expect(pieces.flatMap(({ samples }) => [...samples])).toEqual(Array.from({ length: total }, (_, i) => i + 1))
      for (const { isLast, samples } of pieces.slice(0, -1)) {
        expect(isLast).toBe(false)
        expect(samples.length).toBe(length)
      }
      const last = pieces.at(-1)?.samples.length ?? 0
      expect(last).toBeLessThan(length + least)
      expect(last).toBeGreaterThanOrEqual(Math.min(least, total))
    }
  )

  it("goes on where it was told to stop", () => {
    const pieces = Pieces.make(decodingOf([100, 100, 100]), 150, 10)
    expect(Result.getOrThrow(pieces.next(() => true))).toBeNull()
    let calls = 0
    expect(Result.getOrThrow(pieces.next(() => ++calls > 1))).toBeNull()
    expect(Result.getOrThrow(pieces.next(never))?.samples[149]).toBe(150)
    expect(Result.getOrThrow(pieces.next(never))).toMatchObject({ isLast: true, samples: { length: 150 } })
  })
})
