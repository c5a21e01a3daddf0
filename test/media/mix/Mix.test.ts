import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Frame from "../../../src/media/Frame.ts"
import * as Mix from "../../../src/media/mix/Mix.ts"
import type { Source } from "../../../src/media/mix/Source.ts"

/** A source that gives a constant while it is on, and records its calls. */
const constant = (value: number) => {
  const frame = Frame.make(8000)
  frame.samples.fill(value)
  const state = { on: true, asked: 0, passed: 0, wanted: 0, closed: false }
  const source: Source = {
    next: (_, wanted) => {
      state.asked++
      state.wanted = wanted
      return state.on ? frame : null
    },
    pass: () => void state.passed++,
    ready: () => state.on,
    close: () => {
      state.closed = true
    }
  }
  return { source, state, frame }
}
const setup = () => {
  const mix = Mix.make()
  let now = 0
  const next = () => mix.next(8000, (now += 20))
  /** The first sample of the next frame, the one after 6 ms, and the last. */
  const edges = () => {
    const { samples } = next()
    return [samples[0] ?? 0, samples[48] ?? 0, samples[159] ?? 0]
  }
  return { mix, next, edges }
}

describe("What a leg hears", () => {
  it("is silence without a source that sounds", () => {
    const { edges, mix } = setup()
    const one = constant(1000)
    one.state.on = false
    mix.add(one.source, "playback")
    expect(edges()).toEqual([0, 0, 0])
  })

  it("is the very frame of a source that sounds alone, once it has come in over 5 ms", () => {
    const { mix, next } = setup()
    const one = constant(1000)
    mix.add(one.source, "playback")
    const first = next().samples
    expect(first[0]).toBeLessThan(10)
    expect(first[39]).toBeGreaterThan(990)
    expect([...first.subarray(40)]).toEqual(Array.from({ length: 120 }, () => 1000))
    expect(next()).toBe(one.frame)
  })

  it("begins with another leg over 5 ms whenever that sounds, also when it could not hear before", () => {
    const { mix, next } = setup()
    const one = constant(1000)
    one.state.on = false
    mix.add(one.source, "junction")
    for (let n = 0; n < 3; n++) {
      next()
      expect(mix.isOnly(one.source)).toBe(false)
    }
    one.state.on = true
    const isFadedIn = (): void => {
      const { samples } = next()
      expect(samples[0]).toBeLessThan(10)
      expect(samples[39]).toBeGreaterThan(990)
      expect(mix.isOnly(one.source)).toBe(true)
      expect(next()).toBe(one.frame)
    }
    isFadedIn()
    one.state.on = false
    next()
    // No other sound is heard meanwhile, so its packets may be forwarded.
    expect(mix.isOnly(one.source)).toBe(true)
    one.state.on = true
    isFadedIn()
    mix.pass(0)
    expect(mix.isOnly(one.source)).toBe(false)
    isFadedIn()
  })

  it("is the sum of those that sound together, limited where they are too loud", () => {
    const { edges, mix } = setup()
    for (const value of [1000, 200, -50]) mix.add(constant(value).source, "stream")
    edges()
    expect(edges()).toEqual([1150, 1150, 1150])
    for (let i = 0; i < 3; i++) mix.add(constant(20_000).source, "stream")
    edges()
    const [, behind, last] = edges()
    expect(behind).toBe(29_204)
    expect(last).toBe(29_204)
  })

  it("gives sources time to go on, or to wait, each once in every round", () => {
    const { mix, next } = setup()
    const [digits, playback, other] = [constant(100), constant(10), constant(1)]
    digits.state.on = false
    mix.add(other.source, "junction")
    mix.add(playback.source, "playback")
    mix.add(digits.source, "digits", "silenced")
    const rounds = (count: number) => {
      for (let i = 0; i < count; i++) next()
    }
    rounds(5)
    digits.state.on = true
    rounds(7)
    digits.state.on = false
    rounds(3)
    for (const { state } of [digits, playback, other]) expect(state.asked + state.passed).toBe(15)
    expect(playback.state.asked).toBe(5 + 1 + 3)
  })

  it("silences what stands behind, which fades out one frame before and in behind it", () => {
    const { edges, mix } = setup()
    const [digits, playback] = [constant(100), constant(1000)]
    digits.state.on = false
    mix.add(playback.source, "playback")
    mix.add(digits.source, "digits", "silenced")
    edges()
    digits.state.on = true
    const [before, later, last] = edges()
    expect(before).toBeGreaterThan(990)
    expect([later, last]).toEqual([0, 0])
    expect(playback.state.wanted).toBe(40)
    expect(edges()).toEqual([100, 100, 100])
    digits.state.on = false
    const [first, behind] = edges()
    expect(first).toBeLessThan(10)
    expect(behind).toBe(1000)
    expect(playback.state.wanted).toBe(160)
  })

  it("begins at once what silences others when none of them sounds", () => {
    const { edges, mix } = setup()
    const [digits, playback] = [constant(100), constant(1000)]
    mix.add(playback.source, "playback")
    mix.add(digits.source, "digits", "silenced")
    playback.state.on = false
    edges()
    expect(edges()).toEqual([100, 100, 100])
  })

  it("does not begin with what is silenced as it begins", () => {
    const { edges, mix } = setup()
    const [digits, playback] = [constant(100), constant(1000)]
    for (const { state } of [digits, playback]) state.on = false
    mix.add(playback.source, "playback")
    mix.add(digits.source, "digits", "silenced")
    edges()
    const { asked } = playback.state
    for (const { state } of [digits, playback]) state.on = true
    edges()
    expect(edges()).toEqual([100, 100, 100])
    expect(playback.state.asked).toBe(asked)
  })

  it("ducks what stands behind by 12 dB while another sounds", () => {
    const { edges, mix } = setup()
    const [announcement, other] = [constant(100), constant(1000)]
    announcement.state.on = false
    mix.add(announcement.source, "announcement", "ducked")
    mix.add(other.source, "junction")
    edges()
    announcement.state.on = true
    const [before, later] = edges()
    expect(before).toBeGreaterThan(1090)
    expect(later).toBe(350)
    expect(edges()).toEqual([350, 350, 350])
    announcement.state.on = false
    const [first, behind] = edges()
    expect(first).toBeLessThan(260)
    expect(behind).toBe(1000)
  })

  it("fades out what leaves, and closes it", () => {
    const { edges, mix } = setup()
    const one = constant(1000)
    mix.add(one.source, "junction")
    edges()
    mix.remove(one.source)
    const [first, later] = edges()
    expect(first).toBeGreaterThan(990)
    expect(later).toBe(0)
    expect(one.state.closed).toBe(true)
    expect(edges()).toEqual([0, 0, 0])
    expect(one.state.asked).toBe(2)
  })

  it("says whether one source is heard unchanged and no other has anything to say", () => {
    const { mix, next } = setup()
    const [one, other] = [constant(1000), constant(5)]
    other.state.on = false
    mix.add(one.source, "junction")
    mix.add(other.source, "playback")
    expect(mix.isOnly(one.source)).toBe(false)
    next()
    expect(mix.isOnly(one.source)).toBe(true)
    other.state.on = true
    expect(mix.isOnly(one.source)).toBe(false)
    next()
    other.state.on = false
    expect(mix.isOnly(one.source)).toBe(false)
    next()
    expect(mix.isOnly(one.source)).toBe(true)
    mix.remove(one.source)
    expect(mix.isOnly(one.source)).toBe(false)
  })

  it.each(["adds another before it", "removes itself", "removes the other", "closes the mix"] as const)(
    "calls each source once in a round in which one of them %s, and none that is closed",
    (what) => {
      const mix = Mix.make()
      const [early, late, added] = [constant(1), constant(2), constant(3)]
      let calls = 0
      const busy: Source = {
        ...early.source,
        next: () => {
          calls++
          if (calls !== 2) return null
          if (what === "adds another before it") mix.add(added.source, "digits")
          if (what === "removes itself") mix.remove(busy)
          if (what === "removes the other") mix.remove(late.source)
          if (what === "closes the mix") mix.close()
          return null
        }
      }
      mix.add(busy, "playback")
      mix.add(late.source, "junction")
      for (const now of [20, 40]) mix.next(8000, now)
      expect(calls).toBe(2)
      expect(late.state.asked + late.state.passed).toBe(what === "closes the mix" ? 1 : 2)
      expect(added.state.asked + added.state.passed).toBe(0)
      mix.next(8000, 60)
      expect(calls).toBe(what.startsWith("adds") || what === "removes the other" ? 3 : 2)
      expect(added.state.asked).toBe(what.startsWith("adds") ? 1 : 0)
      expect(late.state.closed).toBe(what === "removes the other" || what === "closes the mix")
    }
  )

  const act = Schema.Struct({
    who: Schema.Literals([0, 1, 2]),
    what: Schema.Literals(["toggle", "leave", "pass", "none"])
  })
  it.prop(
    "calls every source exactly once in every round, whatever sounds, comes and goes",
    { acts: Schema.Array(act).check(Schema.isMaxLength(30)) },
    ({ acts }) => {
      const mix = Mix.make()
      const all = [constant(30_000), constant(20_000), constant(-300)]
      const gone = new Set<number>()
      const behind = ["silenced", "ducked", "heard"] as const
      const ranks = ["digits", "announcement", "junction"] as const
      all.forEach(({ source }, i) => mix.add(source, ranks[i] ?? "junction", behind[i] ?? "heard"))
      for (const { what, who } of acts) {
        const one = all[who]
        if (one === undefined) continue
        if (what === "toggle") one.state.on = !one.state.on
        if (what === "leave" && !gone.has(who)) mix.remove(one.source)
        const before = all.map(({ state }) => state.asked + state.passed)
        if (what === "pass") mix.pass(0)
        else expect(mix.next(8000, 0).samples.length).toBe(160)
        all.forEach(({ state }, i) => {
          expect(state.asked + state.passed - (before[i] ?? 0)).toBe(gone.has(i) ? 0 : 1)
          expect(state.closed).toBe(gone.has(i) || (what === "leave" && i === who))
        })
        if (what === "leave") gone.add(who)
      }
    }
  )
})
