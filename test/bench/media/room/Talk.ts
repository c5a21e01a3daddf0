import { Effect } from "effect"
import * as Child from "../../Child.ts"
import type * as Peers from "../Peers.ts"

/** `words`: as people talk. `bursts`: quiet tones, and bursts now and then. `loud`: one burst in each packet. */
export type Talk = "words" | "bursts" | "loud"

export interface Departure extends Peers.Departure {
  readonly isLoud: boolean
}

export interface Answer {
  readonly departures: ReadonlyArray<Departure>
  /** Who said one, and when, in milliseconds of `process.hrtime`. */
  readonly bursts: ReadonlyArray<{ readonly call: number; readonly sentMs: number }>
  readonly port: number
  readonly clock: "kernel" | "receiver"
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
    take: ask({ type: "take" } satisfies Question),
    stop: Effect.asVoid(ask({ type: "stop" } satisfies Question))
  }
})
