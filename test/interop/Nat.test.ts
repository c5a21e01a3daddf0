/** A real peer (SIPp) behind a NAT, which puts its inner address in its Contact, on IPv4 and on IPv6. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Network from "./peer/Network.ts"
import * as Service from "./peer/Service.ts"
import * as Sipp from "./peer/Sipp.ts"

const callee = "+4930123456"
const refusal = Network.refusal()
if (refusal !== null) console.warn(`skipped: no network namespaces with NAT here (needs root, ip, nft). ${refusal}`)

let network: Network.Network | undefined
let service: Service.Service
let numbers = 70

beforeAll(async () => {
  if (refusal !== null) return
  network = Network.open()
  const { ipv4, ipv6 } = Network.addresses.service
  service = await Service.start(
    TestCertificate.makeAuthority().cert,
    { SIP_HOST: "::", SIP_PORT: "5060", PUBLIC_ADDRESS: `${ipv4},${ipv6}` },
    network.service
  )
})

afterAll(async () => {
  try {
    await service?.stop()
  } finally {
    await network?.close()
  }
})

type Family = "ipv4" | "ipv6"

/** A tenant whose trunk is at the outer address of the NAT. */
const facing = async (family: Family) => {
  const own = `+120255501${numbers++}`
  const tenant = await Service.makeTenant(service, 5060, own, [], Network.addresses.outside[family])
  return {
    own,
    tenant,
    place: async () => String((await tenant.request("POST", "/v1/calls", { from: own, to: callee }))["id"])
  }
}

const runs: Array<Sipp.Run> = []

afterEach(async () => {
  for (const { child } of runs.splice(0)) await Service.end(child, "SIGKILL")
})

const inside = async (family: Family, name: string, scenario: string, words: ReadonlyArray<string> = []) => {
  const run = await Sipp.run({
    folder: service.folder,
    name: `${name}-${family}`,
    scenario,
    address: Network.addresses.inside[family],
    prefix: network?.peer.prefix ?? [],
    arguments: [...words, "-p", "5060", "-m", "1"]
  })
  runs.push(run)
  return run
}

const toService = (family: Family): string => {
  const { [family]: address } = Network.addresses.service
  return family === "ipv6" ? `[${address}]:5060` : `${address}:5060`
}

const until = (tenant: Service.Tenant, id: string, status: string) =>
  Service.eventually(`the call is ${status}`, async () => {
    const call = await tenant.call(id)
    return call["status"] === status ? call : undefined
  })

/** The call of the peer, as soon as it is there. */
const offered = (tenant: Service.Tenant) =>
  Service.eventually("a call of the peer", async () => {
    const { results } = await tenant.request("GET", "/v1/calls")
    const [call] = results as ReadonlyArray<Service.Json>
    return call?.["ended_at"] === null ? String(call["id"]) : undefined
  })

/** The peer has refused our REFER, so it got that. */
const refused = (id: string) =>
  Service.eventually(
    "the REFER is refused",
    async () => ((await service.operator("call", "show", id)).includes("call.refer_failed") ? true : undefined),
    60_000
  )

const target = { sip_address: "sip:+12025550170@192.0.2.9" }

for (const family of ["ipv4", "ipv6"] as const)
  describe.skipIf(refusal !== null)(`a peer at ${Network.addresses.inside[family]} behind a NAT`, () => {
    it("gets ACK, REFER and BYE of a call that it answers", async () => {
      const { place, tenant } = await facing(family)
      const run = await inside(family, "answers", Sipp.referred())
      const id = await place()
      await until(tenant, id, "answered")
      await tenant.act(id, "refer", target)
      await refused(id)
      await tenant.act(id, "hangup")
      const finished = await run.finished
      expect(finished, finished.errors).toMatchObject({ code: 0, successful: 1, failed: 0 })
    })

    it("gets 200, REFER and BYE of a call that it places", async () => {
      const { own, tenant } = await facing(family)
      const run = await inside(family, "places", Sipp.callingReferred(own), [toService(family)])
      const id = await offered(tenant)
      await tenant.act(id, "answer")
      await until(tenant, id, "answered")
      await tenant.act(id, "refer", target)
      await refused(id)
      await tenant.act(id, "hangup")
      const finished = await run.finished
      expect(finished, finished.errors).toMatchObject({ code: 0, successful: 1, failed: 0 })
    })

    it("gets the CANCEL of a call that rings", async () => {
      const { place, tenant } = await facing(family)
      const run = await inside(family, "rings", Sipp.ringing())
      const id = await place()
      await until(tenant, id, "ringing")
      await tenant.act(id, "hangup")
      const finished = await run.finished
      expect(finished, finished.errors).toMatchObject({ code: 0, successful: 1, failed: 0 })
    })

    it("gets the BYE of the next process when the service was killed", async () => {
      const { place, tenant } = await facing(family)
      const run = await inside(family, "crashes", Sipp.answering())
      await until(tenant, await place(), "answered")
      await service.crash()
      const finished = await run.finished
      expect(finished, finished.errors).toMatchObject({ code: 0, successful: 1, failed: 0 })
    })
  })
