import { Clock, Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import type { Rendered, Slot } from "../../runtime/idempotency/Slot.ts"
import { receipt } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { Storage } from "../../ports/storage/Storage.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type { ListWrite } from "../../runtime/store/list/ListTable.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as Ageing from "./Ageing.ts"
import * as DownloadLink from "./DownloadLink.ts"
import * as File from "./File.ts"
import * as RecordingChange from "./RecordingChange.ts"
import { RecordingList, type Recorded, type RecordingRow } from "./RecordingList.ts"
import * as RecordingRepo from "./RecordingRepo.ts"
import * as RecordingView from "./RecordingView.ts"

export type { RecordingRow } from "./RecordingList.ts"
export type { Recording } from "./RecordingView.ts"
export { Recording as View } from "./RecordingView.ts"

/** The key of an available recording's file in the object store. */
export const fileKey = (row: RecordingRow): string => File.keyOf(row, "available")

/** The key of a recording's file in the object store; null: there is none. */
export const filePlace = (of: {
  readonly id: Id.RecordingId
  readonly format: string
  readonly status: string
}): string | null => (of.status === "available" || of.status === "archived" ? File.keyOf(of, of.status) : null)
export { path as downloadPath } from "./DownloadLink.ts"

/** The row of a recording, for the commit that holds its outcome. */
export const written = (recorded: Recorded): ReadonlyArray<ListWrite> => RecordingList.writes(null, recorded)

/** How many recordings are erased in one portion. */
const erased = 200

interface Caller {
  readonly tenantId: Id.TenantId
  readonly keyId: Id.ApiKeyId
  readonly name: string
  readonly ip: string | null
}

/** Recordings whose outcome is known, guide/recordings.md: finding, listing, downloading and deleting them. */
export class Recordings extends Context.Service<
  Recordings,
  {
    /** `not_found`; `recording_not_ready`: it is archived, expired or failed. */
    readonly find: (tenantId: Id.TenantId, id: Id.RecordingId) => Effect.Effect<RecordingView.Recording, ApiError>
    /** Newest first. */
    readonly list: (
      tenantId: Id.TenantId,
      filters: { readonly callId?: Id.CallId },
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<RecordingView.Recording>>
    /** Answers 204; a job removes its file afterwards. `not_found`. */
    readonly remove: (caller: Caller, id: Id.RecordingId, slot: Slot | null) => Effect.Effect<Rendered, ApiError>
    /** The recordings of a call, oldest first. */
    readonly ofCall: (tenantId: Id.TenantId, callId: Id.CallId) => Effect.Effect<ReadonlyArray<RecordingView.Recording>>
    /** The recording that a link leads to; null: none that can be downloaded. */
    readonly linked: (link: {
      readonly file: string
      readonly expires: string
      readonly signature: string
    }) => Effect.Effect<RecordingRow | null>
    /** Marks a recording as expired, because its file is missing in the store. */
    readonly gone: (id: Id.RecordingId) => Effect.Effect<void>
    /** A fresh link to the file of a recording. */
    readonly link: (of: { readonly id: Id.RecordingId; readonly format: "mp3" | "wav" }) => Effect.Effect<string>
    /** Whether the recording's outcome is that it was stored. */
    readonly isStored: (id: Id.RecordingId) => Effect.Effect<boolean>
    /** Brings a recording back from the archive: `not_found`, or a conflict unless it is archived. */
    readonly restore: (id: Id.RecordingId) => Effect.Effect<RecordingView.Recording, ApiError>
    /**
     * Removes the files of a tenant, portion by portion; the rows become `expired`. `told` gets the size of each
     * portion, in its transaction. Fails when a file cannot be removed; a repetition continues with the rest.
     */
    readonly erase: (
      tenantId: Id.TenantId,
      told: (count: number) => Effect.Effect<unknown>
    ) => Effect.Effect<void, unknown>
    /** One round of the ageing job. */
    readonly age: Effect.Effect<void, unknown>
  }
>()("trunkline/recording/Recordings") {
  static readonly layer = (options: { readonly baseUrl: string; readonly days: Ageing.Days }) =>
    Layer.effect(
      Recordings,
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        const jobs = yield* Jobs
        const storage = yield* Storage
        const vault = yield* Vault
        const repo = yield* RecordingRepo.make
        const change = yield* RecordingChange.make(repo)
        const age = Ageing.make({ jobs, repo, change, storage, days: options.days })

        const linkAt = (of: { readonly id: Id.RecordingId; readonly format: "mp3" | "wav" }, now: number): string =>
          options.baseUrl + DownloadLink.sign(vault.keys(), DownloadLink.fileOf(of), now)
        const viewAt = (row: RecordingRow, now: number) =>
          RecordingView.of(row, row.status === "available" ? linkAt(row, now) : null)

        const removal = "recording.removal"
        jobs.declare({
          kind: removal,
          concurrency: 4,
          timeoutMs: 120_000,
          // The attempts last about two weeks; after that the operator has to act.
          retry: { attempts: 400, firstMs: 5_000, maxMs: 3_600_000 },
          run: ({ key }) => storage.remove(key)
        })

        return Recordings.of({
          find: Effect.fnUntraced(function* (tenantId, id) {
            const row = yield* repo.find(tenantId, id)
            if (row === null) return yield* notFound
            if (row.status !== "available")
              return yield* ApiError.of("recording_not_ready", `the recording is ${row.status}`)
            return viewAt(row, yield* Clock.currentTimeMillis)
          }),
          list: (tenantId, filters, window) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              repo.list(tenantId, filters, window, (row) => viewAt(row, now))
            ),
          remove: Effect.fn("Recordings.remove")(function* (caller, id, slot) {
            const at = yield* Clock.currentTimeMillis
            const rendered: Rendered = { status: 204, body: null }
            const { keyId, name, tenantId } = caller
            const row = yield* Effect.gen(function* () {
              const row = yield* repo.remove(tenantId, id)
              if (row === null) return null
              for (const status of ["available", "archived"] as const)
                yield* jobs.enqueue({ kind: removal, key: File.keyOf(row, status), tenantId })
              const line = Audit.line({
                tenantId,
                at,
                seed: entropy.hex(16),
                actor: { type: "api_key", id: keyId, name },
                ip: caller.ip,
                action: "recording.deleted",
                resourceId: id
              })
              yield* journal.commitWithin({ ...empty, audit: [line], receipt: receipt(slot, rendered, at) })
              return row
            }).pipe(transaction)
            if (row === null) return yield* notFound
            return rendered
          }, Effect.uninterruptible),
          ofCall: Effect.fnUntraced(function* (tenantId, callId) {
            const now = yield* Clock.currentTimeMillis
            return (yield* repo.ofCall(tenantId, callId)).map((row) => viewAt(row, now))
          }),
          linked: Effect.fnUntraced(function* (link) {
            const id = DownloadLink.check(vault.keys(), link, yield* Clock.currentTimeMillis)
            const row = id === null ? null : yield* repo.find(null, id)
            return row?.status === "available" && DownloadLink.fileOf(row) === link.file ? row : null
          }),
          gone: (id) => Effect.asVoid(change(id, ["available", "archived"], "expired", Audit.system)),
          link: (of) => Effect.map(Clock.currentTimeMillis, (now) => linkAt(of, now)),
          isStored: (id) => Effect.map(repo.find(null, id), (row) => row !== null && row.status !== "failed"),
          restore: Effect.fn("Recordings.restore")(function* (id) {
            const row = yield* repo.find(null, id)
            if (row === null) return yield* notFound
            if (row.status !== "archived") return yield* ApiError.of("conflict", `the recording is ${row.status}`)
            yield* Effect.mapError(storage.move(File.keyOf(row, "archived"), File.keyOf(row, "available")), (error) =>
              ApiError.of("upstream_error", `the file could not be brought back: ${error.message}`)
            )
            yield* change(id, ["archived"], "available", yield* Audit.operator)
            return viewAt({ ...row, status: "available" }, yield* Clock.currentTimeMillis)
          }),
          erase: Effect.fn("Recordings.erase")(function* (tenantId, told) {
            let after: { readonly at: string; readonly id: Id.RecordingId } | null = null
            while (true) {
              const rows: ReadonlyArray<RecordingRow & { readonly at: string }> = yield* repo.toErase(
                tenantId,
                after,
                erased
              )
              const [ids, failed] = yield* Effect.partition(
                rows,
                (row) =>
                  Effect.as(
                    Effect.forEach(["available", "archived"] as const, (status) =>
                      storage.remove(File.keyOf(row, status))
                    ),
                    row.id
                  ),
                { concurrency: 8 }
              )
              yield* Effect.flatMap(repo.expire(ids), (count) => (count === 0 ? Effect.void : told(count))).pipe(
                transaction
              )
              const [error] = failed
              if (error !== undefined) return yield* Effect.fail(error)
              after = rows.at(-1) ?? null
              if (rows.length < erased) return
            }
          }),
          age
        })
      })
    )
}

const notFound = ApiError.of("not_found", "no such recording")
