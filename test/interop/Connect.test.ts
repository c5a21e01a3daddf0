/**
 * Calls that are connected with each other, with real phones: bridges and transfers by content, codec by codec; REFER.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Service from "./peer/Service.ts"
import * as Sound from "./peer/Sound.ts"

/** The number by which every phone is called, and its caller id. */
const phoneNumber = "+4930123456"
const levelDbfs = -20
/** The tone of the caller; `calleeHz` is that of the callee. */
const callerHz = 440
const calleeHz = 700

let service: Service.Service
let receiver: Receiver.Receiver
let phones: Array<Baresip.Baresip> = []
let numbers = 150

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  service = await Service.start(authority.cert, { SIP_CODECS: "G722,PCMU,PCMA,OPUS,L16" })
  receiver = await Receiver.start(
    service.folder,
    authority,
    Wav.write({ sampleRate: 8000, samples: new Int16Array(8000) })
  )
})

afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
})

afterEach(async () => {
  for (const phone of phones) await phone.stop()
  phones = []
})

const phone = async (frequency: number, codec: Baresip.Codec) => {
  const made = await Baresip.start({
    folder: service.folder,
    name: phoneNumber,
    home: `connect${numbers}-${phones.length}`,
    answers: true,
    codec,
    voice: Tone.sine(frequency, levelDbfs, 60_000, Baresip.rateOf(codec))
  })
  phones.push(made)
  return made
}

/** A phone that has called our number and was answered, and another one that is the trunk of that number. */
const ready = async (callerCodec: Baresip.Codec, calleeCodec: Baresip.Codec) => {
  const number = numbers++
  const own = `+12025550${number}`
  const [caller, callee] = [await phone(callerHz, callerCodec), await phone(calleeHz, calleeCodec)]
  const tenant = await Service.makeTenant(service, callee.port, own)
  await receiver.subscribe(tenant)
  caller.command("dial", `sip:${own}@127.0.0.1:${service.sipPort}`)
  const started = await Service.eventually("call.started inbound", () =>
    receiver.received.find(({ data, event_type }) => event_type === "call.started" && data["to"] === own)
  )
  const id = String(started.data["call_id"])
  await tenant.act(id, "answer")
  await receiver.next("call.answered", id)
  const place = async () => {
    const call = await tenant.request("POST", "/v1/calls", { from: own, to: phoneNumber })
    await receiver.next("call.answered", String(call["id"]))
    return String(call["id"])
  }
  return { caller, callee, tenant, id, place }
}

/** Each phone has recorded the other one's voice: its frequency, its level, and nothing else. */
const heardEachOther = async (caller: Baresip.Baresip, callee: Baresip.Baresip, toleranceDb: number) => {
  for (const [listener, frequency] of [
    [caller, calleeHz],
    [callee, callerHz]
  ] as const) {
    const heard = Sound.loudest(await listener.heard(), frequency)
    expect(heard.tone).toBeGreaterThan(levelDbfs - toleranceDb)
    expect(heard.tone).toBeLessThan(levelDbfs + toleranceDb)
    expect(heard.total - heard.tone).toBeLessThan(0.5)
  }
}

describe("two calls with real phones", () => {
  for (const codec of ["PCMU", "PCMA", "G722", "OPUS", "L16"] as const)
    it(`are bridged, PCMU with ${codec}: each hears the other`, async () => {
      const { callee, caller, id, place, tenant } = await ready("PCMU", codec)
      const other = await place()
      const [leg] = (await tenant.call(other))["legs"] as ReadonlyArray<Service.Json>
      await tenant.act(id, "bridge", { leg_id: leg?.["id"] })
      const bridged = await receiver.next("call.bridged", id)
      expect(bridged.data).toMatchObject({ bridged_call_id: other, bridged_leg_id: leg?.["id"] })
      expect((await receiver.next("call.bridged", other)).data).toMatchObject({ bridged_call_id: id })
      await Service.sleep(2_500)
      await tenant.act(id, "hangup")
      for (const call of [id, other]) await receiver.next("call.ended", call)
      for (const each of [caller, callee]) await each.event("CALL_CLOSED")
      await heardEachOther(caller, callee, 1.5)
    })

  it("are bridged, G722 with Opus: each hears the other", async () => {
    const { callee, caller, id, place, tenant } = await ready("G722", "OPUS")
    const other = await place()
    const [leg] = (await tenant.call(other))["legs"] as ReadonlyArray<Service.Json>
    await tenant.act(id, "bridge", { leg_id: leg?.["id"] })
    await receiver.next("call.bridged", id)
    await Service.sleep(2_500)
    await tenant.act(id, "hangup")
    for (const each of [caller, callee]) await each.event("CALL_CLOSED")
    await heardEachOther(caller, callee, 1.5)
  })
})

describe("a call that is transferred", () => {
  it("to a real phone hears it, and ends when that hangs up", async () => {
    const { callee, caller, id, tenant } = await ready("PCMU", "PCMA")
    await tenant.act(id, "transfer", { to: phoneNumber })
    await receiver.next("call.bridged", id)
    await callee.event("CALL_ESTABLISHED")
    await Service.sleep(2_500)
    callee.command("hangup")
    expect((await receiver.next("call.ended", id)).data).toMatchObject({ status: "ended" })
    await caller.event("CALL_CLOSED")
    await heardEachOther(caller, callee, 1.5)
  })
})

describe("a phone that is referred", () => {
  it("calls the other one in place of us: on a leg that it placed", async () => {
    const { callee, caller, id, tenant } = await ready("PCMU", "PCMU")
    await tenant.act(id, "refer", { sip_address: `sip:${phoneNumber}@127.0.0.1:${callee.port}` })
    expect((await receiver.next("call.refer_completed", id)).data).toMatchObject({ sip_status: 200 })
    await callee.event("CALL_ESTABLISHED")
    await receiver.next("call.ended", id)
    await caller.event("CALL_CLOSED")
    await Service.sleep(1_500)
    await heardEachOther(caller, callee, 1.5)
  })

  it("calls the other one in place of us: on a leg that we placed", async () => {
    const { callee, caller, id, place, tenant } = await ready("PCMU", "PCMU")
    await tenant.act(id, "hangup")
    await caller.event("CALL_CLOSED")
    const other = await place()
    await tenant.act(other, "refer", { sip_address: `sip:${phoneNumber}@127.0.0.1:${caller.port}` })
    await receiver.next("call.refer_completed", other)
    await caller.event("CALL_ESTABLISHED", 2)
    await receiver.next("call.ended", other)
    expect(callee.events.filter((event) => event["type"] === "CALL_ESTABLISHED").length).toBe(2)
  })

  it("to where nobody answers has failed, and its call goes on", async () => {
    const { id, tenant } = await ready("PCMU", "PCMU")
    await tenant.act(id, "refer", { sip_address: `sip:nobody@127.0.0.1:${service.sipPort}` })
    await receiver.next("call.refer_failed", id)
    expect(await tenant.call(id)).toMatchObject({ status: "answered" })
    await tenant.act(id, "hangup")
    await receiver.next("call.ended", id)
  })
})
