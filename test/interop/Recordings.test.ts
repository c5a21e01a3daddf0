/** Recordings of a real phone, by content, in a real store: OpenStack Swift by its S3 API. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { Result } from "effect"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as RecorderWorld from "../telephony/recording/RecorderWorld.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Recognized from "./peer/Recognized.ts"
import * as Service from "./peer/Service.ts"
import * as Sound from "./peer/Sound.ts"
import * as Swift from "./peer/Swift.ts"

const phoneNumber = "+4930123456"
const sentence = "please cancel my order and call me back on monday morning"
const played = { hz: 1_100, dbfs: -12 }
const voice = { hz: 440, dbfs: -20 }

let folder = ""
let swift: Swift.Swift
let service: Service.Service
let receiver: Receiver.Receiver
let phone: Baresip.Baresip
let tenant: Service.Tenant
let own: string
let numbers = 150

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  folder = await Service.makeFolder()
  swift = await Swift.start(folder)
  service = await Service.start(authority.cert, {
    RECORDING_STORE: `${swift.url}/trunkline`,
    S3_ACCESS_KEY_ID: swift.accessKeyId,
    S3_SECRET_ACCESS_KEY: swift.secretAccessKey
  })
  const sound = Tone.sine(played.hz, played.dbfs, 2_000, 8000)
  receiver = await Receiver.start(service.folder, authority, Wav.write({ sampleRate: 8000, samples: sound }))
}, 300_000)
afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
  await swift?.stop()
})
afterEach(async () => {
  await phone?.stop()
})

/** A phone that plays this sound takes a call; returns the call's id. */
const answered = async (says: Int16Array, codec: Baresip.Codec = "PCMU"): Promise<string> => {
  const number = numbers++
  own = `+12025550${number}`
  const home = `recorded${number}`
  phone = await Baresip.start({ folder: service.folder, name: phoneNumber, home, answers: true, voice: says, codec })
  tenant = await Service.makeTenant(service, phone.port, own)
  await receiver.subscribe(tenant)
  const id = String((await tenant.request("POST", "/v1/calls", { from: own, to: phoneNumber }))["id"])
  await receiver.next("call.answered", id)
  return id
}

/** Hangs up and returns the recording when it is stored. */
const recording = async (id: string): Promise<Service.Json> => {
  await tenant.act(id, "hangup")
  return (await receiver.next("recording.completed", id, 60_000)).data
}

