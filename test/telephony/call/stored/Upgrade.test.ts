import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import { stateVersion } from "../../../../src/telephony/call/machine/CallState.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as UnreadableCall from "../../../../src/telephony/call/stored/UnreadableCall.ts"
import * as Upgrade from "../../../../src/telephony/call/stored/Upgrade.ts"
import * as Sample from "../CallSample.ts"
import type { Json } from "../../../../src/runtime/store/journal/Journal.ts"

const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, Json>

const scene = Sample.carrier(Sample.start(Sample.place()), { type: "answered", resume: null }, 1_001_000)

/** Rows as an earlier version would have them: it named a field otherwise, and the one before lacked another field. */
const { customerReference, room, ...others } = json(scene.state)
const ofVersion3 = { ...others, reference: customerReference ?? null }
const ofVersion4 = { ...ofVersion3, room: room ?? null }
const [{ context, input } = expect.unreachable("a scene has inputs")] = scene.log
const { type, ...fields } = json(input)
const inputOfVersion4 = { ...fields, kind: type ?? null }

/** A later program with its upgrades, each from one version to the next. */
const later = Upgrade.make({
  states: {
    3: (old) => ({ ...(old as object), room: null }),
    4: (old) => {
      const { reference, ...rest } = old as Record<string, Json>
      return { ...rest, customerReference: reference ?? null }
    }
  },
  inputs: {
    4: (old) => {
      const { kind, ...rest } = old as Record<string, Json>
      return { ...rest, type: kind ?? null }
    }
  }
})

describe("What an earlier version wrote", () => {
  for (const [version, state] of [
    [3, ofVersion3],
    [4, ofVersion4],
    [stateVersion, json(scene.state)]
  ] as const)
    it(`is read as a state of this version, from version ${version}`, () => {
      const row = { stateVersion: version, state }
      expect(Result.getOrThrow(later.state(row))).toStrictEqual(scene.state)
      expect(Result.getOrThrow(later.liveState(row, () => null))).toStrictEqual(scene.state)
      expect(later.shape(row)).toEqual(json(scene.state))
    })

  it("is read as an input of this version, which the machine accepts again", () => {
    const read = later.input({ machineVersion: 4, input: inputOfVersion4 })
    expect(read).toStrictEqual(input)
    expect(CallMachine.step(null, read, context).type).toBe("accepted")
    expect(later.inputShape({ machineVersion: 4, input: inputOfVersion4 })).toEqual(json(input))
  })

  it("is read where it names a number that no numbering plan has, which requests may no longer name", () => {
    const body = { to: "+005352123456", from: "+10115352123456", timeout_secs: 30, custom_headers: [] }
    expect(() => CallVerbs.decodeAction("transfer", body)).toThrow("must be E.164")
    const { custom_headers: customHeaders, timeout_secs: timeoutSecs, ...numbers } = body
    const kept = { verb: "transfer", body: { ...numbers, timeoutSecs, customHeaders } }
    expect(Schema.decodeUnknownSync(CallVerbs.CallAction)(kept)).toEqual(kept)
  })

  it("is not read by a program without its upgrade: the state fails, and the call is rebuilt for its end", () => {
    const row = { stateVersion: 4, state: ofVersion4 }
    expect(Result.isFailure(Upgrade.state(row))).toBe(true)
    expect(Result.isFailure(Upgrade.liveState(row, () => null))).toBe(true)
    expect(() => Upgrade.input({ machineVersion: 4, input: inputOfVersion4 })).toThrow()
    const rebuilt = UnreadableCall.rebuild(
      {
        ...row,
        id: scene.state.id,
        kind: "call",
        tenantId: scene.state.tenantId,
        partition: 0,
        seq: scene.state.seq,
        settled: false
      },
      []
    )
    const outcome = CallMachine.step(
      rebuilt,
      { type: "recovered", snapshot: { incarnation: "another", legs: {} }, lostAt: 2_000_000 },
      { now: 2_000_000, seed: "s" }
    )
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.events.map((event) => event.type)).toStrictEqual(["call.ended"])
    expect(outcome.effects.commands.map((command) => command.type)).toStrictEqual(["hangup"])
    // It was answered, and its rate can still be read.
    expect(outcome.state.costCents).toBeGreaterThan(0)
  })
})

describe("A call that version 5 began", () => {
  const ofVersion5 = (scene: Sample.Scene) => Upgrade.state({ stateVersion: 5, state: json(scene.state) })
  const hangUp = { type: "ended_by_system", reason: "hung_up", rejectCause: "user_busy" } as const

  it("announces its end as that version did, so that a replay of its journal gives what is stored", () => {
    const state = Result.getOrThrow(ofVersion5(scene))
    expect(state.rules).toBe(5)
    const outcome = CallMachine.step(state, hangUp, { now: 1_005_000, seed: "s" })
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.events.map((event) => event.type)).toStrictEqual(["call.ended"])
    expect(outcome.state).not.toHaveProperty("announceBy")
    expect(outcome.state).not.toHaveProperty("endWhy")

    const replayed = scene.log.reduce<ReturnType<typeof CallMachine.step> | null>((before, each) => {
      const read = Upgrade.input({ machineVersion: 5, input: json(each.input) })
      return CallMachine.step(before?.type === "accepted" ? before.state : null, read, each.context)
    }, null)
    expect.assert(replayed?.type === "accepted")
    expect(replayed.state).toStrictEqual(state)
  })

  it("that had ended is announced once, whoever rebuilds it", () => {
    const over = Sample.wait(Sample.send(scene, hangUp, 1_005_000))
    const state = Result.getOrThrow(ofVersion5(over))
    const gone = Sample.event({ state }, { type: "ended", cause: "hangup", sipStatus: null, by: "near" }, 1_006_000)
    const outcome = CallMachine.step(state, { type: "carrier", event: gone }, { now: 1_006_000, seed: "s" })
    expect.assert(outcome.type === "accepted")
    expect(outcome.effects.events).toStrictEqual([])
  })
})
