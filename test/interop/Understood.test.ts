/** Speech that crossed a call with a real phone, by content: what was recorded and what the phone heard is recognized. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Resample from "../../src/audio/Resample.ts"
import * as Wav from "../../src/audio/Wav.ts"
import * as RecorderWorld from "../recording/RecorderWorld.ts"
import * as TestCertificate from "../support/TestCertificate.ts"
import * as Baresip from "./Baresip.ts"
import * as Receiver from "./Receiver.ts"
import * as Recognized from "./Recognized.ts"
import * as Service from "./Service.ts"

const phoneNumber = "+4930123456"
/**
 * pocketsphinx learns the mean of the spectrum from what it hears, and misunderstands a first sentence as it comes: of one
 * file, a few samples later, between none and nine words of ten. The second is what is judged.
 */
const first = "i would like to book a table for two people tomorrow evening"
const second = "please cancel my order and call me back on monday morning"
const words = second.split(" ")

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

/** A call that a phone takes which says this. */
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

/** The recognizer understands a file or not by where its frames of 10 ms begin: it is asked from several samples on. */
const offsets = [0, 23, 47, 61, 79, 97, 113, 139]

/** Of the second sentence, as it is understood best: what is no speech, or broken, is understood from nowhere. */
const wordErrorRate = async ({ sampleRate, samples }: Wav.Sound): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (const offset of offsets) {
    const heard = await Recognized.wordsIn({ sampleRate, samples: samples.subarray(offset) })
    least = Math.min(least, Recognized.wordErrorRate(words, heard.slice(-words.length)))
    if (least < 0.3) break
  }
  return least
}

describe.each(["PCMU", "G722"] as const)("Speech in a call in %s", (codec) => {
  const rate = Baresip.rateOf(codec)

  it("of a phone is understood from its recording", { timeout: 90_000 }, async () => {
    const spoken = (text: string) => {
      const wide = Recognized.spoken(text)
      return rate === 8000 ? Recognized.narrow(wide) : wide
    }
    const [one, two] = [spoken(first), spoken(second)]
    const says = Resample.concat([pause(rate, 1_500), one, pause(rate, 1_000), two])
    const { id, tenant } = await answered(Resample.concat([says, pause(rate, 60_000)]), codec)
    await tenant.act(id, "start_recording", { channels: "dual", format: "wav" })
    await Service.sleep((says.length * 1000) / rate + 1_000)
    await tenant.act(id, "hangup")
    const { data } = await receiver.next("recording.completed", id, 60_000)
    const file = RecorderWorld.wav(new Uint8Array(await (await fetch(String(data["download_url"]))).arrayBuffer()))
    expect(file.rate).toBe(rate)
    const samples = file.channels[0] ?? new Int16Array(0)
    expect(await wordErrorRate({ sampleRate: rate, samples })).toBeLessThan(0.3)
  })

  // At 8 kHz the recognizer misunderstands this voice as the service speaks it: 0.91.
  it.runIf(codec === "G722")("of ours is understood by the phone", { timeout: 90_000, retry: 2 }, async () => {
    const { id, tenant } = await answered(pause(rate, 60_000), codec)
    // espeak-ng's voices are understood by no recognizer that is at hand, whatever they went through.
    for (const payload of [first, second]) await tenant.act(id, "speak", { payload, voice: "flite.rms" })
    await Service.eventually(
      "both were spoken",
      () =>
        receiver.received.filter(({ data, event_type: type }) => type === "call.speak_ended" && data["call_id"] === id)
          .length === 2
          ? true
          : undefined,
      60_000
    )
    await tenant.act(id, "hangup")
    await phone.event("CALL_CLOSED")
    const [heard] = await phone.heard()
    if (heard === undefined) throw new Error("the phone heard nothing")
    expect(heard.sampleRate).toBe(rate)
    expect(await wordErrorRate(heard)).toBeLessThan(0.3)
  })
})
