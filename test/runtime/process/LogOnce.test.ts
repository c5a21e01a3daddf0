import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as LogOnce from "../../../src/runtime/process/LogOnce.ts"

describe("SaidOnce", () => {
  it.effect("a failure that is met again and again is named once, and so is its end", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
        lines.push(`${logLevel} ${String(Array.isArray(message) ? message.join(" ") : message)}`)
      })
      const said = LogOnce.make({ fails: "nothing is written", works: "it is written again" })
      const { failed, worked } = said
      yield* Effect.gen(function* () {
        yield* worked
        yield* Effect.repeat(failed("the disk is full"), { times: 4 })
        yield* worked
        yield* worked
        yield* failed("the disk is full")
      }).pipe(Effect.provide(Logger.layer([logger])))
      expect(lines).toEqual([
        "Warn nothing is written the disk is full",
        "Info it is written again",
        "Warn nothing is written the disk is full"
      ])
    })
  )
})
