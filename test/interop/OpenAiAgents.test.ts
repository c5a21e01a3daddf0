import { RealtimeAgent, RealtimeSession } from "@openai/agents/realtime"
import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions"
import { describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { rm, writeFile } from "node:fs/promises"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type WebSocket, WebSocketServer } from "ws"
import * as OwnService from "../../scripts/demo/OwnService.ts"
import * as G711 from "../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as FreePorts from "../support/network/FreePorts.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"

const own = "+12025550150"
/** This phone speaks for three seconds, beeps, and is silent. */
const voicemail = "+12025550104"
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const until = async (what: string, holds: () => boolean) => {
  for (let waited = 0; !holds(); waited += 20) {
    if (waited > 20_000) throw new Error(`in vain: ${what}`)
    await sleep(20)
  }
}

/** Replaces the model: keeps the received sound, and sends the sound that the test requests, as fast as models do. */
const model = async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await once(server, "listening")
  const heard: Array<Buffer> = []
  const asked: Array<string> = []
  let socket: WebSocket | null = null
  const send = (message: object) => socket?.send(JSON.stringify({ event_id: randomUUID(), ...message }))
  server.on("connection", (connected) => {
    socket = connected
    send({ type: "session.created", session: { type: "realtime" } })
    connected.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString())
      asked.push(message.type)
      if (message.type === "session.update") send({ type: "session.updated", session: message.session })
      if (message.type === "input_audio_buffer.append") heard.push(Buffer.from(message.audio, "base64"))
    })
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    asked,
    send,
    /** Sends a response of a tone, in deltas of odd sizes. */
    say: (id: string, frequency: number, ms: number) => {
      const sound = G711.encode("PCMU", Tone.sine(frequency, -10, ms, 8000))
      const of = { response_id: id, item_id: `item_${id}`, output_index: 0, content_index: 0 }
      send({ type: "response.created", response: { id } })
      for (let at = 0; at < sound.length; at += 1997)
        send({
          ...of,
          type: "response.output_audio.delta",
          delta: Buffer.from(sound.subarray(at, at + 1997)).toString("base64")
        })
      send({ ...of, type: "response.output_audio.done" })
      send({ type: "response.done", response: { id, output: [], usage: {} } })
    },
    stop: () => server.close()
  }
}

describe("The Twilio transport of @openai/agents-extensions", () => {
  it("hears the call, is heard, and is interrupted", { timeout: 120_000 }, async () => {
    const folder = await OwnService.makeFolder()
    const authority = TestCertificate.makeAuthority()
    await writeFile(join(folder, "ca.pem"), authority.cert)
    const service = OwnService.spawnIn(folder, join(folder, "ca.pem"), await FreePorts.find())
    const openai = await model()
    const fromService: Array<{
      readonly event: string
      readonly mark?: { readonly name: string; readonly cleared?: boolean }
    }> = []
    const toService: Array<string> = []
    const https = createServer(authority.issue(["127.0.0.1"]))
    new WebSocketServer({ server: https }).on("connection", (socket) => {
      socket.on("message", (data: Buffer) => void fromService.push(JSON.parse(data.toString())))
      const send = socket.send.bind(socket)
      socket.send = (data: string) => {
        toService.push(JSON.parse(data).event)
        send(data)
      }
      const session = new RealtimeSession(new RealtimeAgent({ name: "agent", instructions: "none" }), {
        transport: new TwilioRealtimeTransportLayer({ twilioWebSocket: socket })
      })
      session.on("error", () => undefined)
      void session.connect({ apiKey: "none", url: openai.url })
    })
    https.listen(0, "127.0.0.1")
    await once(https, "listening")
    try {
      await service.ready
      let key = ""
      const ask = async (method: string, path: string, body?: object) => {
        const response = await fetch(`${service.baseUrl}${path}`, {
          method,
          headers: { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        // The cast is unchecked, because the test's use of the answer checks it.
        const json = (await response.json()) as { readonly id: string; readonly api_key_plaintext: string }
        return { status: response.status, json }
      }
      const form = {
        email: "a@example.com",
        password: "correct horse battery",
        tenant_name: "A",
        first_name: "A",
        last_name: "B"
      }
      key = (await ask("POST", "/v1/signup", form)).json.api_key_plaintext
      await ask("POST", "/v1/numbers/order", { phone_numbers: [own], country_code: "US", number_type: "local" })
      let call = ""
      for (let i = 0; call === "" && i < 100; i++) {
        const placed = await ask("POST", "/v1/calls", { from: own, to: voicemail })
        if (placed.status === 201) call = placed.json.id
        else await sleep(100)
      }
      const stream = {
        stream_url: `wss://127.0.0.1:${(https.address() as AddressInfo).port}/`,
        stream_protocol: "twilio",
        stream_bidirectional_mode: "rtp"
      }
      while ((await ask("POST", `/v1/calls/${call}/actions/streaming_start`, stream)).status !== 200) await sleep(50)

      // The voicemail's announcement reaches the model, with a voice of 120 Hz.
      await until("the model hears the call", () => openai.heard.length > 60)
      const heard = G711.decode("PCMU", Buffer.concat(openai.heard))
      expect(Goertzel.totalLevel(heard)).toBeGreaterThan(-40)

      openai.say("one", 500, 4000)
      await until("audio reaches the service", () => toService.includes("mark"))
      await sleep(1000)
      openai.send({ type: "input_audio_buffer.speech_started", item_id: "x", audio_start_ms: 0 })
      await until("the stream is cleared", () => toService.includes("clear"))
      await until("the marks of what was cleared come back", () =>
        fromService.some(({ mark }) => mark?.cleared === true)
      )
      const marks = () =>
        fromService.flatMap(({ event, mark }) => (event === "mark" && mark !== undefined ? [mark] : []))
      // A second of it was heard, and no more.
      expect(marks().filter(({ cleared }) => cleared !== true).length).toBeGreaterThan(2)
      expect(openai.asked).toContain("conversation.item.truncate")
      const before = marks().length
      const sent = () => toService.filter((event) => event === "mark").length

      openai.say("two", 700, 1000)
      await until(
        "every mark of the next response comes back",
        () => marks().length > before && marks().length === sent()
      )
      expect(
        marks()
          .slice(before)
          .every(({ cleared }) => cleared !== true)
      ).toBe(true)
    } finally {
      https.closeAllConnections()
      https.close()
      openai.stop()
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
