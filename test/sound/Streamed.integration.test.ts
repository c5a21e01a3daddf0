import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as Measure from "./Measure.ts"
import type * as Phone from "./Phone.ts"
import * as StreamServer from "./StreamServer.ts"
import * as Timeline from "./Timeline.ts"
import * as World from "./World.ts"

/** The contents of streams between WebSocket servers and phones over RTP on loopback (guide/streams.md). */
const caller: Phone.Voice = { hz: 400, dbfs: -14 }
const agent: Phone.Voice = { hz: 900, dbfs: -18 }
const played: Phone.Voice = { hz: 1100, dbfs: -20 }

let world: World.World
let names = 0

beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world?.stop())

const isAbsent = (sound: Timeline.Sound, { hz }: Phone.Voice): void =>
  expect(Measure.loudest(sound, hz)).toBeLessThan(-45)

/** A call with a stream in both directions. */
const setup = async (
  callCodec: CodecName,
  streamCodec: CodecName,
  rate: number,
  more: Readonly<Record<string, unknown>> = {}
) => {
  const server = StreamServer.make(streamCodec, rate)
  const line = await world.callIn(world.plan(callCodec, caller))
  await world.act(line, "streaming_start", {
    stream_url: world.listen(`stream${++names}`, server.server),
    stream_codec: streamCodec,
    stream_bidirectional_mode: "rtp",
    // G.722 has 16 kHz, but its RTP clock rate is 8 kHz.
    stream_bidirectional_sampling_rate: streamCodec === "G722" ? 8000 : rate,
    ...more
  })
  await world.event("stream.started", line.id)
  return { line, server }
}

describe("A stream", World.onceMore, () => {
  const rows: ReadonlyArray<readonly [call: CodecName, stream: CodecName, rate: number]> = [
    ["PCMU", "PCMU", 8000],
    ["G722", "PCMA", 8000],
    ["G722", "L16", 16_000],
    ["PCMA", "L16", 24_000],
    ["OPUS", "G722", 16_000],
    ["PCMU", "OPUS", 16_000],
    ["L16", "L16", 16_000]
  ]
  it.concurrent.each(rows)(
    "of a call in %s, in %s at %i Hz, brings what the phone says and says what its server sends",
    async (call, stream, rate) => {
      const { line, server } = await setup(call, stream, rate)
      await World.sleep(600)
      server.say(agent, 1000)
      server.mark("said")
      expect(await server.marked("said")).toBe(false)
      await World.sleep(300)
      await world.hangUp(line)

      const stood = await world.stood(line)
      const brought = Timeline.part(server.sound("inbound"), 100)
      const inbound = Measure.span(brought, caller)
      expect(inbound.dbfs).closeTo(caller.dbfs, 1)
      expect(inbound.gapMs).toBeLessThanOrEqual(40 + stood)
      expect(inbound.toMs - inbound.fromMs).toBeGreaterThan(1500 - stood)
      isAbsent(brought, agent)
      server.timestamps("inbound").forEach((timestamp, at) => expect(timestamp).toBe(at * 20))

      const heard = await world.heard(line)
      const outbound = Measure.span(heard, agent)
      expect(outbound.dbfs).closeTo(agent.dbfs, 1)
      expect(outbound.gapMs).toBeLessThanOrEqual(40 + stood)
      expect(outbound.toMs - outbound.fromMs).closeTo(1000, 60 + stood)
      isAbsent(heard, caller)
      const steady = Timeline.part(heard, outbound.fromMs + 100, outbound.toMs - 100)
      expect(Measure.clicks(heard, { codecs: [stream, call], voices: [agent], stood }, [steady])).toEqual([])
    }
  )

  it.concurrent("of both tracks has each under its name", async () => {
    const { line, server } = await setup("PCMU", "PCMU", 8000, { stream_track: "both_tracks" })
    const tone = Wav.write({ sampleRate: 8000, samples: Tone.sine(played.hz, played.dbfs, 800, 8000) })
    await world.act(line, "play", { url: world.serve("tone.wav", tone) })
    await world.event("call.playback_ended", line.id)
    await world.hangUp(line)
    const [inbound, outbound] = [server.sound("inbound"), server.sound("outbound")]
    expect(Measure.span(inbound, caller).dbfs).closeTo(caller.dbfs, 1)
    expect(Measure.span(outbound, played).dbfs).closeTo(played.dbfs, 1)
    expect(Measure.span(outbound, played).gapMs).toBeLessThanOrEqual(40 + (await world.stood(line)))
    isAbsent(inbound, played)
    isAbsent(outbound, caller)
  })

  it.concurrent.each(["PCMU", "G722", "OPUS"] as const)(
    "that is cleared is not heard any more, and what comes next is, in %s",
    async (codec) => {
      const next = { hz: 600, dbfs: -18 }
      const { line, server } = await setup(codec, "PCMU", 8000)
      server.say(agent, 5000)
      server.mark("cut")
      await World.sleep(1000)
      const clearedMs = performance.timeOrigin + performance.now()
      server.clear()
      server.say(next, 500)
      server.mark("next")
      expect(await server.marked("cut")).toBe(true)
      expect(await server.marked("next")).toBe(false)
      await World.sleep(200)
      await world.hangUp(line)
      const heard = await world.heard(line)
      const [cut, said] = [Measure.span(heard, agent), Measure.span(heard, next)]
      const stood = await world.stood(line)
      expect(cut.toMs - cut.fromMs).toBeGreaterThan(700 - stood)
      // The limit covers the network's own time, one frame, and the windows of the measurement.
      expect(heard.fromMs + cut.toMs - clearedMs).toBeLessThan(100 + stood)
      expect(said.fromMs).toBeGreaterThanOrEqual(cut.toMs - 40)
      isAbsent(Timeline.part(heard, cut.toMs + 40), agent)
      expect(said.toMs - said.fromMs).closeTo(500, 60 + stood)
      const steady = Timeline.part(heard, cut.fromMs + 100, cut.toMs - 100)
      expect(Measure.clicks(heard, { codecs: ["PCMU", codec], voices: [agent, next], stood }, [steady])).toEqual([])
    }
  )

  it.concurrent("whose server closes it leaves the call, which plays and records as before", async () => {
    const { line, server } = await setup("PCMU", "PCMU", 8000)
    server.say(agent, 3000)
    await World.sleep(500)
    server.close()
    await world.event("stream.stopped", line.id)
    await World.sleep(500)
    await world.hangUp(line)
    const heard = await world.heard(line)
    const [said, stood] = [Measure.span(heard, agent), await world.stood(line)]
    expect(said.toMs - said.fromMs).toBeLessThan(1000 + stood)
    // Its packets were sent to the end, and none is missing.
    expect((heard.samples.length * 1000) / heard.rate).toBeGreaterThan(said.toMs + 400 - stood)
  })
})
