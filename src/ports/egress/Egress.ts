import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { Pinned } from "./Pinned.ts"
import type { Scheme } from "./Target.ts"

/** What every request to a server has. */
export interface Asked {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE"
  readonly headers: Readonly<Record<string, string>>
  /** From the first byte of work (resolution included) to the last byte of the answer. */
  readonly timeoutMs: number
  /** A longer body of an answer: `too_large`. */
  readonly maxResponseBytes: number
}

/** A request with its whole body, which gets a whole answer. */
export interface Whole extends Asked {
  readonly body?: string | Uint8Array
  /**
   * The status alone makes the answer. The body is what came of it: it is cut at `maxResponseBytes`, where it breaks
   * off, and when the time is over.
   */
  readonly truncate?: boolean
  /**
   * The answer may be long, and holds up nobody: it is read a little in each turn of the event loop, where those who do
   * so have their turns by their fair shares. The name of who does (a tenant); absent: read as it comes.
   */
  readonly pacedFor?: string
}

/** A request whose bodies flow, both ways at once if they like. */
export interface Streamed<E = never> extends Asked {
  readonly body?: Upload<E>
  /** How long the service waits for the other side while that takes nothing, or gives nothing. */
  readonly idleMs: number
}

export interface Upload<E> {
  /** Pulled as fast as the other side reads. */
  readonly stream: Stream.Stream<Uint8Array, E>
  /** Announced in `Content-Length`; a stream of another length fails with `wrong_length`. Without it the body is chunked. */
  readonly length?: number
}

export interface EgressRequest extends Whole {
  readonly url: string
  /** Redirects that a GET follows, each target checked like the first; 0, or another method: the 3xx is the answer. */
  readonly maxRedirects?: number
}

export interface EgressStreamRequest<E = never> extends Streamed<E> {
  readonly url: string
}

export interface EgressResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The head of an answer, and its body as it comes. */
export interface EgressStreamResponse<E = never> {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Run it once. Nothing is read that is not pulled, so the other side waits. */
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
  /** A WebSocket's server answered, but not with a WebSocket. */
  "refused",
  /** The answer is no WebSocket, or breaks its rules. */
  "protocol",
  /** The uploaded stream was not as long as announced. */
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
 * Outgoing HTTPS and WSS: every URL that a tenant gives goes through here. The operator's own services have another
 * door (`OperatorEgress.ts`).
 *
 * The host is resolved, every address is checked, and the connection goes to the very address that was checked
 * (a DNS answer that changes in between cannot matter).
 */
export class Egress extends Context.Service<
  Egress,
  {
    /** Over connections that are kept alive per destination and bounded. */
    readonly request: (request: EgressRequest) => Effect.Effect<EgressResponse, EgressError>
    /**
     * Succeeds with the head of the answer, while the upload may still go on. The scope is the connection: closing it
     * ends both directions. Redirects are not followed, and nothing is sent twice.
     *
     * Fails, and so does the answer's body, with `EgressError`, or with what the upload's stream failed with; the other
     * side then sees a request that breaks off, never a complete one.
     */
    readonly stream: <E = never>(
      request: EgressStreamRequest<E>
    ) => Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope>
    /**
     * Resolves and checks a `wss:` URL, and gives where to connect as plain data: a socket is then opened where it is
     * used, in another thread if need be (`WebSocketClient.ts`).
     */
    readonly pin: (url: string, timeoutMs: number) => Effect.Effect<Pinned, EgressError>
    /**
     * What can be said of a URL without the network: `null` when acceptable, else why not. Used when a tenant stores
     * a target: scheme (`https:` only, or what `schemes` lists), userinfo, private or reserved literal addresses,
     * names that are local by definition (`localhost`, `.local`, `.internal`).
     */
    readonly refuse: (url: string, schemes?: ReadonlyArray<Scheme>) => string | null
  }
>()("trunkline/egress/Egress") {}
