import { describe, expect, it } from "@effect/vitest"
import type { CarrierCommand } from "../../../../src/carrier/Carrier.ts"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import { primary } from "../../../../src/telephony/call/machine/CallState.ts"
import { holdMs } from "../../../../src/telephony/call/machine/OnDeadline.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000
const answeredCall = () =>
  Sample.carrier(Sample.start(Sample.place(), t0), { type: "answered", resume: { dialog: 1 } }, t0 + 1000)
const sound = (url = "https://example.com/a.wav") => ({ url })
const ended = (scene: Sample.Scene) => {
  const { endInitiator, endReason, status } = scene.state
  return `${status} ${endReason} ${endInitiator}`
}
const after = (
  scene: Sample.Scene,
  presence: "alive" | "gone" | "elsewhere" | "unknown",
  lostAt: number,
  now: number
) => Sample.send(scene, Sample.recovered(scene, presence, lostAt), now)
/** The commands of the last step. */
const sent = (scene: Sample.Scene) => scene.effects.at(-1)?.commands ?? []
const word = (command: CarrierCommand) => (command.type === "media" ? command.media.type : command.type)

describe("A call whose leg is gone", () => {
  it("ends, billed to the last sign of life, and its leg is taken down", () => {
    const scene = after(answeredCall(), "gone", t0 + 31_000, t0 + 600_000)
    expect(ended(scene)).toBe("ended carrier_error system")
    expect(scene.state.endedAt).toBe(t0 + 31_000)
    expect(scene.state.costCents).toBe(1)
    const command = Sample.commands(scene).at(-1)
    expect(command?.type === "hangup" && JSON.stringify(command.resume) === '{"dialog":1}').toBe(true)
  })

  it("is not dialled again by another life of its carrier: the dial is found by its command and taken down", () => {
    const scene = after(Sample.start(Sample.place(), t0), "gone", t0 + 100, t0 + 5000)
    expect(ended(scene)).toBe("failed carrier_error system")
    const dial = Sample.commands(scene)[0]
    const command = Sample.commands(scene).at(-1)
    expect(command?.type === "hangup" && command.origin?.dialId === dial?.commandId).toBe(true)
    expect(Sample.commands(scene).filter((each) => each.type === "dial").length).toBe(1)
  })

  it("is refused when it is an inbound one that nobody had answered", () => {
    const scene = after(Sample.start(Sample.offered(), t0), "gone", t0 + 100, t0 + 5000)
    const command = Sample.commands(scene).at(-1)
    expect(command?.type === "reject" && command.cause === "error" && command.resume !== null).toBe(true)
  })

  it("gets a hang-up that was pending again, under its own identity", () => {
    const hung = Sample.act(answeredCall(), "hangup", {}, t0 + 2000)
    const scene = after(hung, "gone", t0 + 2500, t0 + 9000)
    expect(Sample.commands(scene).at(-1)?.commandId).toBe(Sample.commands(hung).at(-1)?.commandId)
    const told = Sample.wait(scene)
    expect(Sample.types(told).filter((type) => type === "call.ended").length).toBe(1)
  })

  it("gets a BYE after it answered across its CANCEL, because its dialog was stored before the ACK", () => {
    const ringing = Sample.carrier(
      Sample.start(Sample.place(), t0),
      { type: "ringing", resume: { calling: 1 } },
      t0 + 500
    )
    const hung = Sample.act(ringing, "hangup", {}, t0 + 1000)
    const left = Sample.carrier(
      hung,
      { type: "leaving", cause: "cancelled", sipStatus: null, by: "near", resume: { dialog: 1 } },
      t0 + 1100
    )
    const command = Sample.commands(after(left, "gone", t0 + 2500, t0 + 9000)).at(-1)
    expect(command).toMatchObject({ type: "hangup", resume: { dialog: 1 } })
  })

  it("is gone too when its carrier has nothing more to tell of its end", () => {
    const scene = answeredCall()
    const { heard, id, incarnation } = primary(scene.state)
    const said = (n: number) => ({
      type: "recovered" as const,
      lostAt: t0 + 5000,
      snapshot: {
        incarnation: incarnation ?? "",
        legs: { [id]: { state: "over" as const, n, ageMs: 0, answeredMs: 0 } }
      }
    })
    expect(Sample.last(Sample.send(scene, said(heard + 1), t0 + 6000))).toBe("unchanged")
    expect(ended(Sample.send(scene, said(heard), t0 + 6000))).toBe("ended carrier_error system")
  })
})

