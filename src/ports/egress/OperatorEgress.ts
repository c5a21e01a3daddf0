import { Context, type Effect, type Scope } from "effect"
import type { EgressError, EgressResponse, EgressStreamResponse, Streamed, Whole } from "./Egress.ts"
import type { OperatorTarget } from "./OperatorTarget.ts"
import type { Pinned } from "./Pinned.ts"

/** Where on the service; begins with a slash and stays below the configured path. */
interface At {
  readonly path: string
}

/** One service of the operator, with connections of its own. Like `Egress`, except for the URL; it follows no redirect. */
export interface OperatorClient {
  readonly request: (request: Whole & At) => Effect.Effect<EgressResponse, EgressError>
  readonly stream: <E = never>(
    request: Streamed<E> & At
  ) => Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope>
  /** Where to connect: for a WebSocket, or for mail. */
  readonly pin: (path: string, timeoutMs: number) => Effect.Effect<Pinned, EgressError>
}

/**
 * The way to the operator's own services, which may be private. A tenant's URL cannot get here, because it is no
 * `OperatorTarget`.
 */
export class OperatorEgress extends Context.Service<
  OperatorEgress,
  {
    /** Its connections close with the scope. */
    readonly open: (target: OperatorTarget) => Effect.Effect<OperatorClient, never, Scope.Scope>
  }
>()("trunkline/egress/OperatorEgress") {}
