/**
 * Where the media of a leg is handled: the gateway (the process that holds its sockets; there is one for now) and the
 * thread within it.
 */
export interface Placement {
  readonly gateway: string
  /** Counts from 0. */
  readonly thread: number
}

/** The gateway of this process. */
export const localGateway = "local"

/** Why legs in these places cannot meet; `null`: they can. */
type Apart = "other_gateway" | "other_thread"

/**
 * Compares two places. Legs of two gateways never meet: a bridge between them is a separate call. Legs of two threads
 * of a gateway do not meet yet; `near` at their opening puts them on one.
 */
export const apart = (a: Placement, b: Placement): Apart | null =>
  a.gateway !== b.gateway ? "other_gateway" : a.thread !== b.thread ? "other_thread" : null
