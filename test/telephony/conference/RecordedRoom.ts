import { expect } from "@effect/vitest"
import * as ConferenceMachine from "../../../src/telephony/conference/machine/ConferenceMachine.ts"
import type { ConferenceInput } from "../../../src/telephony/conference/machine/ConferenceInput.ts"
import type { ConferenceState } from "../../../src/telephony/conference/machine/ConferenceState.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"

/** A recorded room in the conference's machine. */
export const t0 = 1_000_000
export const conferenceId = Id.derive("room", "conf")
export const minuteMs = 60_000

export interface Scene {
  readonly state: ConferenceState
  readonly charges: ReadonlyArray<unknown>
  readonly commands: ReadonlyArray<string>
}

let seeds = 0
export const send = (scene: Scene | null, input: ConferenceInput, now: number): Scene => {
  const outcome = ConferenceMachine.step(scene?.state ?? null, input, { now, seed: `seed ${seeds++}` })
  if (outcome.type === "unchanged" && scene !== null) return { ...scene, charges: [], commands: [] }
  expect.assert(outcome.type === "accepted")
  return {
    state: outcome.state,
    charges: outcome.effects.charges,
    commands: outcome.effects.commands.map((command) => (command.type === "media" ? command.media.type : command.type))
  }
}

export const created = (): Scene => {
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

export const act = (
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
