import { Effect } from "effect"
import * as CpuTime from "./load/CpuTime.ts"

/** The middle value, or the mean of the two in the middle for an even count. NaN for an empty list. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[half] ?? NaN) : ((sorted[half - 1] ?? NaN) + (sorted[half] ?? NaN)) / 2
}

/** The value that a share `p` (0 to 1) of the sorted values does not exceed. */
export const percentile = (sorted: ArrayLike<number>, p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? NaN

/** The slope of the least-squares line through points `[x, y]`. */
export const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}

interface Rate {
  readonly perSecond: number
  /** The CPU time of this process in microseconds per operation. */
  readonly cpuMicros: number
  /** The CPU time of Postgres in microseconds per operation. */
  readonly postgresMicros: number
}

/** Runs `work`, which returns its number of operations. */
export const timed = <E, R>(work: Effect.Effect<number, E, R>) =>
  Effect.gen(function* () {
    const before = yield* CpuTime.read
    const startedAt = performance.now()
    const operations = yield* work
    const elapsedMs = performance.now() - startedAt
    const after = yield* CpuTime.read
    return {
      perSecond: (operations * 1000) / elapsedMs,
      cpuMicros: (after.own - before.own) / operations,
      postgresMicros: (after.postgres - before.postgres) / operations
    } satisfies Rate
  })

export const medianRate = (rates: ReadonlyArray<Rate>): Rate => ({
  perSecond: median(rates.map((rate) => rate.perSecond)),
  cpuMicros: median(rates.map((rate) => rate.cpuMicros)),
  postgresMicros: median(rates.map((rate) => rate.postgresMicros))
})

/** All measured CPU time of an operation. */
export const micros = (rate: Rate): number => rate.cpuMicros + rate.postgresMicros

/** `--rows large,many` on the command line runs these variants alone, if a bench has them. */
const isWanted = (variant: string): boolean => {
  const at = process.argv.indexOf("--rows")
  return at === -1 || (process.argv[at + 1] ?? "").split(",").includes(variant)
}

/**
 * Runs a warm-up of each variant, then `rounds` times all of them in turn. A slow machine slows all of them equally, so
 * that ratios hold where absolute figures do not.
 */
export const interleaved = <Name extends string, A, E, R>(
  rounds: number,
  variants: Readonly<Record<Name, Effect.Effect<A, E, R>>>
): Effect.Effect<Readonly<Record<Name, ReadonlyArray<A>>>, E, R> =>
  Effect.gen(function* () {
    const all = Object.keys(variants) as Array<Name>
    const results = Object.fromEntries(all.map((name) => [name, []])) as unknown as Record<Name, Array<A>>
    const names = all.filter(isWanted)
    for (const name of names) yield* variants[name]
    for (let round = 0; round < rounds; round++) for (const name of names) results[name].push(yield* variants[name])
    return results
  })