const download = async (url: unknown, range?: string) => {
  const answer = await fetch(String(url), range === undefined ? {} : { headers: { range } })
  return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

/** Silence around the phone's speech, like the pauses of a talker. */
const pause = (rate: number, ms: number) => new Int16Array((rate * ms) / 1000)
const joined = (...parts: ReadonlyArray<Int16Array>) => Int16Array.from(parts.flatMap((part) => [...part]))

describe("A recording of a call with a real phone", () => {
  it("has what the phone says and what it hears, each on its channel", { timeout: 90_000 }, async () => {
    const says = Recognized.narrow(Recognized.spoken(sentence))
    const id = await answered(joined(pause(8000, 1_500), says, pause(8000, 60_000)))
    await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
    await Service.sleep(1_500 + says.length / 8 + 500)
    await tenant.act(id, "play", { url: receiver.soundUrl })
    await receiver.next("call.playback_ended", id)
    const { download_url: url } = await recording(id)
    const { channels, rate } = RecorderWorld.wav((await download(url)).bytes)
    expect([rate, channels.length]).toEqual([8000, 2])
    const [left, right] = channels.map((samples) => ({ sampleRate: rate, samples }))
    if (left === undefined || right === undefined) throw new Error("two channels were just counted")
    // The energy shows that this is speech.
    expect(Goertzel.totalLevel(left.samples.subarray(rate, 4 * rate))).toBeGreaterThan(-35)
    expect(Sound.loudest([right], played.hz).tone).closeTo(played.dbfs, 1)
    expect(Sound.loudest([left], played.hz).tone).toBeLessThan(-45)
  })

  it("in a wideband codec is wideband", { timeout: 90_000 }, async () => {
    const high = 5_000
    const id = await answered(Tone.sine(high, voice.dbfs, 60_000, 16_000), "G722")
    await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
    await Service.sleep(2_000)
    const { download_url: url } = await recording(id)
    const { channels, rate } = RecorderWorld.wav((await download(url)).bytes)
    expect(rate).toBe(16_000)
    const samples = channels[0] ?? new Int16Array(0)
    expect(Sound.loudest([{ sampleRate: rate, samples }], high).tone).closeTo(voice.dbfs, 1.5)
  })

  it("goes on through a transfer to another phone", { timeout: 90_000 }, async () => {
    const id = await answered(Tone.sine(voice.hz, voice.dbfs, 60_000, 8000))
    await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
    await tenant.act(id, "transfer", { to: phoneNumber })
    await receiver.next("call.bridged", id)
    await Service.sleep(2_000)
    const { download_url: url } = await recording(id)
    const { channels, rate } = RecorderWorld.wav((await download(url)).bytes)
    // Both ends are the same phone, which plays the same sound in each of its calls.
    for (const samples of channels)
      expect(Sound.loudest([{ sampleRate: rate, samples }], voice.hz).tone).closeTo(voice.dbfs, 1)
  })
})

describe("OpenStack Swift as the store", () => {
  it(
    "keeps each file byte by byte, serves parts of it through us, and loses what is deleted",
    { timeout: 90_000 },
    async () => {
      const id = await answered(Tone.sine(voice.hz, voice.dbfs, 60_000, 8000))
      await tenant.act(id, "start_recording", { channels: "single", format: "mp3" })
      await Service.sleep(1_500)
      const told = await recording(id)
      const key = (await swift.keys()).find((each) => each.includes(String(told["recording_id"])))
      expect(key).toMatch(/^trunkline\/recordings\/..\/svc_rec_[0-9a-f]{32}\.mp3$/)
      const whole = await download(told["download_url"])
      expect(whole.status).toBe(200)
      expect(Buffer.from(whole.bytes).equals(await swift.read(key ?? ""))).toBe(true)
      const part = await download(told["download_url"], "bytes=100-299")
      expect(part.status).toBe(206)
      expect(Buffer.from(part.bytes).equals(whole.bytes.subarray(100, 300))).toBe(true)
      const removed = await fetch(`${service.baseUrl}/v1/recordings/${String(told["recording_id"])}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${tenant.key}` }
      })
      expect(removed.status).toBe(204)
      expect((await download(told["download_url"])).status).toBe(404)
      await Service.eventually("the file is gone", async () =>
        (await swift.keys()).includes(key ?? "") ? undefined : true
      )
    }
  )

  it(
    "may be away: the recording waits, its call ends, and it is stored when the store is back",
    { timeout: 300_000 },
    async () => {
      const id = await answered(Tone.sine(voice.hz, voice.dbfs, 60_000, 8000))
      await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
      await Service.sleep(1_000)
      await swift.down()
      await tenant.act(id, "hangup")
      await receiver.next("call.ended", id)
      await Service.sleep(3_000)
      expect(
        receiver.received.some(({ data, event_type: type }) => type.startsWith("recording.") && data["call_id"] === id)
      ).toBe(false)
      await swift.up()
      const { data } = await receiver.next("recording.completed", id, 60_000)
      const { bytes, status } = await download(data["download_url"])
      expect(status).toBe(200)
      const { channels, rate } = RecorderWorld.wav(bytes)
      const samples = channels[0] ?? new Int16Array(0)
      expect(Sound.loudest([{ sampleRate: rate, samples }], voice.hz).tone).closeTo(voice.dbfs, 1)
      expect(Result.isSuccess(Wav.read(bytes))).toBe(true)
    }
  )
})
