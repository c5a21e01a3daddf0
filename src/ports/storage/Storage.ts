import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

/**
 * The store refused, or its answer makes no sense. `missing`: there is no such object. `unavailable`: anything else (it
 * is unreachable, slow, full, or does not accept our credentials); a later attempt may succeed.
 */
export class StorageError extends Schema.TaggedError<StorageError>()("StorageError", {
  reason: Schema.Literals(["unavailable", "missing"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

export interface LocalFile {
  readonly path: string
  readonly sizeBytes: number
  readonly contentType: string
}

/** Bytes of an object, both ends included. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** An object, or a range of it, as a stream. */
interface Opened {
  /** The size of the whole object. */
  readonly sizeBytes: number
  readonly body: Stream.Stream<Uint8Array, StorageError>
}

/**
 * Files that outlive their spool: recordings. A key is one or more names of `a-z 0-9 . _ -` with slashes between. The
 * same key is the same object, so a step with an unknown outcome can be repeated.
 */
export class Storage extends Context.Service<
  Storage,
  {
    /** Stores the object completely or not at all. The local file stays. */
    readonly put: (key: string, file: LocalFile) => Effect.Effect<void, StorageError>
    /** `range` null: the whole object. Fails with `missing`. The transfer ends with the scope. */
    readonly open: (key: string, range: Range | null) => Effect.Effect<Opened, StorageError, Scope.Scope>
    /** Fails with `missing` when the object is under neither key. Repeating a move changes nothing. */
    readonly move: (from: string, to: string) => Effect.Effect<void, StorageError>
    /** Also succeeds when there is no such object. */
    readonly remove: (key: string) => Effect.Effect<void, StorageError>
  }
>()("trunkline/storage/Storage") {}
