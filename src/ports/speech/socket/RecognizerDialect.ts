import type { Phrase } from "../Recognition.ts"

/** A message of a server: a final phrase, the end of all results, or something that does not matter here. */
export type Heard =
  | { readonly type: "phrase"; readonly phrase: Phrase }
  | { readonly type: "over" }
  | { readonly type: "other" }

/**
 * How one kind of server recognizes speech over a WebSocket: sound goes there in binary messages (16 bits, little
 * endian, one channel), text comes back. Times count the sound that was sent on this connection.
 */
export interface RecognizerDialect {
  readonly headers: Readonly<Record<string, string>>
  /** The path and query after the configured URL. */
  readonly path: (of: { readonly rate: number; readonly language: string }) => string
  /** The first messages on a connection. */
  readonly hello: (of: { readonly rate: number }) => ReadonlyArray<string>
  /** Sent while there is no sound; null when nothing is needed. */
  readonly keepAlive: string | null
  /** Asks for the last results, after which the server closes the connection. */
  readonly goodbye: ReadonlyArray<string>
  /** Reads a message; null when it is none of this dialect. `sentMs` is the sound that was sent on this connection. */
  readonly read: (message: string, sentMs: number) => Heard | null
}

export const other: Heard = { type: "other" }
