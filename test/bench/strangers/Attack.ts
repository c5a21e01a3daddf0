import { Effect } from "effect"
import * as Child from "../load/Child.ts"

/** The messages that strangers send to the SIP port, until the next order. */
export interface Attack {
  readonly type: "attack"
  readonly method: "OPTIONS" | "INVITE"
  /** The number of loopback addresses that send, one socket each. */
  readonly addresses: number
  readonly perSecond: number
  readonly port: number
}

export type Order = Attack | { readonly type: "stop" }

/** How many datagrams the attack that has just ended has sent. */
export interface Done {
  readonly sent: number
}

/** Strangers in a separate process, so that they use no time of the event loop that measures. */
export const start = Effect.map(Child.start<Done>("../strangers/Attack.process.ts"), ({ ask }) => ({
  start: (attack: Omit<Attack, "type">) => Effect.asVoid(ask({ type: "attack", ...attack } satisfies Order)),
  stop: Effect.map(ask({ type: "stop" } satisfies Order), ({ sent }) => sent)
}))
