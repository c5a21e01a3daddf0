import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Commit, type Committed, Journal } from "../../src/runtime/store/journal/Journal.ts"
import * as Database from "./load/Database.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as SampleCommit from "./SampleCommit.ts"
import * as Service from "./load/Service.ts"

const rounds = 9
const committers = 64
const callsBatched = 2_048
const callsOneByOne = 512

/** The commits of whole calls from 64 committers: through the batch writer, and as a transaction each. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* measure.pipe(Effect.provide(context))
})

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const tenant = yield* Service.openTenant(0)
  let made = 0

  /** Each committer writes one call after the other, and each call's commits in their order. */
  const written = (calls: number, commit: (commit: Commit) => Effect.Effect<Committed>) =>
    Effect.suspend(() => {
      const lives = Array.from({ length: calls }, () => SampleCommit.life(tenant, `bench ${made++}`))
      const work = Effect.forEach(lives, (life) => Effect.forEach(life, commit, { discard: true }), {
        concurrency: committers,
        discard: true
      })
      return Rounds.timed(Effect.as(work, lives.length * 4))
    })

  const results = yield* Rounds.interleaved(rounds, {
    batched: written(callsBatched, journal.commit),
    oneByOne: written(callsOneByOne, (commit) => Effect.orDie(sql.withTransaction(journal.commitWithin(commit))))
  })
  const batched = Rounds.medianRate(results.batched)
  const oneByOne = Rounds.medianRate(results.oneByOne)
  const ratio = Rounds.median(
    results.batched.map((rate, index) => rate.perSecond / (results.oneByOne[index]?.perSecond ?? NaN))
  )
  return [
    Report.against("batch writer / a transaction each", ratio.toFixed(1), "≥ 5", ratio >= 5),
    Report.figure(
      "  by CPU of Postgres and this process",
      (Rounds.micros(oneByOne) / Rounds.micros(batched)).toFixed(1)
    ),
    Report.figure("batch writer, commits/s", Report.number(batched.perSecond)),
    Report.figure("a transaction each, commits/s", Report.number(oneByOne.perSecond)),
    Report.figure("batch writer, CPU µs a commit, ours / Postgres", Report.cpu(batched)),
    Report.figure("a transaction each, CPU µs a commit, ours / Postgres", Report.cpu(oneByOne))
  ]
})
