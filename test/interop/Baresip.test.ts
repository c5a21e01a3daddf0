/** Calls with a real phone, baresip, in both directions, through the API, the operator command and webhooks alone. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Service from "./peer/Service.ts"
import * as Sound from "./peer/Sound.ts"

/** The number by which baresip is called, and its caller id. */
const phoneNumber = "+4930123456"
const frequency = 1_100
const levelDbfs = -12
/** No other sound here has this frequency. */
const sound = Wav.write({ sampleRate: 8000, samples: Tone.sine(frequency, levelDbfs, 2_000, 8000) })
const voice = Tone.sine(440, -20, 60_000, 8000)

let service: Service.Service
let receiver: Receiver.Receiver
let phone: Baresip.Baresip
let tenant: Service.Tenant
let own: string
let numbers = 150

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  service = await Service.start(authority.cert)
  receiver = await Receiver.start(service.folder, authority, sound)
})

afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
})

afterEach(async () => {
  await phone.stop()
})

/** Starts a new phone for a test, as the trunk of a new tenant. */
const ready = async (answers = false) => {
  const number = numbers++
  own = `+12025550${number}`
  phone = await Baresip.start({ folder: service.folder, name: phoneNumber, home: `phone${number}`, answers, voice })
  tenant = await Service.makeTenant(service, phone.port, own)
  await receiver.subscribe(tenant)
}

const place = async (more: object = {}): Promise<string> =>
  String((await tenant.request("POST", "/v1/calls", { from: own, to: phoneNumber, ...more }))["id"])

/** baresip calls our number; returns the id of the resulting call. */
const called = async (): Promise<string> => {
  phone.command("dial", `sip:${own}@127.0.0.1:${service.sipPort}`)
  const started = await Service.eventually("call.started inbound", () =>
    receiver.received.find(({ data, event_type }) => event_type === "call.started" && data["to"] === own)
  )
  expect(started.data).toMatchObject({ direction: "inbound", from: phoneNumber })
  return String(started.data["call_id"])
}

const established = async (): Promise<string> => {
  await ready()
  const id = await place()
  await receiver.next("call.ringing", id)
  phone.command("accept")
  await receiver.next("call.answered", id)
  await phone.event("CALL_ESTABLISHED")
  return id
}

const digitsHeardByPhone = (): string =>
  phone.events
    .filter((event) => event["type"] === "CALL_DTMF_START")
    .map((event) => String(event["param"]))
    .join("")

