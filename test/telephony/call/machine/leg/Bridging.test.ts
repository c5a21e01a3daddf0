import { describe, expect, it } from "@effect/vitest"
import { primary } from "../../../../../src/telephony/call/machine/CallState.ts"
import * as CallVerbs from "../../../../../src/telephony/call/verb/CallVerbs.ts"
import type { LegReport } from "../../../../../src/carrier/Carrier.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import * as Sample from "../../CallSample.ts"

/** A bridge with the leg of another call, guide/calls.md#bridge, in the machine of one of the calls. */
const t0 = 1_000_000
const answered: LegReport = { type: "answered", resume: null }
const [legId, callId] = [Id.derive("other", "leg"), Id.derive("other", "call")]
const [thirdLeg, thirdCall] = [Id.derive("third", "leg"), Id.derive("third", "call")]

const talking = () => Sample.carrier(Sample.start(Sample.place(), t0), answered, t0 + 1000)
const bridge = (scene: Sample.Scene, now: number) =>
  Sample.send(
    scene,
    { type: "action", action: CallVerbs.decodeAction("bridge", { leg_id: legId }), peerCallId: callId },
    now
  )
const asked = () => bridge(talking(), t0 + 2000)
const joined: LegReport = { type: "bridged", peerLegId: legId, peerCallId: callId }
const parted = (peerEnded: boolean, peerLegId = legId): LegReport => ({ type: "unbridged", peerLegId, peerEnded })
const words = (scene: Sample.Scene) => (scene.effects.at(-1)?.commands ?? []).map(({ type }) => type)
const bridges = (scene: Sample.Scene) => Sample.types(scene).filter((type) => type === "call.bridged").length
const ended = ({ state }: Sample.Scene) => `${state.status} ${state.endReason} ${state.endInitiator}`

