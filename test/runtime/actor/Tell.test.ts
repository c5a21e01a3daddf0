import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Tell from "../../../src/runtime/actor/Tell.ts"
import * as Random from "../../support/Random.ts"

/**
 * A sender and a receiver, each with a journal, and a network that loses, repeats and reorders the messages in between.
 */
interface World {
  readonly said: Array<number>
  readonly taken: Array<number>
  outbox: Tell.Outbox<number>
  last: number
  tells: Array<Tell.Tell<number>>
  acknowledgements: Array<number>
}

const moves = ["say", "send", "deliver", "acknowledge", "lose", "repeat", "lose_ack", "repeat_ack"] as const

interface Move {
  readonly does: (typeof moves)[number]
  readonly which: number
}

const pick = <A>(from: Array<A>, which: number): A | undefined => from[which % Math.max(1, from.length)]

const takeOut = <A>(from: Array<A>, which: number): A | undefined => from.splice(which % Math.max(1, from.length), 1)[0]

const move = (world: World, { does, which }: Move): void => {
  switch (does) {
    case "say":
      world.outbox = Tell.say(world.outbox, which)
      world.said.push(which)
      return
    // A restarted sender does the same, because its outbox is in its rows.
    case "send":
      return void world.tells.push(...world.outbox.open)
    case "deliver": {
      const tell = takeOut(world.tells, which)
      if (tell === undefined) return
      const heard = Tell.hear(world.last, tell.n)
      if (heard === "early") return
      if (heard === "next") {
        world.taken.push(tell.body)
        world.last = tell.n
      }
      return void world.acknowledgements.push(world.last)
    }
    case "acknowledge": {
      const n = takeOut(world.acknowledgements, which)
      if (n !== undefined) world.outbox = Tell.acknowledged(world.outbox, n)
      return
    }
    case "lose":
      return void takeOut(world.tells, which)
    case "lose_ack":
      return void takeOut(world.acknowledgements, which)
    case "repeat": {
      const tell = pick(world.tells, which)
      return void (tell !== undefined && world.tells.push(tell))
    }
    case "repeat_ack": {
      const n = pick(world.acknowledgements, which)
      return void (n !== undefined && world.acknowledgements.push(n))
    }
  }
}

describe("What one entity tells another", () => {
  it("is taken when it is the next, known when it was heard, and waits when one before it is missing", () =>
    expect([1, 2, 3, 4].map((n) => Tell.hear(2, n))).toStrictEqual(["repeated", "repeated", "next", "early"]))

  it.prop(
    "arrives once and in order, whatever is lost, repeated or comes in another order on the way",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const world: World = { said: [], taken: [], outbox: Tell.nothing, last: 0, tells: [], acknowledgements: [] }
      for (let count = 0; count < 150; count++) {
        move(world, { does: moves[random.below(moves.length)] ?? "say", which: random.below(1_000) })
        expect(world.taken.at(-1)).toBe(world.said[world.taken.length - 1])
        expect(world.said.length - world.taken.length).toBeLessThanOrEqual(world.outbox.open.length)
      }
      // The network works again, and each open tell is sent until it is acknowledged.
      for (let round = 0; round < 2; round++) {
        move(world, { does: "send", which: 0 })
        while (world.tells.length > 0) move(world, { does: "deliver", which: 0 })
        while (world.acknowledgements.length > 0) move(world, { does: "acknowledge", which: 0 })
      }
      expect(world.taken).toStrictEqual(world.said)
      expect(world.outbox.open).toStrictEqual([])
      expect(world.outbox.last).toBe(world.said.length)
    },
    { arbitrary: { runs: 200 } }
  )
})
