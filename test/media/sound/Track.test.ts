import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Piece } from "../../../src/protocol/audio/file/Pieces.ts"
import { AudioUnreadable, DecoderLost } from "../../../src/media/sound/AudioDecoder.ts"
import * as Track from "../../../src/media/sound/Track.ts"

/** A decoder of a sound of this many pieces, each with one sample, its number. */
const setup = (
  pieces: number,
  options: { readonly lostAt?: number; readonly faultAt?: number; readonly mayKeep?: boolean } = {}
) => {
  const counts = { opened: 0, decoded: 0, open: 0 }
  const file = { bytes: new Uint8Array(1), contentType: null }
  const track = Track.make({
    file,
    rate: 8000,
    run: (effect) => void Effect.runFork(effect),
    mayKeep: () => options.mayKeep ?? true,
    decoder: {
      open: () => {
        let at = 0
        counts.opened++
        counts.open++
        const isFirst = counts.opened === 1
        return {
          next: () =>
            Effect.suspend((): Effect.Effect<Piece, AudioUnreadable | DecoderLost> => {
              if (isFirst && at === options.lostAt) return Effect.fail(new DecoderLost())
              if (at === options.faultAt) return Effect.fail(new AudioUnreadable({ reason: "decode_limit" }))
              counts.decoded++
              const samples = Int16Array.of(at)
              return Effect.succeed({ samples, isLast: ++at === pieces })
            }),
          close: () => void counts.open--
        }
      }
    }
  })
  const read = (index: number) => Effect.map(track.piece(index, "t"), ({ samples }) => samples[0])
  return { counts, track, read }
}

describe("A sound at one rate", () => {
  it.effect("is decoded once, whoever reads it and however often", () =>
    Effect.gen(function* () {
      const { counts, read } = setup(3)
      for (const index of [0, 1, 2, 0, 1, 2]) expect(yield* read(index)).toBe(index)
      const both = [read(0), read(1), read(2)]
      expect(yield* Effect.all([...both, ...both], { concurrency: "unbounded" })).toEqual([0, 1, 2, 0, 1, 2])
      expect(counts).toEqual({ opened: 1, decoded: 3, open: 0 })
    })
  )

  it.effect("is decoded on from where a decoder stands, and from the beginning where none does", () =>
    Effect.gen(function* () {
      const { counts, read, track } = setup(10, { mayKeep: false })
      for (let index = 0; index < 8; index++) expect(yield* read(index)).toBe(index)
      expect(counts.opened).toBe(1)
      expect(yield* read(3)).toBe(3)
      expect(counts).toEqual({ opened: 2, decoded: 12, open: 2 })
      expect(yield* read(4)).toBe(4)
      expect(yield* read(8)).toBe(8)
      expect(counts.opened).toBe(2)
      track.trim(1)
      expect(counts.open).toBe(1)
      track.trim(0)
      expect(counts.open).toBe(0)
    })
  )

  it.effect("is begun again where the decoding thread was lost, and goes on with the same piece", () =>
    Effect.gen(function* () {
      const { counts, read } = setup(6, { lostAt: 3, mayKeep: false })
      for (let index = 0; index < 6; index++) expect(yield* read(index)).toBe(index)
      expect(counts).toMatchObject({ opened: 2, open: 0 })
    })
  )

  it.effect("tells why it cannot be read on, each time that it is asked", () =>
    Effect.gen(function* () {
      const { counts, read } = setup(6, { faultAt: 2 })
      yield* read(0)
      yield* read(1)
      for (let time = 0; time < 2; time++) expect(yield* Effect.flip(read(2))).toMatchObject({ reason: "decode_limit" })
      expect(counts.open).toBe(0)
    })
  )
})
