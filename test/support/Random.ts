import * as Netem from "./network/Netem.ts"

/** Choices that look random and follow from a seed. */
export interface Random {
  /** From 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  readonly chance: (probability: number) => boolean
}

export const make = (seed: number): Random => {
  const next = Netem.random(seed)
  return { below: (limit) => Math.floor(next() * limit), chance: (probability) => next() < probability }
}
