/** Two carriers that call each other over a network that loses, delays, duplicates and reorders. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, FiberSet } from "effect"
import type { Endpoint } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as Netem from "../../support/network/Netem.ts"
import * as Rig from "./Rig.ts"

interface Weather {
  readonly loss: number
  readonly duplicate: number
  readonly jitterMs: number
}

const network = Effect.fnUntraced(function* (seed: number, weather: Weather) {
  const random = Netem.random(seed)
  const run = yield* FiberSet.makeRuntime()
  const caller = yield* Rig.make(`caller ${seed}`, Rig.self)
  const callee = yield* Rig.make(`callee ${seed}`, Rig.peer)
  yield* callee.know([Rig.self.address])
  const join = (from: Endpoint, to: Rig.Rig) => (bytes: Uint8Array) => {
    const copies = (random() < weather.loss ? 0 : 1) + (random() < weather.duplicate ? 1 : 0)
    for (let copy = 0; copy < copies; copy++) {
      const way = Effect.sleep(20 + random() * weather.jitterMs)
      run(Effect.andThen(way, () => Effect.sync(() => to.deliverBytes(bytes, from))))
    }
  }
  caller.wire = join(Rig.self, callee)
  callee.wire = join(Rig.peer, caller)
  return { caller, callee }
})

const answer = (callee: Rig.Rig) => callee.command({ ...Rig.ofOffered(callee), type: "answer" })

const bad: Weather = { loss: 0.2, duplicate: 0.1, jitterMs: 300 }
const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1)

/** Both sides forget the call: no leg, no transaction. */
const nothingIsLeft = Effect.fnUntraced(function* (rigs: ReadonlyArray<Rig.Rig>) {
  yield* Rig.pass(120_000)
  for (const rig of rigs) expect(yield* rig.stats).toMatchObject(Rig.nothing)
})

describe("over a bad network", () => {
  it.effect.each(seeds)("a call is offered once, answered once and ended once on each side (seed %i)", (seed) =>
    Effect.gen(function* () {
      const { callee, caller } = yield* network(seed, bad)
      yield* caller.command(Rig.dial)
      yield* Rig.pass(20_000)
      expect(callee.offers.length).toBe(1)
      yield* answer(callee)
      yield* Rig.pass(20_000)
      expect([Rig.words(caller.told()), Rig.words(callee.told())]).toEqual([["answered"], ["answered"]])
      yield* caller.command(Rig.hangup)
      yield* Rig.pass(30_000)
      // The answer to the BYE may be late.
      const callerTold = caller.told().filter(({ type }) => type !== "leaving")
      expect([Rig.words(callerTold), Rig.words(callee.told())]).toEqual([
        ["ended hangup - near"],
        ["ended hangup - far"]
      ])
      yield* nothingIsLeft([caller, callee])
    })
  )

  it.effect.each(seeds)("a call that is hung up at any moment ends once, and the other side knows (seed %i)", (seed) =>
    Effect.gen(function* () {
      const { callee, caller } = yield* network(seed, bad)
      const random = Netem.random(seed)
      yield* caller.command(Rig.dial)
      yield* Rig.pass(Math.floor(random() * 1_500))
      if (callee.offers.length > 0) yield* answer(callee)
      yield* Rig.pass(Math.floor(random() * 1_500))
      yield* caller.command(Rig.hangup)
      yield* Rig.pass(60_000)
      const ends = (rig: Rig.Rig) => Rig.words(rig.told()).filter((word) => word.startsWith("ended"))
      expect(ends(caller).length).toBe(1)
      expect(ends(callee).length).toBe(callee.offers.length)
      yield* nothingIsLeft([caller, callee])
    })
  )
})
