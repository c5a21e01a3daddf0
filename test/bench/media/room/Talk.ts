import { Effect } from "effect"
import * as Child from "../../Child.ts"
import type * as Peers from "../Peers.ts"

/** `words`: as people talk. `bursts`: quiet tones, and bursts now and then. `loud`: one burst in each packet. */
export type Talk = "words" | "bursts" | "loud"

/** A packet of ours, as it left. */
export interface Departure extends Pick<Peers.Departure, "call" | "sequenceNumber" | "atMs"> {
  readonly timestamp: number
  readonly isLoud: boolean
}

export interface Answer {
  readonly departures: ReadonlyArray<Departure>
  /** Who said one, and when, in milliseconds of `process.hrtime`. */
  readonly bursts: ReadonlyArray<{ readonly call: number; readonly sentMs: number }>
  readonly port: number
  readonly clock: "kernel" | "receiver"
  /** Of the far ends themselves, since `watch`: the share of a core that they used, and for how long they did nothing. */
  readonly cores: number
  readonly longestPauseMs: number
}

export type Question =
  | { readonly type: "listen" }
  /** From now on, to these ports: the first `talkers` of each `roomSize` talk. */
  | {
      readonly type: "talk"
      readonly ports: ReadonlyArray<number>
      readonly roomSize: number
      readonly talkers: number
      readonly talk: Talk
      readonly jitterMs: number
    }
  /** Forgets what came so far. */
  | { readonly type: "watch" }
  /** What came since the last time. */
  | { readonly type: "take" }
  | { readonly type: "stop" }

/** The far ends of rooms, in a process of their own. */
export const start = Effect.gen(function* () {
  const { ask } = yield* Child.start<Answer>("./media/room/Talk.process.ts")
  const listening = yield* ask({ type: "listen" } satisfies Question)
  return {
    port: listening.port,
    clock: listening.clock,
    talk: (of: Omit<Extract<Question, { readonly type: "talk" }>, "type">) =>
      Effect.asVoid(ask({ type: "talk", ...of } satisfies Question)),
    watch: Effect.asVoid(ask({ type: "watch" } satisfies Question)),
    take: ask({ type: "take" } satisfies Question),
    stop: Effect.asVoid(ask({ type: "stop" } satisfies Question))
  }
})
