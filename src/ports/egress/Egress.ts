import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { Pinned } from "./Pinned.ts"
import type { Scheme } from "./EgressTarget.ts"

export interface Asked {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE"
  readonly headers: Readonly<Record<string, string>>
  /** The time limit from the first step (including resolution) to the last byte of the answer. */
  readonly timeoutMs: number
  /** The longest body of an answer; a longer one fails with `too_large`. */
  readonly maxResponseBytes: number
}

/** A request with its whole body, which gets a whole answer. */
export interface Whole extends Asked {
  readonly body?: string | Uint8Array
  /**
   * The status alone decides about the answer. The body is the part that was received: it may end at
   * `maxResponseBytes`, where the connection broke, at the time limit, or `afterMs` after the head of the answer. A
   * bounded part of the rest is read and dropped afterwards, so that the connection can be used again.
   */
  readonly truncate?: { readonly afterMs: number }
  /**
   * The holder (a tenant) in whose turns the answer is read, for answers that may be long: a little is read in each
   * turn of the event loop, shared fairly among the holders, so that it holds up no other work. Absent: the answer is
   * read without turns.
   */
  readonly pacedFor?: string
}

/** A request whose bodies are streamed, both ways at once if need be. */
export interface Streamed<E = never> extends Asked {
  readonly body?: Upload<E>
  /** How long the service waits while the other side reads nothing, or sends nothing. */
  readonly idleMs: number
}

export interface Upload<E> {
  /** The body, pulled as fast as the other side reads. */
  readonly stream: Stream.Stream<Uint8Array, E>
  /** The `Content-Length`; a stream of another length fails with `wrong_length`. Without it the body is chunked. */
  readonly length?: number
}

export interface EgressRequest extends Whole {
  readonly url: string
  /**
   * How many redirects a GET follows, each target checked like the first; 0, or another method: the 3xx is the answer.
   */
  readonly maxRedirects?: number
}

export interface EgressStreamRequest<E = never> extends Streamed<E> {
  readonly url: string
}

export interface EgressResponse {
  readonly status: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The head of an answer, and its body as a stream. */
export interface EgressStreamResponse<E = never> {
  readonly status: number
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, to be run once. It is read only when it is pulled, so the other side waits. */
  readonly body: Stream.Stream<Uint8Array, EgressError | E>
}

const reasons = [
  "invalid_url",
  "blocked",
  "resolve",
  "connect",
  "tls",
  "timeout",
  "too_large",
  "reset",
  /** The server of a WebSocket answered, but without one. */
  "refused",
  /** The answer is no WebSocket, or breaks the protocol. */
  "protocol",
  "wrong_length"
] as const
export type EgressReason = (typeof reasons)[number]

export class EgressError extends Schema.TaggedError<EgressError>()("EgressError", {
  reason: Schema.Literals(reasons),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

/**
 * Outgoing HTTPS and WSS: every URL that a tenant gives goes through here. The operator's own services are reached by
 * `OperatorEgress.ts`.
 *
 * The host is resolved, every address is checked, and the connection goes to the very address that was checked (a DNS
 * answer that changes in between has no effect).
 */
export class Egress extends Context.Service<
  Egress,
  {
    /** Sends a request over connections that are kept alive per destination and bounded. */
    readonly request: (request: EgressRequest) => Effect.Effect<EgressResponse, EgressError>
    /**
     * Succeeds with the head of the answer, even while the upload is under way. The scope is the connection: closing it
     * ends both directions. Redirects are not followed, and nothing is sent twice.
     *
     * It fails, and so does the answer's body, with `EgressError`, or with the failure of the upload's stream; the
     * other side then sees a request that breaks off, never a complete one.
     */
    readonly stream: <E = never>(
      request: EgressStreamRequest<E>
    ) => Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope>
    /**
     * Resolves and checks a `wss:` URL, and gives the addresses as plain data. The socket is opened where it is used,
     * in another thread if need be (`WebSocketClient.ts`).
     */
    readonly pin: (url: string, timeoutMs: number) => Effect.Effect<Pinned, EgressError>
    /**
     * Checks a URL without the network: `null` when it is acceptable, otherwise the reason why not. It is used when a
     * tenant stores a target: scheme (`https:` only, or those that `schemes` lists), userinfo, private or reserved
     * literal addresses, names that are local by definition (`localhost`, `.local`, `.internal`).
     */
    readonly refuse: (url: string, schemes?: ReadonlyArray<Scheme>) => string | null
  }
>()("trunkline/egress/Egress") {}
