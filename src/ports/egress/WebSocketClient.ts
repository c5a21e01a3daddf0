import type { EgressReason } from "./Egress.ts"
import type { Pinned } from "./Pinned.ts"

/** A WebSocket client (RFC 6455), opened in the calling thread. */

export interface Options {
  /** The tenant or engine that the turns of reading are shared by. */
  readonly holder: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocols: ReadonlyArray<string>
  /** The limit for connection, TLS and the whole handshake. */
  readonly handshakeMs: number
  /** The longest message. A longer one closes with `too_large`; no more than this of it is ever held. */
  readonly maxMessageBytes: number
  /** The most bytes that may wait for the network; `send` refuses a message that would exceed it. */
  readonly maxBufferedBytes: number
  readonly pingMs: number
  /** Closes with `timeout` when nothing complete (message, ping, pong) came for this time. */
  readonly silenceMs: number
}

export interface Closed {
  /** `closed`: by a close frame, from either side. */
  readonly reason: EgressReason | "closed"
  /** The code of a close frame, RFC 6455 section 7.4; 1005 when it had none. Null without a close frame. */
  readonly code: number | null
  readonly detail: string
}

interface Handlers {
  /** Called at most once, before any message. */
  readonly onOpen: () => void
  readonly onMessage: (message: string | Uint8Array) => void
  /**
   * Takes a text of more than 16 KiB, in UTF-8, instead of `onMessage`: returns a function that does a portion of the
   * work in each turn, until it gives false. Nothing else is read meanwhile. Absent: `onMessage` takes such texts.
   */
  readonly onLongText?: (text: Uint8Array) => () => boolean
  /** Called before this much is read, pings and parts of the handshake included. */
  readonly onRead?: (octets: number, frames: number) => void
  /** Called exactly once, as the last call; nothing is open afterwards. */
  readonly onClose: (closed: Closed) => void
}

export interface Link {
  /** False: the message was not sent, because the link is not open, or `maxBufferedBytes` would be exceeded. */
  readonly send: (message: string | Uint8Array) => boolean
  readonly bufferedBytes: () => number
  /** Stops reading until `resume`. A portion that is being read is still handed over. */
  readonly pause: () => void
  readonly resume: () => void
  /** Sends a close frame; a side that does not answer it is cut off after two seconds. */
  readonly close: (code?: number, reason?: string) => void
}

/** Never throws for a failure of the network: `onClose` reports every one, after this has returned. */
export type Open = (pinned: Pinned, options: Options, handlers: Handlers) => Link
