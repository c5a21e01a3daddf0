/** Calls with SIPp: answers of every kind, digest, and many calls at once. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as G711 from "../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Service from "./peer/Service.ts"
import * as Sipp from "./peer/Sipp.ts"

const callee = "+4930123456"
const sound = Wav.write({ sampleRate: 8000, samples: Tone.sine(1_000, -12, 500, 8000) })

/** Seconds of full rate; the long form is 60 (`INTEROP_SECS`). */
const seconds = Number(process.env["INTEROP_SECS"] ?? "60")

let service: Service.Service
let receiver: Receiver.Receiver
let ports = 170

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  service = await Service.start(authority.cert)
  receiver = await Receiver.start(service.folder, authority, sound)
})

afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
})

/** A tenant whose trunk is a SIPp that runs this scenario. */
const facing = async (
  name: string,
  scenario: string,
  options: { readonly words?: ReadonlyArray<string>; readonly credentials?: ReadonlyArray<string> } = {}
) => {
  const port = await Service.freePort()
  const own = `+12025550${ports++}`
  const tenant = await Service.makeTenant(service, port, own, options.credentials)
  const run = await Sipp.run({
    folder: service.folder,
    name,
    scenario,
    arguments: ["-p", String(port), ...(options.words ?? ["-m", "1"])]
  })
  return { own, tenant, run, place: () => tenant.request("POST", "/v1/calls", { from: own, to: callee }) }
}

describe("a call that SIPp refuses", () => {
  const refusals = [
    ["486 Busy Here", "user_busy", "callee"],
    ["600 Busy Everywhere", "user_busy", "callee"],
    ["603 Decline", "rejected", "callee"],
    ["404 Not Found", "not_found", "carrier"],
    ["480 Temporarily Unavailable", "no_answer", "carrier"],
    ["503 Service Unavailable", "carrier_error", "carrier"]
  ] as const
  for (const [status, reason, initiator] of refusals)
    it(`with ${status} ends as ${reason}`, async () => {
      const { place, run, tenant } = await facing(`refuse-${status.slice(0, 3)}`, Sipp.refusing(status))
      const { id } = await place()
      const ended = await Service.eventually("the call ended", async () => {
        const call = await tenant.call(String(id))
        return call["ended_at"] === null ? undefined : call
      })
      expect(ended).toMatchObject({ status: "failed", end_reason: reason, end_initiator: initiator })
      expect(await run.finished).toMatchObject({ successful: 1, failed: 0 })
    })
})

describe("a call to a trunk", () => {
  it("that rings and is hung up by API is cancelled on the wire", async () => {
    const { place, run, tenant } = await facing("ringing", Sipp.ringing())
    const id = String((await place())["id"])
    await Service.eventually("ringing", async () =>
      (await tenant.call(id))["status"] === "ringing" ? true : undefined
    )
    await tenant.act(id, "hangup")
    expect(await tenant.call(id)).toMatchObject({ status: "ended", end_reason: "cancelled", end_initiator: "api" })
    expect(await run.finished).toMatchObject({ code: 0, successful: 1 })
  })

  it("that asks for a password is authenticated by digest", async () => {
    const { place, run, tenant } = await facing("digest", Sipp.challenging("alice", "secret"), {
      credentials: ["--user", "alice", "--password", "secret"]
    })
    const id = String((await place())["id"])
    await Service.eventually("answered", async () =>
      (await tenant.call(id))["status"] === "answered" ? true : undefined
    )
    await tenant.act(id, "hangup")
    expect(await run.finished).toMatchObject({ code: 0, successful: 1 })
  })
})

describe("kill -9 under calls", () => {
  const each = 10

  it("leaves no leg behind: what rang gets CANCEL, what was answered BYE, both ways, within 10 s", async () => {
    const words = ["-m", String(each)]
    const ringing = await facing("crash-ringing", Sipp.ringing(), { words })
    const answered = await facing("crash-answered", Sipp.answering(), { words })
    const trunk = await Service.freePort()
    const own = `+12025550${ports++}`
    const called = await Service.makeTenant(service, trunk, own)
    await receiver.subscribe(called)
    receiver.tell({ kind: "relay", relay: false })
    receiver.tell({ kind: "answer", baseUrl: service.baseUrl, key: called.key, numbers: [own] })
    const inbound = await Sipp.run({
      folder: service.folder,
      name: "crash-inbound",
      scenario: Sipp.waiting(own),
      arguments: [`127.0.0.1:${service.sipPort}`, "-p", String(trunk), "-r", "50", ...words]
    })
    for (let call = 0; call < each; call++) await Promise.all([ringing.place(), answered.place()])
    const all = async (tenant: Service.Tenant, status: string) =>
      Service.eventually(`every call ${status}`, async () => {
        const calls = await allCalls(tenant)
        return calls.length === each && calls.every((call) => call["status"] === status) ? true : undefined
      })
    await all(ringing.tenant, "ringing")
    await all(answered.tenant, "answered")
    await all(called, "answered")

    await service.crash()
    const restarted = Date.now()
    for (const { finished } of [ringing.run, answered.run, inbound])
      expect(await finished).toMatchObject({ successful: each, failed: 0 })
    expect(Date.now() - restarted).toBeLessThan(10_000)
    expect(await outcomes(ringing.tenant, each)).toEqual({ "failed carrier_error unanswered": each })
    for (const tenant of [answered.tenant, called])
      expect(await outcomes(tenant, each)).toEqual({ "ended carrier_error answered": each })
  })
})

