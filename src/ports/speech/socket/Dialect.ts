import type { Phrase } from "../Recognition.ts"

/** What a server said: a phrase that is final, that it has said all, or something that does not matter here. */
export type Heard =
  | { readonly type: "phrase"; readonly phrase: Phrase }
  | { readonly type: "over" }
  | { readonly type: "other" }

/**
 * How recognition over a WebSocket is spoken with one kind of server: sound goes there in binary messages (16 bits, little
 * endian, one channel), text comes back. Times are those of the sound that this connection has been sent.
 */
export interface Dialect {
  readonly headers: Readonly<Record<string, string>>
  /** Behind the configured URL, with its query. */
  readonly path: (of: { readonly rate: number; readonly language: string }) => string
  /** Said first. */
  readonly hello: (of: { readonly rate: number }) => ReadonlyArray<string>
  /** Said while there is no sound; null: nothing need be. */
  readonly keepAlive: string | null
  /** Asks for the last results; the server closes the connection behind them. */
  readonly goodbye: ReadonlyArray<string>
  /** Reads a message; null: it is none of this dialect. `sentMs`: the sound that this connection has been sent. */
  readonly read: (message: string, sentMs: number) => Heard | null
}

export const other: Heard = { type: "other" }
