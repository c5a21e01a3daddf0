/** A trunk that writes numbers in national form, both directions, with SIPp. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Service from "./peer/Service.ts"
import * as Sipp from "./peer/Sipp.ts"

let service: Service.Service
let ports = 150

beforeAll(async () => {
  service = await Service.start(TestCertificate.makeAuthority().cert)
})

afterAll(async () => {
  await service?.stop()
})

/** A tenant whose trunk writes American numbers with ten digits, and wants an account in From. */
const american = async () => {
  const port = await Service.freePort()
  const own = `+12025550${ports++}`
  const tenant = await Service.makeTenant(service, port, own)
  const { results } = await tenant.request("GET", "/v1/connections")
  const route = (results as ReadonlyArray<Service.Json>).find((each) => each["is_default"] === true)
  const id = String(route?.["id"])
  const form = ["--country", "US", "--send", "national", "--national-prefix", "none", "--tech-prefix", "77#"]
  const name = ["--from-user", "account7", "--from-domain", "trunk.example"]
  await service.operator("route", "numbers", id, ...form, ...name)
  return { id, own, port, tenant }
}

const ended = (tenant: Service.Tenant, id: string) =>
  Service.eventually("the call ended", async () => {
    const call = await tenant.call(id)
    return call["ended_at"] === null ? undefined : call
  })

describe("a trunk of national numbers", () => {
  it("is called in its form, with its prefix, its account and its domain", async () => {
    const { id, own, port, tenant } = await american()
    const run = await Sipp.run({
      folder: service.folder,
      name: "national-out",
      scenario: Sipp.answering(undefined, [
        "^INVITE sip:77%232125550123@127",
        "From: .sip:account7@trunk[.]example.;tag",
        `P-Asserted-Identity: .sip:${own.slice(2)}@trunk[.]example.`
      ]),
      arguments: ["-p", String(port), "-m", "1"]
    })
    const placed = await tenant.request("POST", "/v1/calls", { from: own, to: "+12125550123" })
    expect(placed).toMatchObject({ from: own, to: "+12125550123", caller_name: null, diversion: [] })
    const callId = String(placed["id"])
    await Service.eventually("answered", async () =>
      (await tenant.call(callId))["status"] === "answered" ? true : undefined
    )
    await tenant.act(callId, "hangup")
    expect(await run.finished).toMatchObject({ code: 0, successful: 1, failed: 0 })
    const shown = await service.operator("route", "try", id, "+12125550123")
    expect(shown).toContain("sip:77%232125550123@127.0.0.1")
  })

  it("calls a number in its form, and the call has E.164 on both sides, the name and the diversion", async () => {
    const { own, port, tenant } = await american()
    const run = await Sipp.run({
      folder: service.folder,
      name: "national-in",
      scenario: Sipp.calling(own.slice(2), {
        user: "2125550123",
        name: "Ada Lovelace",
        headers: ["Diversion: <sip:2125550124@[local_ip]>;reason=no-answer"]
      }),
      arguments: [`127.0.0.1:${service.sipPort}`, "-p", String(port), "-m", "1", "-d", "500"]
    })
    const [offered] = await Service.eventually("the call came", async () => {
      const { results } = await tenant.request("GET", "/v1/calls")
      const calls = results as ReadonlyArray<Service.Json>
      return calls.length === 0 ? undefined : calls
    })
    const id = String(offered?.["id"])
    expect(await tenant.act(id, "answer")).toMatchObject({
      direction: "inbound",
      from: "+12125550123",
      to: own,
      caller_name: "Ada Lovelace",
      diversion: [{ number: "+12125550124", reason: "no_answer" }],
      attestation: null
    })
    expect(await run.finished).toMatchObject({ code: 0, successful: 1, failed: 0 })
    expect(await ended(tenant, id)).toMatchObject({ end_reason: "normal_clearing", from: "+12125550123" })
  })
})
