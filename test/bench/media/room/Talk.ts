import { Effect } from "effect"
import * as Child from "../../load/Child.ts"
import type * as Peers from "../Peers.ts"

/** `words`: like people's talk. `bursts`: quiet tones, and bursts now and then. `loud`: one burst in each packet. */
export type Talk = "words" | "bursts" | "loud"

/** A sent packet of ours. */
export interface Departure extends Pick<Peers.Departure, "call" | "sequenceNumber" | "atMs"> {
  readonly timestamp: number
  readonly isLoud: boolean
}

export interface Answer {
  readonly departures: ReadonlyArray<Departure>
  /** The sender of each burst, and its time in milliseconds of `process.hrtime`. */
  readonly bursts: ReadonlyArray<{ readonly call: number; readonly sentMs: number }>
  readonly port: number
  readonly clock: "kernel" | "receiver"
  /** The share of a core that the far ends themselves used since `watch`; `longestPauseMs` is their longest pause. */
  readonly cores: number
  readonly longestPauseMs: number
}

export type Question =
  | { readonly type: "listen" }
  /** Begins to talk to these ports: the first `talkers` of each `roomSize` talk. */
  | {
      readonly type: "talk"
      readonly ports: ReadonlyArray<number>
      readonly roomSize: number
      readonly talkers: number
      readonly talk: Talk
      readonly jitterMs: number
    }
  /** Forgets the packets received so far. */
  | { readonly type: "watch" }
  /** Takes the packets received since the last time. */
  | { readonly type: "take" }
  | { readonly type: "stop" }

/** The far ends of rooms, in a separate process. */
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
