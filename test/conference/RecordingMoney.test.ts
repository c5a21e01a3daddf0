import { describe, expect, it } from "@effect/vitest"
import * as ConferenceMachine from "../../src/conference/ConferenceMachine.ts"
import type { ConferenceInput } from "../../src/conference/ConferenceInput.ts"
import * as RecordingMoney from "../../src/conference/RecordingMoney.ts"
import type { ConferenceState } from "../../src/conference/ConferenceState.ts"
import * as Id from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

/** What recordings of a room cost, guide/money.md#what-a-call-costs, as the conference's machine sees it. */
const t0 = 1_000_000
const conferenceId = Id.derive("room", "conf")
const minuteMs = 60_000

interface Scene {
  readonly state: ConferenceState
  readonly charges: ReadonlyArray<unknown>
  readonly commands: ReadonlyArray<string>
}

let seeds = 0
const send = (scene: Scene | null, input: ConferenceInput, now: number): Scene => {
  const outcome = ConferenceMachine.step(scene?.state ?? null, input, { now, seed: `seed ${seeds++}` })
  if (outcome.type === "unchanged" && scene !== null) return { ...scene, charges: [], commands: [] }
  expect.assert(outcome.type === "accepted")
  return {
    state: outcome.state,
    charges: outcome.effects.charges,
    commands: outcome.effects.commands.map((command) => (command.type === "media" ? command.media.type : command.type))
  }
}

const created = (): Scene => {
  const made = send(
    null,
    {
      type: "create",
      conferenceId,
      timeOffsetMs: 0,
      tenantId: Ids.tenant("6f1b0a52-6c0e-4d4e-9a57-0d7a3f3f6c11"),
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
    },
    t0
  )
  const of = { conferenceId, at: t0, incarnation: "first", n: 1 }
  return send(made, { type: "room", event: { ...of, type: "live" } }, t0)
}

const act = (
  scene: Scene,
  verb: "record_start" | "record_stop" | "record_pause" | "record_resume" | "end",
  now: number,
  minutes = 1
) =>
  send(
    scene,
    {
      type: "action",
      mostParticipants: null,
      action:
        verb === "record_start"
          ? { verb, body: { format: "wav", channels: "single", hasBeep: false } }
          : { verb, body: {} },
      ...(verb === "record_start"
        ? {
            recording: {
              microUsdPerMinute: 20_000,
              reservedMinutes: [...scene.state.meters.map(() => minutes), minutes]
            }
          }
        : {})
    },
    now
  )

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
    // One minute of each.
    expect(over.charges).toEqual([{ type: "recording_charge", cents: 4 }])
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
