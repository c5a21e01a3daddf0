import { Effect } from "effect"
import * as Child from "../Child.ts"

/** What strangers send to the SIP port, until the next order. */
export interface Attack {
  readonly type: "attack"
  readonly method: "OPTIONS" | "INVITE"
  /** Loopback addresses that it comes from, one socket each. */
  readonly addresses: number
  readonly perSecond: number
  readonly port: number
}

export type Order = Attack | { readonly type: "stop" }

/** How many datagrams the attack that ended now has sent. */
export interface Done {
  readonly sent: number
}

/** Strangers in a process of their own, so that they take nothing of the event loop that measures. */
export const start = Effect.map(Child.start<Done>("./strangers/Attack.process.ts"), ({ ask }) => ({
  begin: (attack: Omit<Attack, "type">) => Effect.asVoid(ask({ type: "attack", ...attack } satisfies Order)),
  stop: Effect.map(ask({ type: "stop" } satisfies Order), ({ sent }) => sent)
}))