/** Hangs each call up two seconds after it was placed. */
const placeMany = async (rate: number, count: number, tenant: Service.Tenant, own: string) => {
  const began = Date.now()
  const failures: Array<string> = []
  const one = async () => {
    const { id } = await tenant.request("POST", "/v1/calls", { from: own, to: callee })
    await Service.sleep(2_000)
    await tenant.act(String(id), "hangup")
  }
  const calls: Array<Promise<unknown>> = []
  for (let index = 0; index < count; index++) {
    await Service.sleep(Math.max(0, began + (index * 1_000) / rate - Date.now()))
    calls.push(one().catch((error: unknown) => failures.push(String(error))))
  }
  await Promise.all(calls)
  return failures
}

const allCalls = async (tenant: Service.Tenant): Promise<ReadonlyArray<Service.Json>> => {
  const all: Array<Service.Json> = []
  for (let page = 1; ; page++) {
    const { next, results } = await tenant.request("GET", `/v1/calls?page_size=100&page=${page}`)
    all.push(...(results as ReadonlyArray<Service.Json>))
    if (next === null) return all
  }
}

/** The outcomes of all calls of a tenant, counted by status, reason and whether they were answered. */
const outcomes = async (tenant: Service.Tenant, count: number): Promise<Readonly<Record<string, number>>> => {
  const calls = await Service.eventually("every call ended", async () => {
    const all = await allCalls(tenant)
    return all.length === count && all.every((call) => call["ended_at"] !== null) ? all : undefined
  })
  const counts: Record<string, number> = {}
  for (const call of calls) {
    const key = `${String(call["status"])} ${String(call["end_reason"])} ${call["answered_at"] === null ? "unanswered" : "answered"}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describe(`many calls, for ${seconds} s, held for 2 s`, () => {
  const timeout = seconds * 1_000 + 60_000
  const whole = (count: number) => ({ "ended normal_clearing answered": count })

  it("outbound, 50 a second without RTP: none fails", { timeout }, async () => {
    const count = 50 * seconds
    const { own, run, tenant } = await facing("load-out", Sipp.answering(), { words: ["-m", String(count)] })
    expect(await placeMany(50, count, tenant, own)).toEqual([])
    expect(await run.finished).toMatchObject({ successful: count, failed: 0 })
    expect(await outcomes(tenant, count)).toEqual(whole(count))
  })

  it("inbound, 50 a second without RTP, answered by a webhook receiver: none fails", { timeout }, async () => {
    const count = 50 * seconds
    const trunk = await Service.freePort()
    const own = `+12025550${ports++}`
    const tenant = await Service.makeTenant(service, trunk, own)
    await receiver.subscribe(tenant)
    receiver.tell({ kind: "relay", relay: false })
    receiver.tell({ kind: "answer", baseUrl: service.baseUrl, key: tenant.key, numbers: [own] })
    const run = await Sipp.run({
      folder: service.folder,
      name: "load-in",
      scenario: Sipp.calling(own),
      arguments: [
        `127.0.0.1:${service.sipPort}`,
        "-p",
        String(trunk),
        "-r",
        "50",
        "-m",
        String(count),
        "-d",
        "2000",
        "-l",
        "1000"
      ]
    })
    const finished = await run.finished
    expect(receiver.failures).toEqual([])
    expect(finished, finished.errors).toMatchObject({ code: 0, successful: count, failed: 0 })
    expect(await outcomes(tenant, count)).toEqual(whole(count))
  })

  it("outbound, 10 a second with RTP: none fails", { timeout }, async () => {
    const count = 10 * seconds
    const speech = join(service.folder, "speech.ulaw")
    await writeFile(speech, G711.encode("PCMU", Tone.sine(440, -20, 4_000, 8000)))
    const { own, run, tenant } = await facing("load-rtp", Sipp.answering(speech), {
      words: ["-m", String(count), "-mp", "30000"]
    })
    expect(await placeMany(10, count, tenant, own)).toEqual([])
    expect(await run.finished).toMatchObject({ successful: count, failed: 0 })
    expect(await outcomes(tenant, count)).toEqual(whole(count))
  })
})
