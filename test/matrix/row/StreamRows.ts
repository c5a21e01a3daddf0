import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

/** A loud tone of 4 kHz in PCMU, of this length. */
const loud = (ms: number) => Buffer.alloc(8 * ms, Buffer.from([0x00, 0x80])).toString("base64")

const streams = async (world: World.World, path: string) =>
  ((await world.tenant.ask("GET", `${path}/streamings`)).json as { readonly results: ReadonlyArray<object> }).results

/** Media streams, guide/streams.md. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a stream in Telnyx's dialect hears, speaks, marks, clears and hears digits, until it is stopped",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("streaming_start", {
        stream_url: `${servers.streamUrl(call.id)}?token=secret`,
        stream_track: "inbound_track",
        stream_codec: "PCMU",
        stream_bidirectional_mode: "rtp",
        stream_bidirectional_codec: "PCMU",
        stream_bidirectional_sampling_rate: 8000,
        stream_jitter_ms: 200,
        stream_reconnect_secs: 5,
        stream_protocol: "telnyx",
        stream_auth_token: "bearer-7",
        custom_parameters: [{ name: "agent", value: "support" }]
      })
      expect(await call.refused("streaming_start", { stream_url: servers.streamUrl("other") })).toBe(
        "409 streaming_already_active"
      )
      const stream = await servers.stream(call.id)
      expect(stream.headers.authorization).toBe("Bearer bearer-7")
      expect(stream.url).toContain("token=secret")
      const start = await stream.heard.next("start", ({ event }) => event === "start")
      const started = await call.event("stream.started")
      expect(start).toMatchObject({
        stream_id: started["stream_id"],
        start: {
          call_control_id: call.id,
          call_leg_id: await call.legId(),
          custom_parameters: { agent: "support" },
          media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 }
        }
      })
      expect(String(started["stream_url"])).not.toContain("secret")
      expect(await streams(world, call.path)).toMatchObject([
        { id: started["stream_id"], status: "active", stream_track: "inbound_track", stream_codec: "PCMU" }
      ])
      await stream.heard.next("what the far end says", ({ event }) => event === "media")
      stream.send({ event: "media", media: { payload: loud(200) } })
      stream.send({ event: "mark", mark: { name: "heard" } })
      await stream.heard.next("the mark", ({ event, mark }) => event === "mark" && name(mark) === "heard")
      stream.send({ event: "media", media: { payload: loud(20_000) } })
      stream.send({ event: "mark", mark: { name: "cut" } })
      stream.send({ event: "clear" })
      await stream.heard.next("the cleared mark", ({ event, mark }) => event === "mark" && name(mark) === "cut")
      await far.press("5")
      await stream.heard.next("the digit", ({ dtmf, event }) => event === "dtmf" && digit(dtmf) === "5")
      expect(await call.refused("streaming_stop", { stream_id: `svc_stream_${"0".repeat(32)}` })).toBe(
        "404 streaming_not_found"
      )
      await call.act("streaming_stop", { stream_id: started["stream_id"] })
      expect(await call.event("stream.stopped")).toMatchObject({ stream_id: started["stream_id"] })
      await stream.heard.next("stop", ({ event }) => event === "stop")
      await stream.closed()
      expect(await streams(world, call.path)).toEqual([])
      expect(await call.refused("streaming_stop")).toBe("404 streaming_not_found")
    }
  },
  {
    name: "a stream in Twilio's dialect hears, speaks, marks and clears, and ends with the call",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("streaming_start", {
        stream_url: servers.streamUrl(call.id),
        stream_track: "inbound_track",
        stream_protocol: "twilio",
        stream_bidirectional_mode: "rtp"
      })
      const stream = await servers.stream(call.id)
      expect(await stream.heard.next("start", ({ event }) => event === "start")).toMatchObject({
        start: { callSid: call.id, mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 } }
      })
      await stream.heard.next("media", ({ event }) => event === "media")
      stream.send({ event: "media", media: { payload: loud(100) } })
      stream.send({ event: "mark", mark: { name: "one" } })
      await stream.heard.next("the mark", ({ event }) => event === "mark")
      stream.send({ event: "media", media: { payload: loud(9000) } })
      stream.send({ event: "mark", mark: { name: "two" } })
      stream.send({ event: "clear" })
      await stream.heard.next("the cleared mark", ({ event, mark }) => event === "mark" && name(mark) === "two")
      await far.press("6")
      await stream.heard.next("the digit", ({ dtmf, event }) => event === "dtmf" && digit(dtmf) === "6")
      await far.hangUp()
      await stream.heard.next("stop", ({ event }) => event === "stop")
      await call.event("call.ended")
      expect((await call.over()).slice(-2)).toEqual(["stream.stopped", "call.ended"])
    }
  },
  ...(
    [
      ["both_tracks", "PCMA"],
      ["outbound_track", "G722"],
      ["inbound_track", "L16"],
      ["inbound_track", "OPUS"]
    ] as const
  ).map(([stream_track, stream_codec]): Row => ({
    name: `a stream has the ${stream_track} in ${stream_codec}, in a bridged call`,
    run: async (world) => {
      const { servers } = world.running()
      const [{ call }] = await World.bridged(world)
      await call.act("streaming_start", { stream_url: servers.streamUrl(call.id), stream_track, stream_codec })
      const stream = await servers.stream(call.id)
      expect(await stream.heard.next("start", ({ event }) => event === "start")).toMatchObject({
        start: { media_format: { encoding: stream_codec } }
      })
      await stream.heard.next("media", ({ event }) => event === "media")
      expect(await call.event("stream.started")).toMatchObject({ stream_track, stream_codec })
      await call.act("streaming_stop")
      await call.event("stream.stopped")
    }
  })),
  {
    name: "a server that closes its socket stops the stream, and the next may begin",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      await call.act("streaming_start", { stream_url: servers.streamUrl(call.id), stream_bidirectional_mode: "mp3" })
      const stream = await servers.stream(call.id)
      await call.event("stream.started")
      stream.close()
      await call.event("stream.stopped")
      expect((await call.find()).status).toBe("answered")
      await call.act("streaming_start", { stream_url: servers.streamUrl(`${call.id}-again`) })
      await call.event("stream.started", 2)
    }
  },
  {
    name: "a server that breaks the rules fails the stream",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      await call.act("streaming_start", { stream_url: servers.streamUrl(call.id), stream_codec: "PCMU" })
      const stream = await servers.stream(call.id)
      await call.event("stream.started")
      for (let count = 0; count < 100; count++) stream.send([count])
      expect(await call.event("stream.failed")).toMatchObject({ failure_reason: "protocol_error" })
      expect((await call.find()).status).toBe("answered")
    }
  },
  {
    name: "a server that cannot be reached fails the stream",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      await call.act("streaming_start", { stream_url: servers.streamUrl(call.id).replace("/stream/", "/refused/") })
      expect(await streams(world, call.path)).toMatchObject([{ status: "starting" }])
      expect(await call.event("stream.failed")).toMatchObject({ failure_reason: "connection_failed" })
    }
  },
  {
    name: "streaming_start is refused for fields that contradict each other, and for what is no wss URL",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      const stream_url = servers.streamUrl(call.id)
      expect(await call.refused("streaming_start", { stream_url: stream_url.replace("wss", "ws") })).toBe(
        "400 invalid_request"
      )
      expect(
        await call.refused("streaming_start", { stream_url, stream_codec: "PCMU", stream_bidirectional_codec: "L16" })
      ).toBe("422 unprocessable")
    }
  }
]

const name = (mark: unknown): unknown => (mark as { readonly name?: unknown }).name
const digit = (dtmf: unknown): unknown => (dtmf as { readonly digit?: unknown }).digit
