import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as CallSetup from "../../../../src/telephony/call/machine/CallSetup.ts"
import * as CallSealing from "../../../../src/telephony/call/stored/CallSealing.ts"
import * as StreamView from "../../../../src/telephony/call/StreamView.ts"
import { CallState } from "../../../../src/telephony/call/machine/CallState.ts"
import type * as Id from "../../../../src/domain/Id.ts"
import type { StreamEvent } from "../../../../src/domain/event/StreamEvent.ts"
import * as Media from "../../../media/support/MediaSample.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000
const url = "wss://agent.example/socket?token=1"

/** An answered call. */
const talking = () => Sample.carrier(Sample.start(Sample.place()), { type: "answered", resume: null }, t0 + 1000)
const streaming = (body: object = {}) =>
  Sample.act(talking(), "streaming_start", { stream_url: url, ...body }, t0 + 2000)
const connected = () => {
  const scene = streaming()
  return Sample.media(scene, { type: "stream_started", id: Sample.lastWork(scene) }, t0 + 2300)
}
const told = (scene: Sample.Scene): ReadonlyArray<StreamEvent> =>
  Sample.events(scene).filter((event): event is StreamEvent => event.type.startsWith("stream."))

describe("A media stream of a call, guide/streams.md", () => {
  it("asks the media for what the body says, and tells its begin and its end with all ids", () => {
    const scene = connected()
    const command = Sample.lastMedia(scene)
    expect(command).toMatchObject({
      type: "start_stream",
      options: { url, token: null, protocol: "telnyx", track: "inbound_track", codec: null, rate: null, hears: null },
      of: { tenantId: Sample.tenantId, callId: scene.state.id, from: "+12025550150", to: "+12025550100" }
    })
    const [started] = told(scene)
    expect(started).toMatchObject({
      type: "stream.started",
      data: {
        callId: scene.state.id,
        customerReference: "order 7",
        streamUrl: "wss://agent.example/socket",
        streamTrack: "inbound_track",
        streamCodec: null,
        startedAt: t0 + 2300
      }
    })
    expect(StreamView.ofState(scene.state)).toMatchObject([
      { status: "active", stream_url: "wss://agent.example/socket" }
    ])
    const stopping = Sample.act(scene, "streaming_stop", {}, t0 + 5000)
    expect(Sample.lastMedia(stopping)).toEqual({ type: "stop_stream" })
    expect(told(stopping).length).toBe(1)
    const stopped = Sample.media(stopping, Media.stopped(Sample.lastWork(scene)), t0 + 5001)
    expect(told(stopped).at(-1)).toMatchObject({
      type: "stream.stopped",
      data: { stoppedAt: t0 + 5001, durationSeconds: 3 }
    })
    expect(StreamView.ofState(stopped.state)).toEqual([])
  })

  it("is one at a time, and its absence is said", () => {
    const scene = streaming()
    const last = (verb: "streaming_start" | "streaming_stop", body: object, of = scene) =>
      Sample.last(Sample.act(of, verb, body, t0 + 3000))
    expect(last("streaming_start", { stream_url: url })).toBe("streaming_already_active")
    expect(last("streaming_stop", { stream_id: `svc_stream_${"0".repeat(32)}` })).toBe("streaming_not_found")
    expect(last("streaming_stop", {}, talking())).toBe("streaming_not_found")
    expect(last("streaming_start", { stream_url: url }, Sample.start(Sample.place()))).toBe(
      "call_not_in_required_state"
    )
    const [{ id }] = StreamView.ofState(scene.state) as readonly [StreamView.MediaStream]
    expect(last("streaming_stop", { stream_id: id })).toBe("accepted")
  })

  it("lets the next one start as soon as its stop is answered, and each tells its own end", () => {
    const first = connected()
    const stopping = Sample.act(first, "streaming_stop", {}, t0 + 3000)
    expect(StreamView.ofState(stopping.state)).toEqual([])
    expect(Sample.last(Sample.act(stopping, "streaming_stop", {}, t0 + 3000))).toBe("streaming_not_found")
    const second = Sample.act(stopping, "streaming_start", { stream_url: url }, t0 + 3001)
    expect(Sample.last(second)).toBe("accepted")
    const [, { id }] = second.state.work as unknown as readonly [unknown, { readonly id: Id.WorkId }]
    expect(Sample.last(Sample.act(second, "streaming_start", { stream_url: url }, t0 + 3002))).toBe(
      "streaming_already_active"
    )
    const over = Sample.media(
      Sample.media(second, Media.stopped(Sample.lastWork(first)), t0 + 3003),
      Media.stopped(id),
      t0 + 3004
    )
    expect(told(over).map(({ type }) => type)).toEqual(["stream.started", "stream.stopped", "stream.stopped"])
    expect(over.state.work).toEqual([])
  })

  it("fails for the reason that the media tell, or as a fault of ours", () => {
    const scene = streaming()
    for (const [reason, failureReason, detail] of [
      ["connection_failed: the server answered 403", "connection_failed", "the server answered 403"],
      ["protocol_error", "protocol_error", null],
      ["unknown_leg", "carrier_error", "unknown_leg"]
    ] as const) {
      const failed = Sample.media(scene, Media.failed(Sample.lastWork(scene), reason), t0 + 3000)
      expect(told(failed)).toMatchObject([
        { type: "stream.failed", data: { failureReason, detail, failedAt: t0 + 3000 } }
      ])
    }
  })

  it("stops with the call, before its last event", () => {
    const ended = Sample.wait(Sample.act(connected(), "hangup", {}, t0 + 9000))
    expect(Sample.types(ended).slice(-2)).toEqual(["stream.stopped", "call.ended"])
    expect(told(ended).at(-1)).toMatchObject({ data: { durationSeconds: 7 } })
  })

  it("has failed after a restart where the leg lives on, and another can be started", () => {
    const scene = connected()
    const again = Sample.send(scene, Sample.recovered(scene, "elsewhere", t0 + 4000), t0 + 5000)
    expect(told(again).at(-1)).toMatchObject({ type: "stream.failed", data: { failureReason: "carrier_error" } })
    expect(again.state.status).toBe("answered")
    expect(Sample.last(Sample.act(again, "streaming_start", { stream_url: url }, t0 + 6000))).toBe("accepted")
  })

  it("begins with the request to answer, behind it, and survives a restart before the answer as failed", () => {
    const asked = Sample.act(
      Sample.start(Sample.offered()),
      "answer",
      { stream_url: url, stream_track: "both_tracks" },
      t0 + 100
    )
    expect(Sample.commands(asked).map(({ type }) => type)).toEqual(["ring", "answer", "media"])
    const early = Sample.media(asked, { type: "stream_started", id: Sample.lastWork(asked) }, t0 + 150)
    const answered = Sample.carrier(early, { type: "answered", resume: null }, t0 + 200)
    expect(Sample.types(answered)).toEqual(["call.started", "stream.started", "call.answered"])
    expect(StreamView.ofState(answered.state)).toMatchObject([{ stream_track: "both_tracks" }])
    const restarted = Sample.send(asked, Sample.recovered(asked, "elsewhere", t0 + 400), t0 + 500)
    expect(told(restarted)).toMatchObject([{ type: "stream.failed" }])
    expect(Sample.act(Sample.start(Sample.offered()), "answer", {}, t0 + 100).state.plan).toEqual(CallSetup.nothing)
  })

  it("keeps token, parameters and the query of its URL sealed, wherever they stand", () => {
    const scene = Sample.act(
      Sample.start(Sample.offered()),
      "answer",
      { stream_url: url, stream_auth_token: "s3cret", custom_parameters: [{ name: "who", value: "h1dden" }] },
      t0 + 100
    )
    const seen: Array<string> = []
    const before = Sample.start(Sample.offered()).state
    const [, { context, input }] = scene.log as readonly [unknown, Sample.Scene["log"][number]]
    const stored = CallSealing.sealed(
      { before, context, effects: scene.effects[1] as never, input, state: scene.state, seq: 2 } as never,
      (plain) => {
        seen.push(plain)
        return "sealed"
      }
    )
    const text = JSON.stringify(stored)
    for (const secret of ["s3cret", "h1dden", "token=1"])
      expect([secret, text.includes(secret)]).toEqual([secret, false])
    expect(new Set(seen)).toEqual(new Set([url, "s3cret", "h1dden"]))
    expect(JSON.stringify(CallSealing.maskState(scene.state))).not.toMatch(/s3cret|h1dden|token=1/)
    expect(Schema.is(CallState)(CallSealing.standInState(stored.state as typeof scene.state))).toBe(true)
  })
})
