import { describe, expect, it } from "@effect/vitest"
import * as Invariants from "./support/Invariants.ts"

const event = (sequence: number, event_type: string, data: Readonly<Record<string, unknown>>) => ({
  event_id: `${event_type} ${sequence}`,
  event_type,
  occurred_at: "2026-01-01T00:00:00.000Z",
  sequence,
  data
})
const call = (sequence: number, type = "call.dtmf") => event(sequence, type, { call_id: "c", conference_id: "r" })
const room = (sequence: number, type = "conference.member_joined") =>
  event(sequence, type, { call_id: "c", conference_id: "r" })

describe("The check of the delivered numbers", () => {
  it("finds a gap and a number that was given twice, in a call and in a conference", () => {
    expect(Invariants.numbering("all", [call(1), call(3)])).toEqual([
      "all got the numbers 1, 3 of c: 1 call.dtmf, 3 call.dtmf"
    ])
    expect(Invariants.numbering("all", [call(1), call(2), call(2, "call.ended")])).toHaveLength(1)
    expect(Invariants.numbering("all", [room(2), room(3)])).toHaveLength(1)
  })

  it("takes no event of a conference for one of its host's call, and none of a call for one of its conference", () => {
    const recording = room(2, "recording.completed")
    expect(Invariants.numbering("all", [call(2, "call.bridged"), call(1), room(1), recording])).toEqual([])
  })

  it("knows the numbers of events that newer ones have overtaken", () => {
    const speaking = [room(1), room(3)]
    expect(Invariants.numbering("all", speaking)).toHaveLength(1)
    expect(Invariants.numbering("all", speaking, () => [2, 3])).toEqual([])
  })

  it("takes the recording of a call for an event of the call", () => {
    const recording = event(2, "recording.completed", { call_id: "c", conference_id: null })
    expect(Invariants.numbering("all", [call(1), recording])).toEqual([])
  })
})
