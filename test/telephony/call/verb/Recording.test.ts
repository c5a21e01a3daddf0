import { describe, expect, it } from "@effect/vitest"
import * as CallSetup from "../../../../src/telephony/call/machine/CallSetup.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import type { WorkId } from "../../../../src/domain/Id.ts"
import type { MediaEvent } from "../../../../src/ports/media/MediaMessage.ts"
import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000
const plan = (fields: Partial<CallSetup.CallSetup>): CallSetup.CallSetup => ({ ...CallSetup.nothing, ...fields })
const placed = (fields: Partial<CallSetup.CallSetup> = {}, recording = 0) =>
  Sample.start(
    Sample.place({ terms: Sample.terms({ plan: plan(fields), prices: { ...WorkPrice.free, recording } }) }),
    t0
  )
const ringing = (scene: Sample.Scene, now = t0 + 500) => Sample.carrier(scene, { type: "ringing", resume: null }, now)
const answered = (scene: Sample.Scene, now = t0 + 1000) =>
  Sample.carrier(scene, { type: "answered", resume: null }, now)
const act = (
  scene: Sample.Scene,
  verb: CallVerbs.Built,
  body: object,
  now: number,
  reservedMinutes?: ReadonlyArray<number>
) =>
  Sample.send(
    scene,
    {
      type: "action",
      action: CallVerbs.decodeAction(verb, body),
      ...(reservedMinutes === undefined ? {} : { reservedMinutes })
    },
    now
  )
const told = (scene: Sample.Scene, event: MediaEvent, now: number) =>
  Sample.carrier(scene, { type: "media", event }, now)
const hungUp = (scene: Sample.Scene, now: number) =>
  Sample.carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, now)
const stored = (id: WorkId): MediaEvent => ({
  type: "recording_stored",
  id,
  durationMs: 2600,
  sizeBytes: 41_644,
  downloadUrl: "https://here/recordings/x"
})
const eventsOf = (scene: Sample.Scene) => scene.effects.flatMap(({ events }) => events)
const typesOf = (scene: Sample.Scene) => eventsOf(scene).map(({ type }) => type)
const mediaOf = (scene: Sample.Scene) =>
  scene.effects.flatMap(({ commands }) =>
    commands.flatMap((command) => (command.type === "media" ? [command.media] : []))
  )
const idOf = (scene: Sample.Scene): WorkId => {
  const item = [...scene.state.work, ...scene.state.outliving.map(({ item }) => item)].at(-1)
  if (item === undefined) throw new Error("nothing is recorded")
  return item.id
}
const lastOf = (scene: Sample.Scene) => scene.outcomes.at(-1)