describe("a call that we place to baresip", () => {
  it("rings, is answered, and what we play is in its recording with its frequency and level", async () => {
    const id = await established()
    await tenant.act(id, "play", { url: receiver.soundUrl })
    const played = await receiver.next("call.playback_ended", id)
    expect(played.data).toMatchObject({ status: "completed" })
    await tenant.act(id, "hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "ended", end_reason: "normal_clearing", end_initiator: "api" })
    await phone.event("CALL_CLOSED")
    const heard = Sound.loudest(await phone.heard(), frequency)
    expect(heard.tone).toBeGreaterThan(levelDbfs - 1)
    expect(heard.tone).toBeLessThan(levelDbfs + 1)
    // The sound holds nothing else: distortion and noise are at least about 20 dB below the tone.
    expect(heard.total - heard.tone).toBeLessThan(0.05)
  })

  it("brings its digits as call.dtmf and into a gather, each once", async () => {
    const id = await established()
    await tenant.act(id, "gather", { terminating_digit: "#", initial_timeout_millis: 15_000 })
    for (const digit of "159#") {
      phone.command("sndcode", digit)
      await Service.sleep(350)
    }
    const gathered = await receiver.next("call.gather_complete", id)
    expect(gathered.data).toMatchObject({ digits: "159", status: "valid" })
    await tenant.act(id, "hangup")
    await receiver.next("call.ended", id)
    const digits = receiver.received.filter(
      ({ data, event_type }) => event_type === "call.dtmf" && data["call_id"] === id
    )
    expect(digits.map(({ data }) => data["digit"]).join("")).toBe("159#")
  })

  it("carries our digits to it, each once", async () => {
    const id = await established()
    await tenant.act(id, "send_dtmf", { digits: "2580*#" })
    await Service.eventually("six digits", () => (digitsHeardByPhone().length >= 6 ? true : undefined))
    await Service.sleep(300)
    expect(digitsHeardByPhone()).toBe("2580*#")
  })

  it("ends when baresip hangs up", async () => {
    const id = await established()
    phone.command("hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "ended", end_reason: "normal_clearing", end_initiator: "callee" })
  })

  // The phone's recording ends with the first hold, so digits show that media flows both ways again.
  it("goes on in the same leg through hold and resume, with media both ways", async () => {
    const id = await established()
    phone.command("hold")
    await Service.sleep(500)
    phone.command("resume")
    await Service.sleep(500)
    phone.command("sndcode", "7")
    expect((await receiver.next("call.dtmf", id)).data).toMatchObject({ digit: "7" })
    await tenant.act(id, "send_dtmf", { digits: "3" })
    await Service.eventually("our digit", () => (digitsHeardByPhone() === "3" ? true : undefined))
    expect(await tenant.call(id)).toMatchObject({ status: "answered" })
    await tenant.act(id, "hangup")
    await phone.event("CALL_CLOSED")
  })

  it("is cancelled by API while it rings", async () => {
    await ready()
    const id = await place()
    await receiver.next("call.ringing", id)
    await tenant.act(id, "hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "ended", end_reason: "cancelled", end_initiator: "api" })
    await phone.event("CALL_CLOSED")
  })

  it("ends as rejected or busy when baresip declines", async () => {
    await ready()
    const id = await place()
    await receiver.next("call.ringing", id)
    phone.command("hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "failed", end_initiator: "callee" })
    expect(["user_busy", "rejected"]).toContain(ended.data["end_reason"])
  })

  it("ends by its ring time-out when nobody answers", async () => {
    await ready()
    const id = await place({ timeout_secs: 5 })
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "failed", end_reason: "timeout", end_initiator: "system" })
    await phone.event("CALL_CLOSED")
  })
})

describe("a call of baresip to an owned number", () => {
  it("is answered by API, hears what we play, and ends when baresip hangs up", async () => {
    await ready()
    const id = await called()
    await tenant.act(id, "answer")
    await receiver.next("call.answered", id)
    await phone.event("CALL_ESTABLISHED")
    await tenant.act(id, "play", { url: receiver.soundUrl })
    await receiver.next("call.playback_ended", id)
    phone.command("hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "ended", end_reason: "normal_clearing", end_initiator: "caller" })
    const heard = Sound.loudest(await phone.heard(), frequency)
    expect(Math.abs(heard.tone - levelDbfs)).toBeLessThan(1)
  })

  it("is rejected by API as busy", async () => {
    await ready()
    const id = await called()
    await tenant.act(id, "reject", { cause: "user_busy" })
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "failed", end_reason: "user_busy", end_initiator: "api" })
    expect(String((await phone.event("CALL_CLOSED"))["param"])).toMatch(/486|Busy/)
  })

  it("ends as cancelled when baresip gives up first", async () => {
    await ready()
    const id = await called()
    await phone.event("CALL_RINGING").catch(() => undefined)
    phone.command("hangup")
    const ended = await receiver.next("call.ended", id)
    expect(ended.data).toMatchObject({ status: "ended", end_reason: "cancelled", end_initiator: "caller" })
  })

  it("is refused when nobody owns the number", async () => {
    await ready()
    phone.command("dial", `sip:+12025550199@127.0.0.1:${service.sipPort}`)
    expect(String((await phone.event("CALL_CLOSED"))["param"])).toMatch(/404|Not Found/)
  })
})
