/**
 * Where the media of a leg is: the gateway (the process that holds its sockets; there is one for now) and the thread
 * within it.
 */
export interface Placement {
  readonly gateway: string
  /** From 0. */
  readonly thread: number
}

/** The gateway of this process. */
export const localGateway = "local"

/** Why legs in these places cannot meet; `null`: they can. */
type Apart = "other_gateway" | "other_thread"

/**
 * Legs of two gateways never meet: a bridge between them is a call of its own. Legs of two threads of a gateway do not
 * meet yet; `near` at their opening puts them on one.
 */
export const apart = (a: Placement, b: Placement): Apart | null =>
  a.gateway !== b.gateway ? "other_gateway" : a.thread !== b.thread ? "other_thread" : null
