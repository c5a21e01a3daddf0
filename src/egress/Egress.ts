import { Context, type Effect, Schema } from "effect"

/**
 * Outgoing HTTPS: every URL that a tenant gives goes through here.
 *
 * The host is resolved, every address is checked, and the connection goes to the very address that was checked
 * (a DNS answer that changes in between cannot matter). Connections are kept alive per destination and bounded.
 */
export interface EgressRequest {
  readonly url: string
  readonly method: "GET" | "POST"
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From the first byte of work (resolution included) to the last byte of the answer. */
  readonly timeoutMs: number
  /** A longer answer is `too_large`. */
  readonly maxResponseBytes: number
  /**
   * The status is the answer, and of the body as much as there is: it is cut at `maxResponseBytes`, where it breaks off,
   * and when the time is over.
   */
  readonly truncate?: boolean
  /** Redirects followed, each target checked like the first; 0 returns the 3xx itself. */
  readonly maxRedirects?: number
}

export interface EgressResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type EgressReason = "invalid_url" | "blocked" | "resolve" | "connect" | "tls" | "timeout" | "too_large" | "reset"

export class EgressError extends Schema.TaggedError<EgressError>()("EgressError", {
  reason: Schema.Literals(["invalid_url", "blocked", "resolve", "connect", "tls", "timeout", "too_large", "reset"]),
  detail: Schema.String
}) {
  override get message() {
    return `${this.reason}: ${this.detail}`
  }
}

export class Egress extends Context.Service<
  Egress,
  {
    readonly request: (request: EgressRequest) => Effect.Effect<EgressResponse, EgressError>
    /**
     * What can be said of a URL without the network: `null` when acceptable, else why not. Used when a tenant stores
     * a target: scheme (`https:` only, or what `schemes` lists), userinfo, private or reserved literal addresses,
     * names that are local by definition (`localhost`, `.local`, `.internal`).
     */
    readonly refuse: (url: string, schemes?: ReadonlyArray<"https:" | "wss:">) => string | null
  }
>()("trunkline/egress/Egress") {}
