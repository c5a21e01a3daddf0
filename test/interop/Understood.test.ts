/** Speech that crossed a call with a real phone, by content: the recording and the phone's own sound are recognized. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Resample from "../../src/protocol/audio/Resample.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as RecorderWorld from "../telephony/recording/RecorderWorld.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Recognized from "./peer/Recognized.ts"
import * as Service from "./peer/Service.ts"

const phoneNumber = "+4930123456"
/** The pause between two sentences. */
const pauseMs = 1_000

let service: Service.Service
let receiver: Receiver.Receiver
let phone: Baresip.Baresip
let numbers = 170

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  service = await Service.start(authority.cert)
  receiver = await Receiver.start(service.folder, authority, Wav.write({ sampleRate: 8000, samples: pause(8000, 20) }))
})
afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
})
afterEach(async () => {
  await phone?.stop()
})

const pause = (rate: number, ms: number) => new Int16Array((rate * ms) / 1000)

/** A phone that plays this voice takes a call. */
const answered = async (voice: Int16Array, codec: Baresip.Codec) => {
  const number = numbers++
  const own = `+12025550${number}`
  const home = `understood${number}`
  phone = await Baresip.start({ folder: service.folder, name: phoneNumber, home, answers: true, voice, codec })
  const tenant = await Service.makeTenant(service, phone.port, own)
  await receiver.subscribe(tenant)
  const id = String((await tenant.request("POST", "/v1/calls", { from: own, to: phoneNumber }))["id"])
  await receiver.next("call.answered", id)
  return { id, tenant }
}

describe.each(["PCMU", "G722"] as const)("Speech in a call in %s", (codec) => {
  const rate = Baresip.rateOf(codec)

  it("of a phone is understood from its recording", { timeout: 120_000 }, async () => {
    const spoken = Recognized.sentences.map(Recognized.spoken)
    const says = Resample.concat([
      pause(rate, 1_500),
      ...spoken.flatMap((wide) => [rate === 8000 ? Recognized.narrow(wide) : wide, pause(rate, pauseMs)])
    ])
    const { id, tenant } = await answered(Resample.concat([says, pause(rate, 60_000)]), codec)
    await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
    await Service.sleep((says.length * 1000) / rate + 1_000)
    await tenant.act(id, "hangup")
    const { data } = await receiver.next("recording.completed", id, 60_000)
    const file = RecorderWorld.wav(new Uint8Array(await (await fetch(String(data["download_url"]))).arrayBuffer()))
    expect(file.rate).toBe(rate)
    const samples = file.channels[0] ?? new Int16Array(0)
    expect(await Recognized.wordErrorRateOf({ sampleRate: rate, samples })).toBeLessThan(0.3)
  })

  it("of ours is understood by the phone", { timeout: 120_000 }, async () => {
    const { id, tenant } = await answered(pause(rate, 60_000), codec)
    // No available recognizer understands espeak-ng's voices, even without a call between.
    const spoken = () =>
      receiver.received.filter(({ data, event_type: type }) => type === "call.speak_ended" && data["call_id"] === id)
        .length
    for (const [index, payload] of Recognized.sentences.entries()) {
      await tenant.act(id, "speak", { payload, voice: "flite.rms" })
      await Service.eventually(`${payload} is spoken`, () => (spoken() > index ? true : undefined), 60_000)
      // The recognizer takes speech without a pause for one sentence.
      await Service.sleep(pauseMs)
    }
    await tenant.act(id, "hangup")
    await phone.event("CALL_CLOSED")
    const [heard] = await phone.heard()
    if (heard === undefined) throw new Error("the phone heard nothing")
    expect(heard.sampleRate).toBe(rate)
    expect(await Recognized.wordErrorRateOf(heard)).toBeLessThan(0.3)
  })
})
