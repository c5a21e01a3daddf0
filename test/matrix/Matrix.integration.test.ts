/**
 * What the API promises of calls, row by row, on a running service: what is asked over HTTP, and what its signed webhooks
 * say. Every row runs behind the simulated carrier and behind SIP; all of them side by side, on one service.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Elsewhere from "./Elsewhere.ts"
import * as Row from "./Row.ts"
import * as ConnectRows from "./row/ConnectRows.ts"
import * as ControlRows from "./row/ControlRows.ts"
import * as DetectionRows from "./row/DetectionRows.ts"
import * as FieldRows from "./row/FieldRows.ts"
import * as GatherRows from "./row/GatherRows.ts"
import * as MoneyRows from "./row/MoneyRows.ts"
import * as NumberRows from "./row/NumberRows.ts"
import * as RaceRows from "./row/RaceRows.ts"
import * as RecordingRows from "./row/RecordingRows.ts"
import * as RefusalRows from "./row/RefusalRows.ts"
import * as ShownRows from "./row/ShownRows.ts"
import * as SoundRows from "./row/SoundRows.ts"
import * as SpeechRows from "./row/SpeechRows.ts"
import * as StateRows from "./row/StateRows.ts"
import * as StreamRows from "./row/StreamRows.ts"
import * as Contract from "./Contract.ts"
import * as World from "./World.ts"

/** Those that take the longest come first. */
const rows: ReadonlyArray<Row.Row> = [
  ...DetectionRows.rows,
  ...FieldRows.rows,
  ...ControlRows.rows,
  ...StateRows.rows,
  ...ConnectRows.rows,
  ...SoundRows.rows,
  ...GatherRows.rows,
  ...RecordingRows.rows,
  ...StreamRows.rows,
  ...SpeechRows.rows,
  ...RaceRows.rows,
  ...MoneyRows.rows,
  ...NumberRows.rows,
  ...RefusalRows.rows,
  ...ShownRows.rows
]

/** Waiting is most of what a row does. */
const sideBySide = 16
const carriers = ["simulator", "sip"] as const
const titleOf = (carrier: World.CarrierName, { name }: Row.Row) => `${carrier}: ${name}`

const scope = Scope.makeUnsafe()
let running: World.Running | null = null
const outcomes = new Map<string, Promise<void>>()

/** Begins all of them; those beyond `sideBySide` wait for a place. */
const begin = (started: World.Running): void => {
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

describe("Calls, as specified", () => {
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.provide(TestDatabase.empty, scope))
    running = await World.start(Redacted.value(url))
    begin(running)
  }, 60_000)

  afterAll(async () => {
    await Promise.allSettled(outcomes.values())
    await running?.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  for (const carrier of carriers)
    for (const row of rows.filter(({ only = carrier }) => only === carrier))
      it(titleOf(carrier, row), { timeout: 60_000 }, () => outcomes.get(titleOf(carrier, row)))

  for (const carrier of carriers)
    it(
      `${carrier}: show every verb in every state, every field, every event and every error`,
      { timeout: 60_000 },
      async () => {
        await Promise.allSettled(outcomes.values())
        const seen = running?.worlds[carrier].seen.facts ?? new Set()
        const elsewhere = Elsewhere.all.flatMap(({ facts, only = carrier }) => (only === carrier ? facts : []))
        const missing = Contract.facts().filter(
          (fact) => !seen.has(fact) && !elsewhere.includes(fact) && !Elsewhere.unraised.includes(fact)
        )
        expect(missing).toEqual([])
      }
    )

  it("deliver every event signed, in order and as published, and log no fault of the service", () => {
    expect(running?.faults()).toEqual([])
  })
})
