import { setTimeout as delay } from "node:timers/promises"
import * as Patience from "./Patience.ts"
import type { World } from "./World.ts"

/** The answers of `/readyz`, which is asked again and again. */
export interface Readiness {
  /** Waits for a 200; false: none came in time. */
  readonly isReady: (withinMs: number) => Promise<boolean>
  /** Each with the moment of its request on the monotonic clock; 0: there was no answer. */
  readonly answers: () => ReadonlyArray<{ readonly at: number; readonly status: number }>
  readonly stop: () => Promise<void>
}

const pauseMs = 100
const answerMs = 5_000

export const watch = ({ ports }: World): Readiness => {
  const answers: Array<{ readonly at: number; readonly status: number }> = []
  const stopping = new AbortController()
  const ask = async (): Promise<number> => {
    try {
      const url = `http://127.0.0.1:${ports.operator}/readyz`
      const response = await fetch(url, { signal: AbortSignal.timeout(answerMs) })
      await response.body?.cancel()
      return response.status
    } catch {
      return 0
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const at = performance.now()
      answers.push({ at, status: await ask() })
      await delay(pauseMs)
    }
  }
  const done = run()
  return {
    answers: () => answers,
    isReady: async (withinMs) => {
      const since = performance.now()
      for (const patience = Patience.make(withinMs); !patience.isOver(); await delay(pauseMs)) {
        const last = answers.at(-1)
        if (last !== undefined && last.at > since && last.status === 200) return true
      }
      return false
    },
    stop: async () => {
      stopping.abort()
      await done
    }
  }
}
