import type { Command, Event } from "../Protocol.ts"

/** What the thread is started with. */
export interface ThreadConfig {
  readonly bindAddress: string
  readonly portMin: number
  readonly portMax: number
  readonly mediaTimeoutMs: number
  readonly maxLegs: number
}

/** To the thread. `shutdown`: end every leg, then the thread. */
export type ToThread = Command | { readonly type: "shutdown" }

/**
 * From the thread. `ready` comes first, and tells in words what priority the thread has; `defect` is a fault of ours
 * that ended one leg.
 */
export type FromThread =
  | Event
  | { readonly type: "ready"; readonly priority: string }
  | { readonly type: "defect"; readonly error: string }
