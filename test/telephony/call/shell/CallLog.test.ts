import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as CallLog from "../../../../src/telephony/call/shell/CallLog.ts"
import type { CallInput } from "../../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import type { CallState } from "../../../../src/telephony/call/machine/CallState.ts"
import { LegSounds } from "../../../../src/carrier/LegSounds.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Sample from "../CallSample.ts"

const context = { now: 2_000_000, seed: "a seed" }

/** The step of a call that was answered at 1,001,000 and whose peer leaves at 2,000,000. */
const ending = () => {
  const ringing = Sample.start(Sample.place())
  const answered = Sample.carrier(ringing, { type: "answered", resume: null }, 1_001_000)
  const [leg] = answered.state.legs
  const input: CallInput = {
    type: "carrier",
    event: {
      type: "ended",
      legId: leg?.id ?? Ids.leg("none"),
      at: 2_000_000,
      incarnation: "first life",
      n: 2,
      cause: "final_response",
      sipStatus: 486,
      by: "far"
    }
  }
  const outcome = CallMachine.step(answered.state, input, context)
  if (outcome.type !== "accepted") return expect.fail(outcome.type)
  return { before: answered.state as CallState | null, input, state: outcome.state, effects: outcome.effects, context }
}

describe("The lines of a call in the log", () => {
  it("are one at its beginning and one at its end, with the ids and how it ended", () => {
    const { state } = Sample.start(Sample.place())
    expect(CallLog.line({ before: null, input: Sample.place(), state })).toStrictEqual({
      message: "call began",
      of: {
        callId: state.id,
        tenantId: Sample.tenantId,
        routeId: state.routeId,
        legIds: state.legs.map(({ id }) => id).join(" "),
        adapter: "test",
        direction: "outbound",
        from: "+1202555****",
        to: "+1202555****"
      }
    })
    const step = ending()
    expect(CallLog.line(step)).toMatchObject({
      message: "call ended",
      of: { callId: state.id, status: "ended", initiator: "callee", sipStatus: 486, durationSecs: 999, costCents: 17 }
    })
    expect(CallLog.line({ ...step, before: step.state })).toBeNull()
    expect(CallLog.line({ ...step, state: step.before ?? step.state })).toBeNull()
  })

  it.effect("come with call.ended for a call that we end, when its sound is known, and once", () => {
    const lines: Array<unknown> = []
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    return Effect.gen(function* () {
      const sounds = yield* LegSounds
      const write = yield* CallLog.make
      const answered = Sample.carrier(Sample.start(Sample.place()), { type: "answered", resume: null }, 1_001_000)
      const hung = Sample.act(answered, "hangup", {}, 1_061_000)
      const steps = (from: Sample.Scene, to: Sample.Scene) => ({
        before: from.state,
        state: to.state,
        input: to.log.at(-1)?.input ?? Sample.place(),
        effects: null,
        context
      })
      yield* write(steps(answered, hung))
      expect(lines).toEqual([])
      // The command that follows the commit closes the media.
      const [leg] = hung.state.legs
      expect.assert(leg !== undefined)
      sounds.expect(leg.id)
      const jitter = { jitterMs: 1, jitterMeanMs: 1, jitterMaxMs: 1 }
      sounds.tell(leg.id, { codec: "PCMU", packetsReceived: 3_000, loss: 0, ...jitter, mos: 4.4 })
      const end = { cause: "hangup", sipStatus: null, by: "near" } as const
      const left = Sample.carrier(hung, { type: "leaving", ...end }, 1_061_200)
      yield* write(steps(hung, left))
      yield* write(steps(left, Sample.carrier(left, { type: "ended", ...end }, 1_062_000)))
      yield* Effect.yieldNow
      expect(lines).toMatchObject([
        {
          message: "call ended",
          annotations: { why: "hangup_requested", initiator: "api", durationSecs: 60, packetsReceived: 3_000, mos: 4.4 }
        }
      ])
    }).pipe(Effect.provide([Logger.layer([logger]), LegSounds.layer]))
  })

  it("hide whose number it is", () => {
    expect(["+12025550150", "anonymous", "12", ""].map(CallLog.masked)).toEqual([
      "+1202555****",
      "anony****",
      "****",
      ""
    ])
  })

  it.effect("are written with their fields as annotations", () => {
    const lines: Array<unknown> = []
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    return Effect.flatMap(CallLog.make, (committed) => committed(ending())).pipe(
      Effect.provide([Logger.layer([logger]), LegSounds.layer]),
      Effect.map(() =>
        expect(lines).toMatchObject([{ level: "INFO", message: "call ended", annotations: { durationSecs: 999 } }])
      )
    )
  })

  it.effect("say at the end how the leg that sounded worst did, as soon as its media has gone", () => {
    const lines: Array<unknown> = []
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    return Effect.gen(function* () {
      const sounds = yield* LegSounds
      const step = ending()
      const [leg] = step.state.legs
      expect.assert(leg !== undefined)
      sounds.expect(leg.id)
      yield* (yield* CallLog.make)(step)
      expect(lines).toEqual([])
      sounds.tell(leg.id, {
        codec: "PCMU",
        packetsReceived: 950,
        loss: 0.06,
        jitterMs: 12.34,
        jitterMeanMs: 8.08,
        jitterMaxMs: 40.44,
        mos: 2.345
      })
      yield* Effect.yieldNow
      const jitter = { jitterMs: 12.3, jitterMeanMs: 8.1, jitterMaxMs: 40.4 }
      const sounded = { codec: "PCMU", packetsReceived: 950, loss: 0.06, ...jitter, mos: 2.35 }
      expect(lines).toMatchObject([{ message: "call ended", annotations: sounded }])
    }).pipe(Effect.provide([Logger.layer([logger]), LegSounds.layer]))
  })

  it.effect("say at the end that nothing was measured where the figures do not come", () => {
    const lines: Array<unknown> = []
    const logger = Logger.map(Logger.formatStructured, (line) => void lines.push(line))
    return Effect.gen(function* () {
      const step = ending()
      for (const { id } of step.state.legs) (yield* LegSounds).expect(id)
      yield* (yield* CallLog.make)(step)
      yield* TestClock.adjust(1_000)
      expect(lines).toMatchObject([{ message: "call ended", annotations: { durationSecs: 999, mos: null } }])
    }).pipe(Effect.provide([Logger.layer([logger]), LegSounds.layer]))
  })

  it("take a leg on which nothing came for worse than any that was heard", () => {
    const jitter = { jitterMs: 1, jitterMeanMs: 1, jitterMaxMs: 1 }
    const sound = (mos: number | null) => ({ codec: "PCMU", packetsReceived: 1, loss: 0, ...jitter, mos })
    expect(CallLog.worst([sound(4), null, sound(2), sound(3)])).toMatchObject({ mos: 2 })
    expect(CallLog.worst([sound(1), { ...sound(null), packetsReceived: 0 }])).toMatchObject({ packetsReceived: 0 })
    expect(CallLog.worst([null])).toMatchObject({ codec: null, mos: null })
  })
})
