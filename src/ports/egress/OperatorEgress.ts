import { Context, type Effect, type Scope } from "effect"
import type { EgressError, EgressResponse, EgressStreamResponse, Streamed, Whole } from "./Egress.ts"
import type { OperatorTarget } from "./OperatorTarget.ts"
import type { Pinned } from "./Pinned.ts"

/** The path on the service. It begins with a slash and stays below the configured path. */
interface At {
  readonly path: string
}

/**
 * A client of one of the operator's services, with separate connections. It is like `Egress`, except for the URL, and
 * follows no redirect.
 */
export interface OperatorClient {
  readonly request: (request: Whole & At) => Effect.Effect<EgressResponse, EgressError>
  readonly stream: <E = never>(
    request: Streamed<E> & At
  ) => Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope>
  /** Gives the checked addresses, for a WebSocket or for mail. */
  readonly pin: (path: string, timeoutMs: number) => Effect.Effect<Pinned, EgressError>
}

/**
 * Opens clients of the operator's own services, which may be private. A tenant's URL cannot get here, because it is no
 * `OperatorTarget`.
 */
export class OperatorEgress extends Context.Service<
  OperatorEgress,
  {
    /** The client's connections close with the scope. */
    readonly open: (target: OperatorTarget) => Effect.Effect<OperatorClient, never, Scope.Scope>
  }
>()("trunkline/egress/OperatorEgress") {}
