import { describe, expect, it } from "@effect/vitest"
import * as CallMachine from "../../../../../src/telephony/call/machine/CallMachine.ts"
import { primary } from "../../../../../src/telephony/call/machine/CallState.ts"
import * as Reservation from "../../../../../src/telephony/call/machine/Reservation.ts"
import type { LegReport } from "../../../../../src/carrier/Carrier.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import * as Sample from "../../CallSample.ts"

/** Transfers, guide/calls.md#transfer. */
const t0 = 1_000_000
const answered: LegReport = { type: "answered", resume: { dialog: 1 } }
const hungUp: LegReport = { type: "ended", cause: "hangup", sipStatus: null, by: "far" }
const busy: LegReport = { type: "ended", cause: "final_response", sipStatus: 486, by: "far" }

const talking = (placed = Sample.start(Sample.place(), t0)) => Sample.carrier(placed, answered, t0 + 1000)
const ringing = (body: object = {}) => Sample.transfer(talking(), body, t0 + 2000)

/** The carrier's reports of a bridge between the call's two legs. */
const joined = (scene: Sample.Scene, now: number): Sample.Scene => {
  const [a, b] = [primary(scene.state), Sample.transferLeg(scene)]
  const peerCallId = scene.state.id
  const one = Sample.carrier(scene, { type: "bridged", peerLegId: b.id, peerCallId }, now)
  return Sample.other(one, { type: "bridged", peerLegId: a.id, peerCallId }, now)
}
const bridged = () => joined(Sample.other(ringing(), answered, t0 + 5000), t0 + 5010)

const words = (scene: Sample.Scene) =>
  (scene.effects.at(-1)?.commands ?? []).map((command) => {
    if (command.type !== "media") return command.type
    return command.media.type === "ringback" ? `ringback ${command.media.isOn ? "on" : "off"}` : command.media.type
  })
const failedEvent = (scene: Sample.Scene) => {
  const event = Sample.events(scene).find(({ type }) => type === "call.transfer_failed")
  return event?.type === "call.transfer_failed" ? `${event.data.endReason} ${event.data.sipStatus}` : null
}
const ended = ({ state }: Sample.Scene) => `${state.status} ${state.endReason} ${state.endInitiator}`