describe("A bridge", () => {
  it("is asked for by one call, and stands when the carrier says so", () => {
    const scene = asked()
    expect(scene.effects.at(-1)?.commands).toMatchObject([
      { type: "bridge", legId: primary(scene.state).id, peerLegId: legId, peerCallId: callId }
    ])
    expect(scene.state.status).toBe("answered")
    const both = Sample.carrier(scene, joined, t0 + 2100)
    expect(both.state.status).toBe("bridged")
    expect(both.state.pending).toEqual([])
    expect(Sample.events(both).at(-1)?.data).toMatchObject({ bridgedCallId: callId, bridgedLegId: legId })
  })

  it("that nobody here asked for is told the same way: the other call asked", () => {
    const scene = Sample.carrier(talking(), joined, t0 + 2000)
    expect([scene.state.status, bridges(scene)]).toEqual(["bridged", 1])
  })

  it("that both calls asked for at once is told once", () => {
    const twice = Sample.carrier(Sample.carrier(asked(), joined, t0 + 2100), joined, t0 + 2200)
    expect(Sample.last(twice)).toBe("unchanged")
    expect([bridges(twice), twice.state.pending.length]).toEqual([1, 0])
  })

  it("is possible while answered: not before, not while it is bridged, not while another one is asked for", () => {
    expect(Sample.last(bridge(Sample.start(Sample.place(), t0), t0 + 10))).toBe("call_not_in_required_state")
    expect(Sample.last(bridge(asked(), t0 + 2010))).toBe("conflict")
    expect(Sample.last(bridge(Sample.carrier(asked(), joined, t0 + 2100), t0 + 2200))).toBe(
      "call_not_in_required_state"
    )
  })

  it("is what a sound for the other leg needs: the command goes to this leg, and the item is this call's", () => {
    const play = (scene: Sample.Scene, target_legs: string) =>
      Sample.act(scene, "play", { url: "https://example.com/a.wav", target_legs }, t0 + 2200)
    for (const target of ["opposite", "both"]) {
      expect(Sample.last(play(asked(), target))).toBe("call_not_in_required_state")
      const scene = play(Sample.carrier(asked(), joined, t0 + 2100), target)
      const [item] = scene.state.work
      expect(item).toMatchObject({ type: "playback", legId: primary(scene.state).id, media: { type: "play", target } })
      const { id = Id.WorkId.make("") } = item ?? {}
      const end = { type: "ended", id, status: "stopped", reason: "unbridged" } as const
      const over = Sample.carrier(scene, { type: "media", event: end }, t0 + 2300)
      expect(Sample.events(over).at(-1)).toMatchObject({
        type: "call.playback_ended",
        data: { legId: item?.legId, status: "stopped", reason: "unbridged" }
      })
      expect(over.state.work).toEqual([])
    }
  })

  it("hangs the call up when the other leg ends, as if the other side had", () => {
    const scene = Sample.carrier(Sample.carrier(asked(), joined, t0 + 2100), parted(true), t0 + 62_000)
    expect(ended(scene)).toBe("ended normal_clearing caller")
    expect(words(scene)).toEqual(["hangup"])
  })

  it("leaves the call answered, without an event, when the other leg is taken away; it may be bridged again", () => {
    const scene = Sample.carrier(Sample.carrier(asked(), joined, t0 + 2100), parted(false), t0 + 3000)
    expect(scene.state.status).toBe("answered")
    expect(scene.effects.at(-1)?.events).toEqual([])
    expect(Sample.last(bridge(scene, t0 + 4000))).toBe("accepted")
  })

  it("that is replaced by a third is not ended by what is told late of the first", () => {
    const first = Sample.carrier(asked(), joined, t0 + 2100)
    const third = Sample.carrier(first, { ...joined, peerLegId: thirdLeg, peerCallId: thirdCall }, t0 + 2200)
    expect(Sample.last(Sample.carrier(third, parted(true), t0 + 2300))).toBe("unchanged")
    expect(bridges(third)).toBe(2)
    expect(ended(Sample.carrier(third, parted(true, thirdLeg), t0 + 9000))).toBe("ended normal_clearing caller")
  })

  const failures = [
    ["the other leg ended meanwhile", "unknown_leg", "leg_ended"],
    ["the carrier cannot join them", "other_thread", "carrier_error"]
  ] as const
  for (const [when, reason, told] of failures)
    it(`is told as failed when ${when}`, () => {
      const scene = asked()
      const commandId = scene.effects.at(-1)?.commands[0]?.commandId
      expect.assert(commandId !== undefined)
      const failed = Sample.carrier(scene, { type: "command_failed", commandId, reason }, t0 + 2100)
      expect(Sample.events(failed).at(-1)).toMatchObject({
        type: "call.bridge_failed",
        data: { bridgedLegId: legId, reason: told }
      })
      expect([failed.state.status, failed.state.pending.length]).toEqual(["answered", 0])
    })

  it("whose outcome never comes has failed after forty seconds", () => {
    const scene = Sample.wait(asked())
    expect(scene.state.at).toBe(t0 + 42_000)
    expect(Sample.events(scene).at(-1)).toMatchObject({ type: "call.bridge_failed", data: { reason: "timeout" } })
  })

  it("that is under way when the call ends is told before call.ended", () => {
    const scene = Sample.wait(Sample.act(asked(), "hangup", {}, t0 + 3000))
    expect(Sample.types(scene).slice(-2)).toEqual(["call.bridge_failed", "call.ended"])
    expect(Sample.events(scene).at(-2)?.data).toMatchObject({ bridgedLegId: legId, reason: "call_ended" })
  })

  it("takes the call's leg out of a transfer: the leg that rings is cancelled, the one that talked is hung up", () => {
    const ringing = Sample.carrier(Sample.transfer(talking(), {}, t0 + 2000), joined, t0 + 3000)
    expect(Sample.types(ringing).slice(-2)).toEqual(["call.bridged", "call.transfer_failed"])
    expect(words(ringing)).toContain("hangup")
    expect(ringing.state.status).toBe("bridged")

    let talked = Sample.other(Sample.transfer(talking(), {}, t0 + 2000), answered, t0 + 3000)
    const [a, b] = [primary(talked.state), Sample.transferLeg(talked)]
    talked = Sample.carrier(talked, { type: "bridged", peerLegId: b.id, peerCallId: talked.state.id }, t0 + 3100)
    talked = Sample.other(talked, { type: "bridged", peerLegId: a.id, peerCallId: talked.state.id }, t0 + 3100)
    talked = Sample.carrier(talked, parted(false, b.id), t0 + 4000)
    talked = Sample.carrier(talked, joined, t0 + 4000)
    expect(Sample.transferLeg(talked)).toMatchObject({ status: "ended", endInitiator: "api" })
    expect(talked.state.status).toBe("bridged")
  })

  it("of a transfer's leg with another call leaves the call answered; that leg's next end is its own", () => {
    let scene = Sample.other(Sample.transfer(talking(), {}, t0 + 2000), answered, t0 + 3000)
    const b = Sample.transferLeg(scene)
    scene = Sample.carrier(scene, { type: "bridged", peerLegId: b.id, peerCallId: scene.state.id }, t0 + 3100)
    scene = Sample.carrier(scene, parted(false, b.id), t0 + 4000)
    scene = Sample.other(scene, joined, t0 + 4000)
    expect([scene.state.status, Sample.transferLeg(scene).status]).toEqual(["answered", "bridged"])
    expect(bridges(scene)).toBe(1)
    scene = Sample.other(scene, parted(true), t0 + 9000)
    expect([scene.state.status, Sample.transferLeg(scene).status]).toEqual(["answered", "ended"])
    expect(words(scene)).toEqual(["hangup"])
  })
})
