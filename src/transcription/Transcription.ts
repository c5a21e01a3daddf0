import { Context, Effect, Layer } from "effect"
import { ApiError } from "../domain/ApiError.ts"
import type { CallId, TenantId } from "../domain/Id.ts"
import type { ListWrite } from "../store/ListTable.ts"
import { type Segment, Segments, type Session, Sessions } from "./TranscriptionList.ts"
import * as TranscriptionRepo from "./TranscriptionRepo.ts"
import * as TranscriptionView from "./TranscriptionView.ts"

export type { Segment, Session, Word } from "./TranscriptionList.ts"
export { Transcription as View } from "./TranscriptionView.ts"
export type { Transcription } from "./TranscriptionView.ts"

/** The row of a session as it is now, for the commit that makes it so. */
export const session = (now: Session): ReadonlyArray<ListWrite> => Sessions.writes(null, now)

/** The row of a phrase, for the commit that tells it. */
export const segment = (told: Segment): ReadonlyArray<ListWrite> => Segments.writes(null, told)

/** Transcripts of calls, guide/transcription.md#the-transcript. */
export class Transcriptions extends Context.Service<
  Transcriptions,
  {
    /** The newest session of a call, with what has been said so far; `not_found`: it never had one. */
    readonly find: (tenantId: TenantId, callId: CallId) => Effect.Effect<TranscriptionView.Transcription, ApiError>
  }
>()("trunkline/transcription/Transcriptions") {
  static readonly layer = Layer.effect(
    Transcriptions,
    Effect.gen(function* () {
      const repo = yield* TranscriptionRepo.make
      return {
        find: Effect.fnUntraced(function* (tenantId, callId) {
          const newest = yield* repo.newest(tenantId, callId)
          if (newest === null) return yield* ApiError.of("not_found", "this call has no transcription")
          return TranscriptionView.of(newest, yield* repo.segments(newest))
        })
      }
    })
  )
}
