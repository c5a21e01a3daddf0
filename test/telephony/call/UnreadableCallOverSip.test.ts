/** A call whose stored state is damaged, and the SIP messages that its far end gets. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, primary, stateVersion } from "../../../src/telephony/call/machine/CallState.ts"
import * as UnreadableCall from "../../../src/telephony/call/stored/UnreadableCall.ts"
import * as Upgrade from "../../../src/telephony/call/stored/Upgrade.ts"
import * as Rig from "../../carrier/sip/Rig.ts"
import * as Sample from "./CallSample.ts"

const t0 = 1_000_000
const rowOf = (state: unknown, version = stateVersion) => ({
  id: Sample.terms().callId,
  kind: "call" as const,
  tenantId: Sample.tenantId,
  partition: 0,
  seq: 9,
  settled: false,
  stateVersion: version,
  state: JSON.parse(JSON.stringify(state))
})

/** The state of a call over SIP whose process dies at this point, with the resume of its real dialog. */
const killed = Effect.fnUntraced(function* (until: "ringing" | "answered") {
  let scene = Sample.start(Sample.place(), t0)
  const rig = yield* Rig.make("first")
  const dial = Sample.commands(scene)[0]
  expect.assert(dial?.type === "dial")
  yield* rig.command(dial)
  const invite = Rig.requestOf(rig.sent(), "INVITE")
  yield* rig.deliver(Rig.reply(invite, 180))
  if (until === "answered") yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody() }))
  for (const event of rig.told())
    scene = Sample.send(scene, { type: "carrier", event: { ...event, at: t0 + 100 } }, t0 + 100)
  return scene
})

const recover = (state: CallState) => {
  const outcome = CallMachine.step(
    state,
    { type: "recovered", snapshot: { incarnation: "next life", legs: {} }, lostAt: t0 + 100_000 },
    { now: t0 + 200_000, seed: "s" }
  )
  expect.assert(outcome.type === "accepted")
  return outcome
}

describe("A damaged state of a call over SIP", () => {
  for (const [what, damage] of [
    ["a meter has lost its leg", ({ meters }: CallState) => ({ meters: [{ ...meters[0], legId: 7 }] })],
    ["its status is another's", () => ({ status: "dancing" })],
    ["the limit of its leg is lost", ({ legs }: CallState) => ({ legs: [{ ...legs[0], limit: null }] })],
    ["a field of its leg is", ({ legs }: CallState) => ({ legs: [{ ...legs[0], initiatedAt: "soon" }] })]
  ] as const)
    it.effect(`gives its far end the BYE of its dialog, and its bill, when ${what}`, () =>
      Effect.gen(function* () {
        const { state } = yield* killed("answered")
        const row = rowOf({ ...state, ...damage(state) })
        expect(Result.isFailure(Upgrade.state(row))).toBe(true)
        const { effects, state: ended } = recover(UnreadableCall.rebuild(row, []))
        expect(effects.charges).toStrictEqual(recover(state).effects.charges)
        expect(effects.charges).not.toStrictEqual([])
        expect(ended.ratingStatus).toBe("rated")
        const rig = yield* Rig.make("second")
        for (const command of effects.commands) yield* rig.command(command)
        const bye = Rig.requestOf(rig.sent(), "BYE")
        expect(Rig.cseqOf(bye)).toBeGreaterThan(100)
        yield* rig.deliver(Rig.reply(bye, 200))
        expect(Rig.words(rig.told())).toStrictEqual(["ended lost - network"])
      })
    )

  it.effect("gives a far end that rings its CANCEL, without a resume by the identity of its dial", () =>
    Effect.gen(function* () {
      const { state } = yield* killed("ringing")
      for (const resume of [state.legs[0]?.resume ?? null, "unreadable"]) {
        const row = rowOf({ ...state, told: "much", legs: [{ ...state.legs[0], resume }] })
        const { effects } = recover(UnreadableCall.rebuild(row, []))
        const rig = yield* Rig.make("second")
        for (const command of effects.commands) yield* rig.command(command)
        expect(Rig.names(rig.sent())).toStrictEqual(["CANCEL"])
      }
    })
  )

  it("takes every leg down, and closes what work is whole", () => {
    const playing = Sample.act(
      Sample.carrier(Sample.start(Sample.place(), t0), { type: "answered", resume: 1 }, t0),
      "play",
      { url: "https://a.example/" },
      t0
    )
    const { state } = playing
    const second = { ...state.legs[0], id: "svc_leg_2", role: "transfer", resume: { d: 2 }, dialId: 7 }
    const row = rowOf({
      ...state,
      at: null,
      legs: [...state.legs, second, { lost: true }],
      work: [...state.work, { type: "x" }]
    })
    const { effects } = recover(UnreadableCall.rebuild(row, []))
    expect(effects.commands.map((command) => [command.legId, "resume" in command && command.resume])).toStrictEqual([
      [primary(state).id, 1],
      ["svc_leg_2", { d: 2 }]
    ])
    expect(effects.events.map(({ type }) => type)).toStrictEqual(["call.playback_ended", "call.ended"])
  })

  it("is not ended or charged a second time when the call had ended: its leg is hung up again", () => {
    const hung = Sample.act(
      Sample.carrier(Sample.start(Sample.place(), t0), { type: "answered", resume: 1 }, t0),
      "hangup",
      {},
      t0 + 1000
    )
    for (const pending of [hung.state.pending, "gone"]) {
      const { effects, state } = recover(UnreadableCall.rebuild(rowOf({ ...hung.state, told: "much", pending }), []))
      expect([effects.events, effects.charges]).toStrictEqual([[], []])
      expect(effects.commands[0]?.type).toBe("hangup")
      expect([state.costCents, state.ratingStatus]).toStrictEqual([hung.state.costCents, "rated"])
    }
  })
})