describe("A transfer", () => {
  it("dials another leg near the first, which hears ring-back, and keeps the call answered", () => {
    const scene = ringing({ custom_headers: [{ name: "X-Customer", value: "7" }] })
    expect(words(scene)).toEqual(["dial", "ringback on"])
    const [dial] = scene.effects.at(-1)?.commands ?? []
    expect(dial).toMatchObject({
      near: primary(scene.state).id,
      from: "+12025550150",
      to: "+12025550101",
      headers: [{ name: "X-Customer", value: "7" }]
    })
    expect(scene.state.status).toBe("answered")
    expect(Sample.transferLeg(scene)).toMatchObject({ role: "transfer", status: "initiated", ringSecs: 60 })
    expect(Sample.types(scene)).toEqual(["call.started", "call.answered"])
  })

  it("bridges both when the other one answers, and tells it once, of the call's own leg", () => {
    const answer = Sample.other(ringing(), answered, t0 + 5000)
    expect(words(answer)).toEqual(["ringback off", "bridge"])
    const scene = joined(answer, t0 + 5010)
    expect(scene.state.status).toBe("bridged")
    expect(scene.state.legs.map(({ bridge, status }) => [status, bridge?.legId])).toEqual([
      ["bridged", Sample.transferLeg(scene).id],
      ["bridged", primary(scene.state).id]
    ])
    const told = Sample.events(scene).filter(({ type }) => type === "call.bridged")
    expect(told.map(({ data }) => data)).toEqual([
      {
        callId: scene.state.id,
        conferenceId: null,
        legId: primary(scene.state).id,
        customerReference: "order 7",
        bridgedCallId: null,
        bridgedLegId: Sample.transferLeg(scene).id,
        bridgedAt: t0 + 5010
      }
    ])
    expect(scene.state.pending).toEqual([])
  })

  it("rings no longer than it may; the call goes on", () => {
    const scene = Sample.wait(ringing({ timeout_secs: 7 }))
    expect(scene.state.at).toBe(t0 + 9000)
    expect(failedEvent(scene)).toBe("timeout null")
    expect(words(scene)).toEqual(["hangup", "ringback off"])
    expect(scene.state.status).toBe("answered")
    const gone = Sample.other(scene, { type: "ended", cause: "cancelled", sipStatus: 487, by: "near" }, t0 + 9100)
    expect(gone.state.pending).toEqual([])
    expect(Sample.types(gone).filter((type) => type === "call.transfer_failed").length).toBe(1)
  })

  it("that is busy tells so, with its SIP status, and may be tried again", () => {
    const scene = Sample.other(ringing(), busy, t0 + 3000)
    expect(failedEvent(scene)).toBe("user_busy 486")
    expect(Sample.transferLeg(scene)).toMatchObject({ status: "failed", endReason: "user_busy", sipStatus: 486 })
    expect(words(scene)).toEqual(["ringback off"])
    expect(Sample.last(Sample.transfer(scene, {}, t0 + 4000, "c"))).toBe("accepted")
  })

  it("that the carrier cannot dial fails, whether it tells an end or not", () => {
    const scene = ringing()
    const [dial] = scene.effects.at(-1)?.commands ?? []
    expect.assert(dial !== undefined)
    const failed = Sample.other(
      scene,
      { type: "command_failed", commandId: dial.commandId, reason: "overloaded" },
      t0 + 2100
    )
    expect(failedEvent(failed)).toBe("carrier_error null")
    const over = Sample.other(failed, { type: "ended", cause: "error", sipStatus: null, by: "network" }, t0 + 2200)
    expect(over.state.pending).toEqual([])
    expect(over.state.status).toBe("answered")
  })

  it("one at a time: another one, a bridge and a referral are a conflict", () => {
    const scene = ringing()
    expect(Sample.last(Sample.transfer(scene, {}, t0 + 3000, "c"))).toBe("conflict")
    expect(Sample.last(Sample.act(scene, "refer", { sip_address: "sip:a@example.com" }, t0 + 3000))).toBe("conflict")
  })

  it("whose bridge cannot be had fails, and its leg is hung up", () => {
    const answer = Sample.other(ringing(), answered, t0 + 5000)
    const bridge = answer.effects.at(-1)?.commands.at(-1)
    expect.assert(bridge?.type === "bridge")
    const scene = Sample.carrier(
      answer,
      { type: "command_failed", commandId: bridge.commandId, reason: "other_thread" },
      t0 + 5100
    )
    expect(failedEvent(scene)).toBe("carrier_error null")
    expect(words(scene)).toEqual(["hangup", "ringback off"])
    const never = Sample.wait(answer)
    expect(never.state.at).toBe(t0 + 45_000)
    expect(failedEvent(never)).toBe("carrier_error null")
  })

  it("ends with its call: its leg is taken down, and the transfer told as cancelled before call.ended", () => {
    const scene = Sample.carrier(ringing(), hungUp, t0 + 3000)
    expect(ended(scene)).toBe("ended normal_clearing callee")
    expect(Sample.types(scene).slice(-2)).toEqual(["call.transfer_failed", "call.ended"])
    expect(failedEvent(scene)).toBe("cancelled null")
    expect(words(scene)).toEqual(["hangup"])
    expect(Sample.transferLeg(scene)).toMatchObject({ status: "ended", endReason: "cancelled" })
    expect(CallMachine.isSettled(scene.state)).toBe(false)
    const gone = Sample.other(scene, { type: "ended", cause: "cancelled", sipStatus: 487, by: "near" }, t0 + 3100)
    expect(CallMachine.isSettled(gone.state)).toBe(true)
  })

  it("whose leg answers and hangs up before the bridge is told has failed; what is told late changes nothing", () => {
    const answer = Sample.other(ringing(), answered, t0 + 5000)
    const over = Sample.other(answer, hungUp, t0 + 5100)
    expect(failedEvent(over)).toBe("normal_clearing null")
    const b = Sample.transferLeg(over)
    const late = Sample.carrier(over, { type: "bridged", peerLegId: b.id, peerCallId: over.state.id }, t0 + 5200)
    expect(late.state.status).toBe("answered")
    const parted = Sample.carrier(late, { type: "unbridged", peerLegId: b.id, peerEnded: true }, t0 + 5300)
    expect(parted.state.status).toBe("answered")
    expect(Sample.types(parted)).not.toContain("call.bridged")
  })
})

