import { describe, expect, it } from "@effect/vitest"
import * as GivenUp from "../../../src/media/stream/GivenUp.ts"
import * as Ids from "../../support/Ids.ts"

const tenant = Ids.tenant("one")

describe("A server that was given up", () => {
  it("waits twice as long after each failure, up to a bound, by tenant and host", () => {
    const servers = GivenUp.make()
    expect(servers.waitMs(tenant, "a.example", 0)).toBe(0)
    const waits = [0, 0, 0, 0, 0, 0, 0].map(() => {
      servers.gaveUp(tenant, "a.example", 0)
      return servers.waitMs(tenant, "a.example", 0)
    })
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    expect(servers.waitMs(tenant, "a.example", 10_000)).toBe(20_000)
    expect(servers.waitMs(tenant, "a.example", 40_000)).toBe(0)
    expect(servers.waitMs(tenant, "b.example", 0)).toBe(0)
    expect(servers.waitMs(Ids.tenant("other"), "a.example", 0)).toBe(0)
  })

  it("is forgotten after a minute without another failure", () => {
    const servers = GivenUp.make()
    servers.gaveUp(tenant, "a.example", 0)
    servers.gaveUp(tenant, "a.example", 70_000)
    expect(servers.waitMs(tenant, "a.example", 70_000)).toBe(1_000)
  })

  it("is one of a bounded number", () => {
    const servers = GivenUp.make()
    for (let n = 0; n <= GivenUp.limits.servers; n++) servers.gaveUp(tenant, `${n}.example`, 0)
    expect(servers.waitMs(tenant, "0.example", 0)).toBe(0)
    expect(servers.waitMs(tenant, "1.example", 0)).toBe(1_000)
  })
})
