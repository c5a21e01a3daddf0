import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import { CallId, LegId, TenantId, WorkId } from "../../src/domain/Id.ts"
import * as Pcm from "../../src/telephony/recording/Pcm.ts"
import * as DiskSpool from "../../src/ports/storage/disk/DiskSpool.ts"
import { Encoders } from "../../src/ports/storage/disk/Encoders.ts"
import { Spool, type Spooled } from "../../src/ports/storage/Spool.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"

/** The length of a recording of both sides, in pieces of the size that a call gives. */
const seconds = 60
const chunkMs = 100
const rounds = 5
const rates = [8000, 16_000] as const

/** The CPU time of all threads of this process, in milliseconds. */
const costOf = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const before = process.cpuUsage()
    yield* work
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1000
  })

/**
 * The cost of a recorder outside the media thread, which `forward` measures: writing during the call, then its file.
 */
export const run = Effect.gen(function* () {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "trunkline-bench-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const measured = Effect.fnUntraced(function* (
    rate: (typeof rates)[number],
    format: Spooled["format"],
    round: number
  ) {
    const spool = yield* Spool
    const recording: Spooled = {
      id: WorkId.make(`${rate} ${format} ${round}`),
      callId: CallId.make("call"),
      legId: LegId.make("leg"),
      tenantId: TenantId.make("tenant"),
      channels: "dual",
      format
    }
    const samples = Tone.sine(440, -12, chunkMs, rate)
    const pack = Pcm.make("dual")
    const writing = yield* costOf(
      Effect.gen(function* () {
        const writer = yield* spool.open(recording, { sampleRate: rate, channels: 2 })
        for (let at = 0; at < seconds * 1000; at += chunkMs)
          yield* writer.append(pack({ rate, at, tracks: [samples, samples] }, samples.length))
        yield* writer.close
      })
    )
    const finishing = yield* costOf(spool.finish(recording))
    yield* spool.remove(recording.id)
    return { writing, finishing }
  })

  return yield* Effect.gen(function* () {
    const figures: Array<Report.Figure> = []
    for (const rate of rates)
      for (const format of ["wav", "mp3"] as const) {
        yield* measured(rate, format, -1)
        const all = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) => measured(rate, format, round))
        const writing = Rounds.median(all.map((one) => one.writing))
        const finishing = Rounds.median(all.map((one) => one.finishing))
        const name = `${format.toUpperCase()}, two channels of ${Report.number(rate)} Hz`
        figures.push(
          Report.figure(`${name}: writing, CPU µs for 20 ms`, Report.number((writing * 1000) / (seconds * 50))),
          Report.figure("  its file, CPU ms for a minute", Report.number(finishing))
        )
      }
    return figures
  }).pipe(Effect.provide(DiskSpool.layer(root).pipe(Layer.provide(Encoders.layer))))
}).pipe(Effect.orDie)
