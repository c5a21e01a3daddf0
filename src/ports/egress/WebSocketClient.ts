import type { EgressReason } from "./Egress.ts"
import type { Pinned } from "./Pinned.ts"

/** A client's WebSocket (RFC 6455), opened in the thread that calls. */

export interface Options {
  readonly headers: Readonly<Record<string, string>>
  readonly protocols: ReadonlyArray<string>
  /** Connection, TLS and the whole handshake. */
  readonly handshakeMs: number
  /** A longer message closes with `too_large`; no more than this of it is ever held. */
  readonly maxMessageBytes: number
  /** The most that may wait for the network to take it; `send` refuses what would go beyond. */
  readonly maxBufferedBytes: number
  /** A ping goes out this often. */
  readonly pingMs: number
  /** Closes with `timeout` when nothing whole (message, ping, pong) came for so long. */
  readonly silenceMs: number
}

export interface Closed {
  /** `closed`: by a close frame, of either side. */
  readonly reason: EgressReason | "closed"
  /** The code of a close frame, RFC 6455 section 7.4; 1005 when it had none. Null without a close frame. */
  readonly code: number | null
  readonly detail: string
}

interface Handlers {
  /** Said at most once, before any message. */
  readonly onOpen: () => void
  readonly onMessage: (message: string | Uint8Array) => void
  /** Said exactly once, the last word; nothing is open afterwards. */
  readonly onClose: (closed: Closed) => void
}

export interface Link {
  /** False: not sent, because it is not open, or `maxBufferedBytes` would be exceeded. */
  readonly send: (message: string | Uint8Array) => boolean
  readonly bufferedBytes: () => number
  /** Nothing more is read, but for what has been already, until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
  /** By a close frame; a side that does not answer it is cut off after two seconds. */
  readonly close: (code?: number, reason?: string) => void
}

/** Never throws for what the network does: every failure is told by `onClose`, later than the return. */
export type Open = (pinned: Pinned, options: Options, handlers: Handlers) => Link
