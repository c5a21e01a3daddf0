import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger } from "effect"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import * as Outage from "../../../src/runtime/store/Outage.ts"

const said = { message: "it is away", operation: "query", cause: null }
const away = new SqlError({ reason: new ConnectionError(said) })
const refused = new SqlError({ reason: new UnknownError(said) })

describe("An outage of the database", () => {
  it.effect("is outlasted by a read that nobody may answer for it, whether it fails or dies of it", () =>
    Effect.gen(function* () {
      let asked = 0
      const read = Effect.suspend(() => {
        asked++
        if (asked === 1) return Effect.die(away)
        return asked < 8 ? Effect.fail(away) : Effect.succeed("the row")
      })
      const reading = yield* Effect.forkChild(Outage.outlasted(read), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      expect(asked, "it is asked again soon, and then less often").toBe(3)
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(reading)).toBe("the row")
      expect(asked).toBe(8)
    })
  )

  it.effect("is not what a refused statement is: that dies at once", () =>
    Effect.gen(function* () {
      expect(yield* Effect.exit(Outage.outlasted(Effect.die(refused)))).toStrictEqual(Exit.die(refused))
    })
  )

  it.effect("is no error in the log", () =>
    Effect.gen(function* () {
      const levels: Array<string> = []
      const logger = Logger.make(({ logLevel }) => void levels.push(logLevel))
      const log = (defect: unknown) => Outage.logged("it did not work", Cause.die(defect))
      yield* Effect.provide(Effect.andThen(log(away), log(refused)), Logger.layer([logger]))
      expect(levels).toStrictEqual(["Warn", "Error"])
    })
  )
})
