import { Context, type Effect, Schema, type Scope, type Stream } from "effect"

/**
 * The store said no, or nothing that makes sense. `missing`: there is no such object. `unavailable`: anything else (it is
 * away, slow, full, or does not know us), and another try may succeed.
 */
export class StorageError extends Schema.TaggedError<StorageError>()("StorageError", {
  reason: Schema.Literals(["unavailable", "missing"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/** A file of this machine that is to be stored. */
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

/** An object, or a range of it, as it comes. */
export interface Opened {
  /** Of the whole object. */
  readonly sizeBytes: number
  readonly body: Stream.Stream<Uint8Array, StorageError>
}

/**
 * Files that outlive their spool: recordings. A key is one or more names of `a-z 0-9 . _ -` with slashes between; the
 * same key is the same object, so whoever does not know whether a step was done does it again.
 */
export class Storage extends Context.Service<
  Storage,
  {
    /** It is there whole or not at all. The local file stays. */
    readonly put: (key: string, file: LocalFile) => Effect.Effect<void, StorageError>
    /** `range` null: all of it. Fails with `missing`. The scope is the transfer. */
    readonly open: (key: string, range: Range | null) => Effect.Effect<Opened, StorageError, Scope.Scope>
    /** Fails with `missing` when neither key has it. Moving again what was moved changes nothing. */
    readonly move: (from: string, to: string) => Effect.Effect<void, StorageError>
    /** What is not there is removed. */
    readonly remove: (key: string) => Effect.Effect<void, StorageError>
  }
>()("trunkline/storage/Storage") {}