describe("A call that was transferred", () => {
  for (const order of ["the leg's own end", "the end of the bridge"] as const)
    it(`is over when the other leg hangs up, whatever is told first: ${order}`, () => {
      const scene = bridged()
      const b = Sample.transferLeg(scene)
      const unbridged: LegReport = { type: "unbridged", peerLegId: b.id, peerEnded: true }
      const over =
        order === "the leg's own end"
          ? Sample.carrier(Sample.other(scene, hungUp, t0 + 65_500), unbridged, t0 + 65_510)
          : Sample.other(Sample.carrier(scene, unbridged, t0 + 65_490), hungUp, t0 + 65_500)
      expect(ended(over)).toBe("ended normal_clearing caller")
      // Two minutes at one cent from the first answer, two at two cents from the second.
      expect(over.state.costCents).toBe(2 + 4)
      expect(over.effects.reduce((sum, effects) => sum + Sample.charged(effects), 0)).toBe(6)
      expect(Sample.commands(over).filter(({ type }) => type === "hangup").length).toBe(1)
    })

  it("leaves the leg of the transfer before when it is transferred again", () => {
    const before = bridged()
    const old = Sample.transferLeg(before)
    const scene = Sample.transfer(before, {}, t0 + 10_000, "c")
    expect(words(scene)).toEqual(["hangup", "dial", "ringback on"])
    expect(scene.state.status).toBe("answered")
    expect(scene.state.legs.find(({ id }) => id === old.id)).toMatchObject({
      status: "ended",
      endReason: "normal_clearing",
      endInitiator: "api",
      endedAt: t0 + 10_000
    })
    const late = Sample.carrier(scene, { type: "unbridged", peerLegId: old.id, peerEnded: true }, t0 + 10_100)
    expect(late.state.status).toBe("answered")
    expect(joined(Sample.other(late, answered, t0 + 11_000), t0 + 11_010).state.status).toBe("bridged")
  })

  it("leaves another call's leg to its call, and asks the carrier to part them", () => {
    const foreign = Id.derive("foreign", "leg")
    const scene = Sample.carrier(
      talking(),
      { type: "bridged", peerLegId: foreign, peerCallId: Id.derive("foreign", "call") },
      t0 + 1500
    )
    expect(words(Sample.transfer(scene, {}, t0 + 2000))).toEqual(["unbridge", "dial", "ringback on"])
  })

  it("ends at its own limit, and takes both legs down", () => {
    const placed = Sample.start(
      Sample.place({ terms: Sample.terms({ limit: { afterSecs: 60, reason: "time_limit" } }) }),
      t0
    )
    const scene = Sample.other(Sample.transfer(talking(placed), {}, t0 + 2000), answered, t0 + 3000)
    const over = Sample.wait(joined(scene, t0 + 3010))
    expect(ended(over)).toBe("ended time_limit system")
    expect(words(over)).toEqual(["hangup", "hangup"])
  })

  it("holds a place and a minute of its account for each leg that lives", () => {
    const one = Reservation.live(talking().state)
    const two = Reservation.live(ringing().state)
    expect([one?.places, two?.places]).toEqual([1, 2])
    // Sixty minutes of each leg, at one and two cents.
    expect([one?.reservedCents, two?.reservedCents]).toEqual([60, 180])
    const failed = Reservation.live(Sample.other(ringing(), busy, t0 + 3000).state)
    expect(failed).toEqual(one)
  })
})

describe("A transfer, after a restart", () => {
  const facts = { n: 0, ageMs: 0, answeredMs: null } as const
  const recovered = (
    scene: Sample.Scene,
    legs: Readonly<Record<string, "alerting" | "answered">>,
    life: string,
    now: number
  ) =>
    Sample.send(
      scene,
      {
        type: "recovered",
        lostAt: now - 1000,
        snapshot: {
          incarnation: life,
          legs: Object.fromEntries(Object.entries(legs).map(([id, state]) => [id, { ...facts, state, n: 99 }]))
        }
      },
      now
    )

  it("is found by both legs at the same carrier: the dial and the ring-back are sent again", () => {
    const scene = ringing()
    const [a, b] = [primary(scene.state), Sample.transferLeg(scene)]
    const again = recovered(scene, { [a.id]: "answered", [b.id]: "alerting" }, "first life", t0 + 4000)
    expect(words(again)).toEqual(["dial", "ringback on"])
    expect(again.effects.at(-1)?.commands[0]).toEqual(scene.effects.at(-1)?.commands[0])
  })

  it("fails where its leg is gone: the dial is found by its command, taken down, and the call goes on", () => {
    const scene = ringing()
    const a = primary(scene.state)
    const again = recovered(scene, { [a.id]: "answered" }, "another life", t0 + 4000)
    expect(failedEvent(again)).toBe("carrier_error null")
    expect(again.state.status).toBe("answered")
    const hangup = again.effects.at(-1)?.commands.find(({ type }) => type === "hangup")
    expect(hangup?.type === "hangup" && hangup.origin?.dialId).toBe(Sample.transferLeg(scene).dialId)
  })

  it("ends the call where both are gone, billed to the last sign of life", () => {
    const over = recovered(bridged(), {}, "another life", t0 + 120_000)
    expect(ended(over)).toBe("ended carrier_error system")
    expect(over.state.endedAt).toBe(t0 + 119_000)
    expect(over.state.costCents).toBe(2 + 4)
    expect(words(over)).toEqual(["hangup", "hangup"])
  })

  it("is bridged again by a carrier that has both legs and no bridge", () => {
    const scene = bridged()
    const [a, b] = [primary(scene.state), Sample.transferLeg(scene)]
    const again = recovered(scene, { [a.id]: "answered", [b.id]: "answered" }, "another life", t0 + 6000)
    expect(words(again)).toContain("bridge")
    const told = Sample.carrier(again, { type: "bridged", peerLegId: b.id, peerCallId: scene.state.id }, t0 + 6100)
    expect(told.state.pending).toEqual([])
    expect(Sample.types(told).filter((type) => type === "call.bridged").length).toBe(1)
  })

  it("waits for its legs while the carrier cannot be asked, and then ends", () => {
    const lost = Sample.send(ringing(), { type: "recovered", lostAt: t0 + 3000, snapshot: null }, t0 + 4000)
    expect(lost.state.legs.map((leg) => leg.lost !== null)).toEqual([true, true])
    const over = Sample.wait(lost)
    expect(ended(over)).toBe("ended carrier_error system")
    expect(over.state.endedAt).toBe(t0 + 3000)
  })
})
