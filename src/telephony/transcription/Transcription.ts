import { Context, Effect, Layer, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import { ApiError } from "../../domain/ApiError.ts"
import type { CallId, TenantId } from "../../domain/Id.ts"
import type { ListWrite } from "../../runtime/store/list/ListTable.ts"
import * as Portions from "../../runtime/store/list/Portions.ts"
import { type Segment, Segments, type Session, Sessions } from "./TranscriptionList.ts"
import * as TranscriptionRepo from "./TranscriptionRepo.ts"
import * as TranscriptionView from "./TranscriptionView.ts"

export type { Session } from "./TranscriptionList.ts"
export { Transcription as View } from "./TranscriptionView.ts"

/** The present row of a session, for the commit that changes it. */
export const session = (now: Session): ReadonlyArray<ListWrite> => Sessions.writes(null, now)

/** The row of a phrase, for the commit that reports it. */
export const segment = (told: Segment): ReadonlyArray<ListWrite> => Segments.writes(null, told)

/** How many transcripts are erased in one portion; one may have thousands of phrases. */
const erased = 20

/** Transcripts of calls, guide/transcription.md#the-transcript. */
export class Transcriptions extends Context.Service<
  Transcriptions,
  {
    /**
     * The newest session of a call, with its phrases so far: a `View` as JSON, in pieces that are read on demand. It
     * can be run once. `not_found`: the call never had one.
     */
    readonly find: (tenantId: TenantId, callId: CallId) => Effect.Effect<Stream.Stream<string>, ApiError>
    /** Deletes a tenant's transcripts, portion by portion; `told` gets the size of each, in its transaction. */
    readonly erase: (tenantId: TenantId, told: (count: number) => Effect.Effect<unknown>) => Effect.Effect<void>
  }
>()("trunkline/transcription/Transcriptions") {
  static readonly layer = Layer.effect(
    Transcriptions,
    Effect.gen(function* () {
      const repo = yield* TranscriptionRepo.make
      const sql = yield* SqlClient.SqlClient
      return {
        erase: Effect.fn("Transcriptions.erase")(function* (tenantId, told) {
          const some = repo.eraseSome(tenantId, erased).pipe(
            Effect.tap((count) => (count === 0 ? Effect.void : told(count))),
            sql.withTransaction,
            Effect.orDie
          )
          while ((yield* some) === erased);
        }),
        find: Effect.fnUntraced(function* (tenantId, callId) {
          const newest = yield* repo.newest(tenantId, callId)
          if (newest === null) return yield* ApiError.of("not_found", "this call has no transcription")
          const { write } = TranscriptionView.writer(newest)
          return yield* Portions.stream((after: number | null) =>
            repo.segments(newest, after ?? 0, (segments, isLast) => ({
              part: write(segments, isLast),
              next: isLast ? null : (segments.at(-1)?.sequence ?? null)
            }))
          )
        })
      }
    })
  )
}
