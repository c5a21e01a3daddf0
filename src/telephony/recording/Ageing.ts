import { Effect, Metric } from "effect"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { Jobs } from "../../runtime/job/Jobs.ts"
import type { Storage } from "../../ports/storage/Storage.ts"
import * as File from "./File.ts"
import type { RecordingChange } from "./RecordingChange.ts"
import type { RecordingRow } from "./RecordingList.ts"
import type * as RecordingRepo from "./RecordingRepo.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The number of recordings in one batch. */
const batch = 500
/** How many files are moved concurrently. */
const concurrency = 8

/** How many days recordings stay available, and after how many they expire. */
export interface Days {
  readonly archive: number
  readonly expire: number
}

const moved = Metric.counter("recordings_aged_total", { description: "Recordings that were archived, or have expired" })

type Repo = Effect.Success<typeof RecordingRepo.make>

/**
 * Archives and expires recordings with age, guide/recordings.md#states: files move to the archive, and are later
 * removed. The row follows the file, so a step that was cut off is repeated; a missing file leads to `expired`.
 */
export const make = (of: {
  readonly jobs: Jobs["Service"]
  readonly repo: Repo
  readonly change: RecordingChange
  readonly storage: Storage["Service"]
  readonly days: Days
}) => {
  const { change, days, jobs, repo, storage } = of

  const archive = (row: RecordingRow) =>
    storage.move(File.keyOf(row, "available"), File.keyOf(row, "archived")).pipe(
      Effect.andThen(change(row.id, ["available"], "archived", Audit.system)),
      Effect.flatMap((isChanged) =>
        // The recording was deleted meanwhile, by a request that knew only the first place of its file.
        isChanged
          ? Metric.update(Metric.withAttributes(moved, { to: "archived" }), 1)
          : storage.remove(File.keyOf(row, "archived"))
      ),
      Effect.catchIf(
        ({ reason }) => reason === "missing",
        () => Effect.asVoid(change(row.id, ["available"], "expired", Audit.system))
      )
    )

  const expire = (row: RecordingRow) =>
    Effect.andThen(
      Effect.forEach(["available", "archived"] as const, (status) => storage.remove(File.keyOf(row, status)), {
        discard: true
      }),
      Effect.andThen(
        change(row.id, ["available", "archived"], "expired", Audit.system),
        Metric.update(Metric.withAttributes(moved, { to: "expired" }), 1)
      )
    )

  /** Works batch by batch. A file that cannot be moved does not stop the others; the job is repeated for it. */
  const each = <E>(
    due: Effect.Effect<ReadonlyArray<RecordingRow>>,
    age: (row: RecordingRow) => Effect.Effect<void, E>
  ): Effect.Effect<void, E> =>
    Effect.gen(function* () {
      while (true) {
        const rows = yield* due
        const [, failed] = yield* Effect.partition(rows, age, { concurrency })
        const [error] = failed
        if (error !== undefined) return yield* Effect.fail(error)
        if (rows.length < batch) return
      }
    })

  const round = Effect.andThen(
    each(repo.toExpire(days.expire * dayMs, batch), expire),
    each(repo.toArchive(days.archive * dayMs, batch), archive)
  )

  jobs.declare({
    kind: "recording.ageing",
    everyMs: hourMs,
    concurrency: 1,
    timeoutMs: 6 * hourMs,
    retry: { attempts: Infinity, firstMs: 60_000, maxMs: hourMs },
    run: () => round
  })
  return round
}
