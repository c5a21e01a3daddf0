import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ConferenceMachine from "../../src/conference/ConferenceMachine.ts"
import * as ConferenceMoney from "../../src/conference/ConferenceMoney.ts"
import type { ConferenceInput } from "../../src/conference/ConferenceInput.ts"
import type { ConferenceState } from "../../src/conference/ConferenceState.ts"
import * as Id from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

const t0 = 1_000_000
const tenantId = Ids.tenant("6f1b0a52-6c0e-4d4e-9a57-0d7a3f3f6c11")
const conferenceId = Id.derive("room", "conf")

const create: ConferenceInput = {
  type: "create",
  conferenceId,
  timeOffsetMs: 0,
  tenantId,
  routeId: Id.derive("sample", "route"),
  adapter: "test",
  hostCallId: Id.derive("host", "call"),
  hostLegId: Id.derive("host", "leg"),
  customerReference: null,
  name: "room",
  beepEnabled: "never",
  startOnCreate: true,
  endOnExit: true,
  maxParticipants: 10,
  durationMinutes: 60
}
const record: ConferenceInput = {
  type: "action",
  mostParticipants: null,
  action: { verb: "record_start", body: { format: "wav", channels: "single", hasBeep: false } },
  recording: { microUsdPerMinute: 20_000, reservedMinutes: [1] }
}

/** A conference that tells its account what it holds. */
const bench = () => {
  const told: Array<string> = []
  const tell = (text: string) => Effect.sync(() => void told.push(text))
  const money = ConferenceMoney.make({
    accounts: {
      reserve: () => Effect.die("not asked"),
      began: () => tell("began"),
      abandoned: () => tell("abandoned"),
      holds: (_, __, { reservedCents }) => tell(`holds ${reservedCents}`),
      told: (_, { body }) => tell(body.type)
    },
    prices: Effect.die("not asked")
  })
  let state: ConferenceState | null = null
  const step = Effect.fnUntraced(function* (input: ConferenceInput, now: number) {
    const [before, context] = [state, { now, seed: `seed ${now}` }]
    const outcome = ConferenceMachine.step(before, input, context)
    expect.assert(outcome.type === "accepted")
    state = outcome.state
    yield* money.stored({ before, context, effects: outcome.effects, input, state })
    return told.splice(0)
  })
  return { step }
}

describe("A conference and its account", () => {
  it.effect("a refusal, or an answer that is too late, is followed by what the conference holds", () =>
    Effect.gen(function* () {
      const { step } = bench()
      expect(yield* step(create, t0)).toStrictEqual([])
      expect(yield* step(record, t0 + 1)).toStrictEqual(["holds 2"])
      const refused = { type: "renewal", reservedMinutes: null } as const
      // The account may have come to it since, and would go on to reserve what nobody uses.
      expect(yield* step(refused, t0 + 46_000)).toStrictEqual(["holds 2"])
      expect(yield* step({ type: "renewal", reservedMinutes: [3] }, t0 + 51_001)).toStrictEqual(["holds 6"])
      expect(yield* step({ type: "ended_by_system", by: "service" }, t0 + 60_000)).toStrictEqual(["ended"])
    })
  )
})
