import { Effect } from "effect"

/**
 * Logs one line when something begins to fail and one when it works again, however many attempts are made meanwhile. So
 * an outage names its cause once, and its end once.
 */
export const make = (lines: { readonly fails: string; readonly works: string }) => {
  let isFailing = false
  return {
    failed: (cause: unknown) =>
      Effect.suspend(() => {
        if (isFailing) return Effect.void
        isFailing = true
        return Effect.logWarning(lines.fails, cause)
      }),
    worked: Effect.suspend(() => {
      if (!isFailing) return Effect.void
      isFailing = false
      return Effect.logInfo(lines.works)
    })
  } as const
}
