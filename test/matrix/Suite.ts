/** Runs rows on a running service: every row with the simulated carrier and with SIP, all of them concurrently. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Row from "./Row.ts"
import * as World from "./world/World.ts"

/** Many rows run at once, because a row mostly waits. */
const sideBySide = 16
const carriers = ["simulator", "sip"] as const
const titleOf = (carrier: World.CarrierName, { name }: Row.Row) => `${carrier}: ${name}`

interface Contract {
  /** The longest rows come first. */
  readonly rows: ReadonlyArray<Row.Row>
  /** The facts that the rows must show on a carrier. */
  readonly facts: (carrier: World.CarrierName) => ReadonlyArray<string>
}

export const run = (title: string, { facts, rows }: Contract): void => {
  const scope = Scope.makeUnsafe()
  let running: World.Running | null = null
  const outcomes = new Map<string, Promise<void>>()

  /** Begins all of them; those beyond `sideBySide` wait for a place. */
  const start = (started: World.Running): void => {
    const waiting = carriers.flatMap((carrier) =>
      rows
        .filter(({ only = carrier }) => only === carrier)
        .map((row) => {
          const { promise, reject, resolve } = Promise.withResolvers<void>()
          promise.catch(() => undefined)
          outcomes.set(titleOf(carrier, row), promise)
          return () => Row.run(row, started.worlds[carrier]).then(resolve, reject)
        })
    )
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next()
    }
    for (let place = 0; place < sideBySide; place++) void work()
  }

  describe(title, () => {
    beforeAll(async () => {
      const url = await Effect.runPromise(Scope.provide(TestDatabase.migrated, scope))
      running = await World.start(Redacted.value(url))
      start(running)
    }, 300_000)

    afterAll(async () => {
      await Promise.allSettled(outcomes.values())
      await running?.stop()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }, 300_000)

    for (const carrier of carriers)
      for (const row of rows.filter(({ only = carrier }) => only === carrier))
        it(titleOf(carrier, row), { timeout: 300_000 }, () => outcomes.get(titleOf(carrier, row)))

    for (const carrier of carriers)
      it(
        `${carrier}: show every verb in every state, every field, every event and every error`,
        { timeout: 300_000 },
        async () => {
          await Promise.allSettled(outcomes.values())
          const seen = running?.worlds[carrier].seen.facts ?? new Set()
          expect(facts(carrier).filter((fact) => !seen.has(fact))).toEqual([])
        }
      )

    it("deliver every event signed, in order and as published, and log no fault of the service", () => {
      expect(running?.faults()).toEqual([])
    })
  })
}