describe("A call whose leg lives", () => {
  it("costs nothing when nothing pends", () => {
    expect(Sample.last(after(answeredCall(), "alive", t0 + 2000, t0 + 9000))).toBe("unchanged")
  })

  it("sends everything that pends once more, under the same identities, and keeps it", () => {
    let scene = Sample.act(answeredCall(), "play", sound(), t0 + 2000)
    scene = Sample.act(scene, "send_dtmf", { digits: "12" }, t0 + 2100)
    scene = Sample.act(scene, "stop_playback", { stop: "all" }, t0 + 2200)
    const before = Sample.commands(scene).slice(-3)
    const again = after(scene, "alive", t0 + 3000, t0 + 9000)
    expect(sent(again).map(word)).toStrictEqual(["play", "stop_playback", "send_dtmf"])
    expect(new Set(sent(again).map(({ commandId }) => commandId))).toStrictEqual(
      new Set(before.map((b) => b.commandId))
    )
    expect(again.state.work).toStrictEqual(scene.state.work)
    expect(again.state.status).toBe("answered")
  })

  it("stops again only what it had stopped", () => {
    let scene = Sample.act(answeredCall(), "play", sound(), t0 + 2000)
    scene = Sample.act(scene, "stop_playback", { stop: "current" }, t0 + 2100)
    scene = Sample.act(scene, "play", sound("https://example.com/b.wav"), t0 + 2200)
    expect(sent(after(scene, "alive", t0, t0 + 9000)).map(word)).toStrictEqual(["play", "stop_playback", "play"])
  })

  it("is dialled once more by the same life of its carrier, which drops what it has", () => {
    const placed = Sample.start(Sample.place(), t0)
    const scene = Sample.send(
      placed,
      { type: "recovered", lostAt: t0, snapshot: { incarnation: "first life", legs: {} } },
      t0 + 100
    )
    expect(sent(scene)).toStrictEqual(Sample.commands(placed))
    expect(scene.state.status).toBe("initiated")
  })

  it("rings again as long as nobody answered, and is asked to answer once more", () => {
    const offered = Sample.start(Sample.offered(), t0)
    expect(sent(after(offered, "alive", t0, t0 + 100)).map(word)).toStrictEqual(["ring"])
    const answering = Sample.act(offered, "answer", {}, t0 + 50)
    const again = after(answering, "alive", t0, t0 + 100)
    expect(sent(again)).toStrictEqual(sent(answering))
  })

  it("goes on in another life of its carrier, without what that does not know of; events count from one", () => {
    const playing = Sample.act(answeredCall(), "play", sound(), t0 + 2000)
    let scene = after(playing, "elsewhere", t0 + 2050, t0 + 2100)
    expect(scene.state.status).toBe("answered")
    expect(scene.state.work).toStrictEqual([])
    expect(Sample.types(scene).at(-1)).toBe("call.playback_ended")
    expect(sent(scene).map(word)).toStrictEqual(["stop_playback", "stop_stream"])
    expect(primary(scene.state)).toMatchObject({ incarnation: "another life", heard: 0 })
    scene = Sample.dtmf(scene, "7", t0 + 2200)
    expect(Sample.types(scene).at(-1)).toBe("call.dtmf")
  })
})

describe("A call of which nobody can say whether its leg lives", () => {
  it("is waited for, then ends at the last sign of life", () => {
    const waiting = after(answeredCall(), "unknown", t0 + 31_000, t0 + 100_000)
    expect(waiting.state.status).toBe("answered")
    const scene = Sample.wait(waiting)
    expect(scene.state.at).toBe(t0 + 100_000 + holdMs)
    expect(ended(scene)).toBe("ended carrier_error system")
    expect(scene.state.endedAt).toBe(t0 + 31_000)
    expect(scene.state.costCents).toBe(1)
    expect(sent(scene)[0]?.type).toBe("hangup")
  })

  it("waits no longer, and ends no later, because it is told so again", () => {
    const waiting = after(answeredCall(), "unknown", t0 + 31_000, t0 + 100_000)
    const again = after(waiting, "unknown", t0 + 120_000, t0 + 130_000)
    expect(Sample.last(again)).toBe("unchanged")
    expect(after(again, "gone", t0 + 140_000, t0 + 150_000).state.endedAt).toBe(t0 + 31_000)
  })

  it("ends no bill while it waits: its limit passes, and counts when the leg is there again", () => {
    const limited = Sample.start(
      Sample.place({ terms: Sample.terms({ limit: { afterSecs: 60, reason: "time_limit" } }) }),
      t0
    )
    const talking = Sample.carrier(limited, { type: "answered", resume: null }, t0 + 1000)
    const waiting = after(talking, "unknown", t0 + 30_000, t0 + 40_000)
    expect(CallMachine.nextDeadline(waiting.state)?.at).toBe(t0 + 40_000 + holdMs)
    const back = after(waiting, "alive", t0 + 30_000, t0 + 80_000)
    expect(primary(back.state).lost).toBeNull()
    const over = Sample.wait(back)
    expect(ended(over)).toBe("ended time_limit system")
    expect(over.state.endedAt).toBe(t0 + 61_000)
  })

  it("goes on when an event shows that the leg is there", () => {
    const waiting = after(answeredCall(), "unknown", t0 + 31_000, t0 + 100_000)
    const heard = Sample.dtmf(waiting, "7", t0 + 101_000)
    expect(primary(heard.state).lost).toBeNull()
    expect(heard.state.status).toBe("answered")
  })

  it("hears of a hang-up when its carrier is back", () => {
    const waiting = after(answeredCall(), "unknown", t0 + 31_000, t0 + 100_000)
    const hung = Sample.act(waiting, "hangup", {}, t0 + 110_000)
    expect(CallMachine.nextDeadline(Sample.wait(hung).state)?.at).toBe(t0 + 100_000 + holdMs)
    const back = after(hung, "alive", t0 + 31_000, t0 + 120_000)
    expect(sent(back).map(({ commandId }) => commandId)).toStrictEqual(sent(hung).map(({ commandId }) => commandId))
  })
})
