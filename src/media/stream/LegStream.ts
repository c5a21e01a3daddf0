import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { StartStream } from "../../ports/media/StreamMessages.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Mix } from "../mix/Mix.ts"
import type { Taps } from "../mix/Tap.ts"
import type { Common } from "./dialect/Common.ts"
import * as MediaStream from "./MediaStream.ts"
import type { StreamAnswer, StreamAsk } from "./dialect/StreamMessage.ts"

export type LegStream = ReturnType<typeof make>

/** The stream of one leg, which has at most one. */
export const make = (
  leg: { readonly far: FarEnd; readonly mix: Mix; readonly taps: Taps },
  common: Common,
  options: {
    readonly clock: () => number
    readonly ask: (ask: StreamAsk) => void
    readonly emit: (event: MediaEvent) => void
    readonly onDefect: (error: unknown) => void
  }
) => {
  let stream: MediaStream.MediaStream | null = null

  return {
    /** Starts a stream; one that runs already under this id continues. */
    start: (message: StartStream): void => {
      if (stream?.id === message.id) return
      if (stream !== null)
        return options.emit({
          type: "ended",
          id: message.id,
          status: "failed",
          reason: "carrier_error: the leg has a stream"
        })
      const made = MediaStream.make(message, leg, common, {
        ...options,
        over: () => {
          if (stream === made) stream = null
        }
      })
      stream = made
    },
    stop: (): void => stream?.stop(),
    /** Passes an answer to its stream; dropped when that has ended. */
    answer: (answer: StreamAnswer): void => {
      if (stream?.id === answer.id) stream.answer(answer)
    },
    isOn: (): boolean => stream !== null,
    digit: (digit: string, at: number): void => stream?.digit(digit, at),
    tick: (now: number): void => stream?.tick(now)
  }
}
