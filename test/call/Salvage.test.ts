import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as CallMachine from "../../src/call/CallMachine.ts"
import * as Upgrade from "../../src/call/Upgrade.ts"
import * as Salvage from "../../src/call/Salvage.ts"
import * as SeenEvent from "../support/SeenEvent.ts"
import * as Sample from "./CallSample.ts"

describe("A call whose stored state cannot be read any more", () => {
  const row = (state: unknown) => ({
    id: Sample.terms().callId,
    kind: "call",
    tenantId: Sample.tenantId,
    partition: 0,
    seq: 4,
    settled: false,
    stateVersion: 99,
    state: state as never
  })
  const recovered = { type: "recovered", snapshot: { incarnation: "another", legs: {} }, lostAt: 2_000_000 } as const

  for (const [what, state] of [
    ["has lost a field", { ...Sample.start(Sample.place()).state, meters: undefined }],
    ["is of another world", { hello: ["there"] }],
    ["is no object", "nothing"]
  ] as const)
    it(`ends cleanly when it ${what}: its event is told, its leg taken down, nothing charged`, () => {
      assert.isTrue(Result.isFailure(Upgrade.state(row(state))))
      const salvaged = Salvage.fromUnreadable(row(state))
      const outcome = CallMachine.step(salvaged, recovered, { now: 2_000_000, seed: "s" })
      assert.isTrue(outcome._tag === "accepted")
      if (outcome._tag !== "accepted") return
      SeenEvent.check(outcome.effects.events)
      assert.deepStrictEqual(
        outcome.effects.events.map((event) => event.type),
        ["call.ended"]
      )
      assert.deepStrictEqual(
        outcome.effects.commands.map((command) => command.type),
        ["hangup"]
      )
      assert.strictEqual(outcome.effects.chargeCents, 0)
      assert.strictEqual(outcome.state.seq, 5)
      assert.isTrue(Result.isSuccess(Upgrade.state(row(outcome.state))))
    })
})
