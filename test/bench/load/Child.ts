import { fork } from "node:child_process"
import { Effect } from "effect"

/**
 * A separate process for work that must not share the service's event loop: it answers each message with one. Killed
 * with its scope.
 */
export const start = Effect.fnUntraced(function* <Answer>(file: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(new URL(file, import.meta.url), { execArgv: [], serialization: "advanced" })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  const ask = (question: object): Effect.Effect<Answer> =>
    Effect.promise(
      () =>
        new Promise<Answer>((resolve, reject) => {
          const ended = () => reject(new Error(`${file} ended`))
          child.once("exit", ended)
          child.once("message", (answer) => {
            child.off("exit", ended)
            resolve(answer as Answer)
          })
          child.send(question)
        })
    )
  return { ask }
})

/** Answers every message, inside the child. The process ends with its parent. */
export const answer = (to: (question: unknown) => Promise<unknown>): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", (question) => {
    void to(question).then((answer) => process.send?.(answer))
  })
}