describe("A recording of a call, guide/recordings.md", () => {
  it("begins on request, with its defaults, and one at a time", () => {
    const scene = act(answered(placed()), "start_recording", {}, t0 + 2000)
    expect(mediaOf(scene)).toMatchObject([
      {
        type: "start_recording",
        callId: scene.state.id,
        channels: "single",
        format: "mp3",
        maxLengthMs: null,
        hasBeep: false,
        beepEveryMs: null
      }
    ])
    expect(lastOf(act(scene, "start_recording", {}, t0 + 3000))).toBe("conflict")
  })

  it("of an inbound call begins as its number says, is reserved for by the answer, and the answer may say otherwise", () => {
    const offered = () => {
      const of = plan({ record: "on_answer", recordFormat: "wav", recordChannels: "dual" })
      const terms = Sample.terms({ microUsdPerMinute: 0, plan: of, prices: { ...WorkPrice.free, recording: 20_000 } })
      const input = Sample.offered()
      if (input.type !== "offered") throw new Error("no offer")
      return Sample.start({ ...input, terms }, t0)
    }
    expect(offered().state.meters.map(({ kind }) => kind)).toEqual(["leg"])
    const taken = answered(act(offered(), "answer", {}, t0 + 1000, [1, 1]), t0 + 1500)
    expect(mediaOf(taken)).toMatchObject([{ type: "start_recording", channels: "dual", format: "wav" }])
    expect(taken.state.meters.map(({ kind }) => kind)).toEqual(["leg", "recording"])
    const other = { record: "on_answer", record_format: "mp3", record_channels: "single" }
    expect(mediaOf(answered(act(offered(), "answer", other, t0 + 1000, [1, 1]), t0 + 1500))).toMatchObject([
      { type: "start_recording", channels: "single", format: "mp3" }
    ])
    const off = answered(act(offered(), "answer", { record: "off" }, t0 + 1000, [1]), t0 + 1500)
    expect(mediaOf(off)).toEqual([])
    expect(off.state.meters.map(({ kind }) => kind)).toEqual(["leg"])
  })

  it("takes every field", () => {
    const body = { channels: "dual", format: "wav", max_length: 14_400, play_beep: true, beep_interval_seconds: 15 }
    expect(mediaOf(act(answered(placed()), "start_recording", body, t0 + 2000))).toMatchObject([
      { channels: "dual", format: "wav", maxLengthMs: 14_400_000, hasBeep: true, beepEveryMs: 15_000 }
    ])
  })

  it.each([
    { max_length: 0 },
    { max_length: 14_401 },
    { beep_interval_seconds: 4 },
    { beep_interval_seconds: 301 },
    { finish_on_key: "" },
    { finish_on_key: "e" },
    { finish_on_key: "1".repeat(17) },
    { silence_timeout_seconds: 0 },
    { silence_timeout_seconds: 601 },
    { channels: "both" },
    { format: "ogg" }
  ])("refuses %o", (body) => {
    expect(() => CallVerbs.decodeAction("start_recording", body)).toThrow(/./u)
  })

  it("takes channels and format of a placement on demand for what it leaves out", () => {
    const scene = answered(placed({ record: "on_demand", recordChannels: "dual", recordFormat: "wav" }))
    expect(mediaOf(scene)).toStrictEqual([])
    expect(mediaOf(act(scene, "start_recording", { format: "mp3" }, t0 + 2000))).toMatchObject([
      { channels: "dual", format: "mp3" }
    ])
  })

  it("is refused before the answer, while the call is bridged, and after its end", () => {
    expect(lastOf(act(ringing(placed()), "start_recording", {}, t0 + 600))).toBe("call_not_in_required_state")
    const bridged = { ...answered(placed()) }
    const state = { ...bridged.state, status: "bridged" as const }
    expect(lastOf(act({ ...bridged, state }, "start_recording", {}, t0 + 2000))).toBe("call_not_in_required_state")
    expect(lastOf(act(hungUp(answered(placed()), t0 + 2000), "start_recording", {}, t0 + 3000))).toBe(
      "call_already_ended"
    )
  })

  it.each(["stop_recording", "pause_recording", "resume_recording"] as const)("without one, %s says so", (verb) => {
    expect(lastOf(act(answered(placed()), verb, {}, t0 + 2000))).toBe("recording_already_stopped")
  })

  it("is stored after stop_recording, while another one may begin; each tells its end once", () => {
    const first = act(answered(placed()), "start_recording", { channels: "dual", format: "wav" }, t0 + 2000)
    const id = idOf(first)
    const stopped = act(first, "stop_recording", {}, t0 + 5000)
    expect(mediaOf(stopped).at(-1)).toStrictEqual({ type: "stop_recording", recording: id })
    expect(lastOf(act(stopped, "stop_recording", {}, t0 + 5100))).toBe("recording_already_stopped")
    const again = act(stopped, "start_recording", {}, t0 + 6000)
    expect(lastOf(again)).toBe("accepted")
    const done = told(again, stored(id), t0 + 7000)
    expect(eventsOf(done).at(-1)).toStrictEqual({
      type: "recording.completed",
      data: {
        callId: done.state.id,
        conferenceId: null,
        recordingId: `svc_rec_${id}`,
        channels: "dual",
        format: "wav",
        durationSeconds: 3,
        downloadUrl: "https://here/recordings/x",
        customerReference: "order 7"
      }
    })
    expect(done.effects.at(-1)?.rows).toMatchObject([
      {
        table: { name: "recording" },
        row: { id: `svc_rec_${id}`, status: "available", durationSeconds: 3, sizeBytes: 41_644, createdAt: t0 + 7000 }
      }
    ])
    expect(lastOf(told(done, stored(id), t0 + 8000))).toBe("unchanged")
    expect(done.state.work.map(({ type }) => type)).toStrictEqual(["recording"])
  })

  it("outlives its call, which is settled with its outcome", () => {
    const over = hungUp(act(answered(placed()), "start_recording", {}, t0 + 2000), t0 + 5000)
    expect([over.state.status, over.state.outliving.length]).toStrictEqual(["ended", 1])
    const done = told(over, stored(idOf(over)), t0 + 9000)
    expect(typesOf(done).slice(-2)).toStrictEqual(["call.ended", "recording.completed"])
    expect(done.state.outliving).toStrictEqual([])
  })

  it("that is not stored within six hours has failed, and says so", () => {
    const over = hungUp(act(answered(placed()), "start_recording", {}, t0 + 2000), t0 + 5000)
    const late = Sample.send(over, { type: "deadline", deadline: "work" }, t0 + 5000 + 6 * 3_600_000)
    expect(eventsOf(late).at(-1)).toMatchObject({ type: "recording.failed", data: { reason: "storage_error" } })
    expect(late.effects.at(-1)?.rows).toMatchObject([{ row: { status: "failed", durationSeconds: 0, sizeBytes: 0 } }])
  })

  it.each([
    ["storage_error", "storage_error"],
    ["unsupported", "unsupported"],
    ["lost", "internal_error"],
    ["no_sound", "internal_error"]
  ] as const)("that failed with %s tells %s", (reason, shown) => {
    const scene = act(answered(placed()), "start_recording", {}, t0 + 2000)
    const failed = told(scene, { type: "ended", id: idOf(scene), status: "failed", reason }, t0 + 3000)
    expect(eventsOf(failed).at(-1)).toMatchObject({ type: "recording.failed", data: { reason: shown } })
  })

  it("that began by itself tells that it was lost, and nothing where there was no sound", () => {
    const scene = answered(placed({ record: "on_answer" }))
    const end = (reason: string) =>
      eventsOf(told(scene, { type: "ended", id: idOf(scene), status: "failed", reason }, t0 + 3000)).length -
      eventsOf(scene).length
    expect([end("lost"), end("no_sound")]).toStrictEqual([1, 0])
  })

  it("whose command finds that the leg has ended does not wait for an outcome", () => {
    const scene = ringing(placed({ record: "on_ringing" }))
    const [item] = scene.state.work
    const over = Sample.carrier(scene, { type: "ended", cause: "final_response", sipStatus: 486, by: "far" }, t0 + 2000)
    expect(over.state.outliving.length).toBe(1)
    const refusal = {
      type: "command_failed",
      commandId: item?.commandId ?? Ids.command("none"),
      reason: "unknown_leg"
    } as const
    const refused = Sample.carrier(over, refusal, t0 + 2100)
    expect(refused.state.outliving).toStrictEqual([])
    expect(typesOf(refused).at(-1)).toBe("call.ended")
  })

  it("that ends by itself makes room for the next one before it is stored", () => {
    const scene = act(answered(placed()), "start_recording", { max_length: 1 }, t0 + 2000)
    const full = told(scene, { type: "recording_stopped", id: idOf(scene) }, t0 + 3000)
    expect([full.state.work.length, full.state.outliving.length]).toStrictEqual([0, 1])
    expect(lastOf(act(full, "start_recording", {}, t0 + 3100))).toBe("accepted")
  })

  it("ends with one of its keys, is stored while the call goes on, and another key changes nothing", () => {
    const scene = act(answered(placed()), "start_recording", { finish_on_key: "*#" }, t0 + 2000)
    const other = Sample.dtmf(scene, "5", t0 + 3000)
    expect([other.state.work.length, mediaOf(other).length]).toStrictEqual([1, 1])
    const ended = Sample.dtmf(other, "#", t0 + 4000)
    expect([ended.state.work.length, ended.state.outliving.length]).toStrictEqual([0, 1])
    expect(mediaOf(ended).at(-1)).toStrictEqual({ type: "stop_recording", recording: idOf(ended) })
    expect(typesOf(ended).filter((type) => type === "call.dtmf").length).toBe(2)
    expect(mediaOf(Sample.dtmf(ended, "*", t0 + 4500))).toHaveLength(2)
    expect(typesOf(told(ended, stored(idOf(ended)), t0 + 5000)).at(-1)).toBe("recording.completed")
    const without = Sample.dtmf(act(answered(placed()), "start_recording", {}, t0 + 2000), "#", t0 + 3000)
    expect(without.state.work.length).toBe(1)
  })

  it("that ends with a key is paid for up to that key", () => {
    const scene = act(answered(placed({}, 20_000)), "start_recording", { finish_on_key: "#" }, t0 + 2000, [60, 60])
    const ended = Sample.dtmf(scene, "#", t0 + 30_000)
    expect(ended.state.meters.map(({ endedAt, kind }) => [kind, endedAt])).toStrictEqual([
      ["leg", null],
      ["recording", t0 + 30_000]
    ])
  })

  it("tells the recorder after how much silence it ends", () => {
    const scene = act(answered(placed()), "start_recording", { silence_timeout_seconds: 5 }, t0 + 2000)
    expect(mediaOf(scene)).toMatchObject([{ type: "start_recording", silenceMs: 5000 }])
  })

  it("begins with the answer when the call was placed so, and not with the ringing", () => {
    const scene = ringing(placed({ record: "on_answer", recordChannels: "dual", recordFormat: "wav" }))
    expect(mediaOf(scene)).toStrictEqual([])
    expect(mediaOf(answered(scene))).toMatchObject([{ type: "start_recording", channels: "dual", format: "wav" }])
  })

  it("begins with the ringing when the call was placed so, and again with the answer where nothing could be heard before", () => {
    const scene = ringing(placed({ record: "on_ringing" }))
    expect(mediaOf(scene)).toHaveLength(1)
    expect(mediaOf(answered(scene))).toHaveLength(1)
    const deaf = told(scene, { type: "ended", id: idOf(scene), status: "failed", reason: "not_answered" }, t0 + 600)
    expect(typesOf(deaf)).not.toContain("recording.failed")
    expect(mediaOf(answered(deaf))).toHaveLength(2)
    expect(mediaOf(answered(placed({ record: "on_ringing" })))).toHaveLength(1)
  })

  it.each(["record-from-answer", "on_answer"] as const)("begins with the answer that asked for %s", (record) => {
    const scene = act(
      Sample.start(Sample.offered(), t0),
      "answer",
      { record, record_channels: "dual", record_format: "wav" },
      t0 + 500
    )
    expect(mediaOf(answered(scene))).toMatchObject([{ type: "start_recording", channels: "dual", format: "wav" }])
  })

  it("is charged by the started minute, without its pauses", () => {
    const price = 600_000
    const started = act(answered(placed({}, price)), "start_recording", {}, t0 + 2000, [60, 10])
    const paused = act(started, "pause_recording", {}, t0 + 52_000)
    const resumed = act(paused, "resume_recording", {}, t0 + 3_052_000)
    const cents = (scene: Sample.Scene) =>
      scene.effects.flatMap(({ charges }) => charges).find(({ type }) => type === "recording_charge")?.cents
    // The recording ran for 50 seconds, and 5 more.
    expect(cents(hungUp(act(resumed, "stop_recording", {}, t0 + 3_057_000), t0 + 3_100_000))).toBe(60)
    // The recording ran for 50 seconds, and 15 more.
    expect(cents(hungUp(resumed, t0 + 3_067_000))).toBe(120)
    // It ended in its pause.
    expect(cents(hungUp(paused, t0 + 3_067_000))).toBe(60)
    expect([paused, resumed].map((scene) => mediaOf(scene).at(-1)?.type)).toStrictEqual([
      "pause_recording",
      "resume_recording"
    ])
    expect(lastOf(act(paused, "pause_recording", {}, t0 + 60_000))).toBe("conflict")
    expect(lastOf(act(resumed, "resume_recording", {}, t0 + 3_060_000))).toBe("conflict")
  })

  it.each([
    ["stopped before it heard anything", true, "no_sound"],
    ["lost by its media", false, "lost"]
  ] as const)("costs nothing when it was %s, and the next one costs what it costs", (_, isStopped, reason) => {
    const started = act(answered(placed({}, 600_000)), "start_recording", {}, t0 + 2000, [60, 10])
    const id = idOf(started)
    const over = isStopped ? act(started, "stop_recording", {}, t0 + 2001) : started
    const failed = told(over, { type: "ended", id, status: "failed", reason }, t0 + 3000)
    const charged = (scene: Sample.Scene) =>
      scene.effects.flatMap(({ charges }) => charges).find(({ type }) => type === "recording_charge")?.cents ?? 0
    expect(charged(hungUp(failed, t0 + 9000))).toBe(0)
    const next = act(failed, "start_recording", {}, t0 + 10_000, [60, 0, 10])
    expect(charged(hungUp(act(next, "stop_recording", {}, t0 + 20_000), t0 + 30_000))).toBe(60)
    // The cost of an ended call does not change.
    const late = told(hungUp(over, t0 + 2500), { type: "ended", id, status: "failed", reason }, t0 + 3000)
    expect(charged(late)).toBe(60)
  })

  it("that is paused keeps a call from no end of its money: only what runs is renewed", () => {
    const started = act(answered(placed({}, 600_000)), "start_recording", {}, t0 + 2000, [60, 1])
    const paused = act(started, "pause_recording", {}, t0 + 12_000)
    const refused = Sample.send(paused, { type: "renewal", reservedMinutes: null }, t0 + 120_000)
    expect(refused.outcomes.at(-1)).toBe("unchanged")
    expect(refused.state.status).toBe("answered")
  })
})
