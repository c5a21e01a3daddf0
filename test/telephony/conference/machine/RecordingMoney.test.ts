import { describe, expect, it } from "@effect/vitest"
import * as ConferenceMachine from "../../../../src/telephony/conference/machine/ConferenceMachine.ts"
import type { ConferenceInput } from "../../../../src/telephony/conference/machine/ConferenceInput.ts"
import * as RecordingMoney from "../../../../src/telephony/conference/machine/RecordingMoney.ts"
import { act, conferenceId, created, minuteMs, type Scene, send, t0 } from "../RecordedRoom.ts"

/** The cost of a room's recordings, guide/money.md#what-a-call-costs, in the conference's machine. */

const expectRunning = ({ state }: Scene) => {
  const [recording] = state.recordings
  expect.assert(recording !== undefined)
  return recording
}

describe("A recording of a room", () => {
  it("is charged by its started minutes, without its pauses, with the end of the conference and all others", () => {
    const recording = act(created(), "record_start", t0 + 1000, 30)
    const resumed = act(act(recording, "record_pause", t0 + 31_000), "record_resume", t0 + 10 * minuteMs)
    const stopped = act(resumed, "record_stop", t0 + 10 * minuteMs + 29_000)
    expect(stopped.charges).toEqual([])
    const again = act(stopped, "record_start", t0 + 20 * minuteMs)
    const over = act(again, "end", t0 + 20 * minuteMs + 1)
    // One minute of each recording.
    expect(over.charges).toEqual([{ type: "recording_charge", cents: 4 }])
  })

  it("costs nothing when it fails while the room is there, and what the room has cost stays", () => {
    const recording = act(created(), "record_start", t0 + 1000, 30)
    const { id } = expectRunning(recording)
    const ended = { type: "ended", id, status: "failed", reason: "no_sound" } as const
    const of = { conferenceId, at: t0 + 2000, incarnation: "first", n: 2 }
    const failed = (scene: Scene) =>
      send(scene, { type: "room", event: { ...of, type: "media", event: ended } }, t0 + 2000)
    const stopped = act(recording, "record_stop", t0 + 1001)
    expect(act(failed(stopped), "end", t0 + minuteMs).charges).toEqual([])
    expect(act(failed(recording), "end", t0 + minuteMs).charges).toEqual([])
    const over = act(stopped, "end", t0 + 1500)
    expect(over.charges).toEqual([{ type: "recording_charge", cents: 2 }])
    expect(failed(over).state.meters).toEqual(over.state.meters)
  })

  it("is begun 128 times in one room, and then no more", () => {
    let scene = created()
    for (let nth = 0; nth < 128; nth++) {
      scene = act(scene, "record_start", t0 + 1000)
      const { id } = expectRunning(scene)
      const stopped = act(scene, "record_stop", t0 + 2000)
      const ended = { type: "ended", id, status: "failed", reason: "storage_error" } as const
      const of = { conferenceId, at: t0 + 2000, incarnation: "first", n: nth + 2 }
      scene = send(stopped, { type: "room", event: { ...of, type: "media", event: ended } }, t0 + 2000)
    }
    const input: ConferenceInput = {
      type: "action",
      mostParticipants: null,
      action: { verb: "record_start", body: { format: "wav", channels: "single", hasBeep: false } }
    }
    const outcome = ConferenceMachine.step(scene.state, input, { now: t0 + 3000, seed: "last" })
    expect(outcome.type === "rejected" && outcome.error.code).toBe("conflict")
  })

  it("asks for more before its reserved end, and goes on with what it gets", () => {
    const recording = act(created(), "record_start", t0 + 1000)
    const at = t0 + 1000 + minuteMs - 15_000
    expect(RecordingMoney.renewsAt(recording.state)).toBe(at)
    const renewed = send(recording, { type: "renewal", reservedMinutes: [3] }, at)
    expect(RecordingMoney.renewsAt(renewed.state)).toBe(at + 2 * minuteMs)
    const over = act(renewed, "end", t0 + 1000 + 2 * minuteMs + 1)
    expect(over.charges).toEqual([{ type: "recording_charge", cents: 6 }])
  })

  it("ends where nobody pays for it any more, and the room goes on", () => {
    let scene = act(created(), "record_start", t0 + 1000)
    const end = t0 + 1000 + minuteMs
    for (let tries = 0; tries < 10; tries++) {
      const next = ConferenceMachine.nextDeadline(scene.state)
      expect.assert(next !== null)
      scene = send(scene, next.input, next.at)
      if (next.input.type === "deadline" && next.input.deadline === "unpaid") {
        expect([next.at, scene.commands]).toEqual([end, ["stop_recording"]])
        break
      }
      expect(next.at).toBeLessThan(end)
    }
    expect([scene.state.status, scene.state.recordings[0]?.until === null]).toEqual(["in_progress", false])
    expect(act(scene, "end", end + minuteMs).charges).toEqual([{ type: "recording_charge", cents: 2 }])
  })
})
