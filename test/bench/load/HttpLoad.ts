import { Effect } from "effect"
import * as Child from "./Child.ts"

/** `requests` times `POST /v1/calls`, over this many kept-alive connections. */
export interface Load {
  readonly port: number
  readonly requests: number
  readonly connections: number
  readonly credential: string
  readonly body: string
}

export interface LoadResult {
  /** The latencies in ascending order. */
  readonly latenciesMs: Float64Array
  /** The number of answers other than 201. */
  readonly refused: number
}

/** Starts a client in a separate process; dies when an answer was not 201. */
export const start = Effect.map(Child.start<LoadResult>("./Load.process.ts"), ({ ask }) => ({
  run: (load: Load) =>
    Effect.tap(ask(load), ({ refused }) =>
      refused === 0
        ? Effect.void
        : Effect.die(new Error(`${refused} of ${load.requests} requests were not answered 201`))
    )
}))
