import { describe, expect, it } from "@effect/vitest"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import { isTerminal } from "../../../../src/telephony/call/machine/CallState.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000

const answered = () =>
  Sample.carrier(
    Sample.start(Sample.place({ terms: Sample.terms({ prices: { ...WorkPrice.free, transcription: 30_000 } }) }), t0),
    { type: "answered", resume: null },
    t0 + 1_000
  )

const act = (scene: Sample.Scene, verb: "transcription_start" | "transcription_stop", now: number) =>
  Sample.send(
    scene,
    {
      type: "action",
      action: CallVerbs.decodeAction(verb, {}),
      ...(verb === "transcription_start" ? { reservedMinutes: [60, 2] } : {})
    },
    now
  )

const started = () => act(answered(), "transcription_start", t0 + 2_000)

const phrase = (scene: Sample.Scene, id: ReturnType<typeof Sample.lastWork>, text: string, at: number, now = at) =>
  Sample.media(
    scene,
    {
      type: "transcribed",
      id,
      at,
      track: "inbound",
      text,
      confidence: 0.5,
      durationMs: 500,
      words: [{ word: text, startMs: 100, endMs: 400, confidence: null }]
    },
    now
  )

const events = (scene: Sample.Scene) => scene.effects.flatMap(({ events: told }) => told.map(({ type }) => type))
const rows = (scene: Sample.Scene) => scene.effects.flatMap((effects) => effects.rows.map(({ row }) => row))
const chunks = (scene: Sample.Scene) =>
  scene.effects.flatMap((effects) =>
    effects.events.flatMap((event) => (event.type === "call.transcript_chunk" ? [event.data] : []))
  )
const ended = (scene: Sample.Scene, now: number) =>
  Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, now)

describe("A transcription", () => {
  it("begins with its row, and the media are asked for what the request asked for", () => {
    const scene = started()
    const id = Sample.lastWork(scene)
    expect(Sample.lastMedia(scene)).toEqual({
      type: "start_transcription",
      id,
      callId: scene.state.id,
      engine: "fast",
      language: "en",
      tracks: "inbound"
    })
    expect(rows(scene)).toMatchObject([
      {
        id: `svc_tx_${id}`,
        status: "active",
        startedAt: t0 + 2_000,
        endedAt: null,
        durationSeconds: 0,
        costCents: null
      }
    ])
  })

  it("tells each phrase with its times, words counted from the session's start, and writes it", () => {
    const id = Sample.lastWork(started())
    const scene = phrase(phrase(started(), id, "one", t0 + 3_000), id, "two", t0 + 4_000)
    expect(chunks(scene)).toMatchObject([
      {
        transcript: "one",
        isFinal: true,
        track: "inbound",
        confidence: 0.5,
        startedAt: t0 + 3_000,
        endedAt: t0 + 3_500,
        words: [{ word: "one", startMs: 1_100, endMs: 1_400, confidence: null }]
      },
      { transcript: "two" }
    ])
    expect(rows(scene).slice(1)).toMatchObject([
      { sequence: 1, transcript: "one", confidence: 5_000 },
      { sequence: 2, transcript: "two" }
    ])
  })

  it("is one at a time, and may follow one that was stopped", () => {
    const twice = act(started(), "transcription_start", t0 + 3_000)
    expect(twice.outcomes.at(-1)).toBe("transcription_already_active")
    const stopped = act(started(), "transcription_stop", t0 + 3_000)
    expect(Sample.lastMedia(stopped).type).toBe("stop_transcription")
    expect(act(stopped, "transcription_stop", t0 + 3_100).outcomes.at(-1)).toBe("transcription_not_active")
    expect(act(stopped, "transcription_start", t0 + 3_100).outcomes.at(-1)).toBe("accepted")
    expect(act(answered(), "transcription_stop", t0 + 3_000).outcomes.at(-1)).toBe("transcription_not_active")
  })

  it("tells its last words after the call has ended, and is billed to the end of its leg", () => {
    const id = Sample.lastWork(started())
    const over = ended(started(), t0 + 63_000)
    expect(isTerminal(over.state)).toBe(true)
    expect(CallMachine.isSettled(over.state)).toBe(false)
    const last = phrase(over, id, "bye", t0 + 62_000, t0 + 64_000)
    expect(events(last).slice(-2)).toEqual(["call.ended", "call.transcript_chunk"])
    const done = Sample.media(last, { type: "ended", id, status: "completed", reason: null }, t0 + 65_000)
    expect(CallMachine.isSettled(done.state)).toBe(true)
    // Two started minutes at three cents.
    expect(rows(done).at(-1)).toMatchObject({
      status: "completed",
      endedAt: t0 + 65_000,
      durationSeconds: 61,
      costCents: 6
    })
    expect(phrase(done, id, "late", t0 + 66_000).outcomes.at(-1)).toBe("unchanged")
  })

  it("fails when its engine does, when its last words do not come, and at a restart that its leg survives", () => {
    const id = Sample.lastWork(started())
    const failed = Sample.media(started(), { type: "ended", id, status: "failed", reason: "timeout" }, t0 + 4_000)
    expect(rows(failed).at(-1)).toMatchObject({ status: "failed", durationSeconds: 2 })
    expect(act(failed, "transcription_start", t0 + 5_000).outcomes.at(-1)).toBe("accepted")

    const over = ended(started(), t0 + 4_000)
    const due = CallMachine.nextDeadline(over.state)
    expect(due?.at).toBe(t0 + 19_000)
    const expired = Sample.send(over, due?.input ?? Sample.offered(), due?.at ?? 0)
    expect(rows(expired).at(-1)).toMatchObject({ status: "failed" })

    const found = Sample.send(started(), Sample.recovered(started(), "elsewhere", t0 + 4_000), t0 + 5_000)
    expect(rows(found).at(-1)).toMatchObject({ status: "failed" })
  })
})
