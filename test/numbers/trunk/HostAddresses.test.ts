import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as HostAddresses from "../../../src/numbers/trunk/HostAddresses.ts"
import * as Random from "../../support/Random.ts"

describe("the addresses of hosts", () => {
  it.prop("are those of all hosts, and whoever follows the changes has them", { seed: Schema.Int }, ({ seed }) => {
    const random = Random.make(seed)
    const hosts = HostAddresses.make(1_000)
    const model = new Map<string, ReadonlyArray<string>>()
    const follower = new Set<string>()
    for (let step = 0; step < 100; step++) {
      const host = `host ${random.below(6)}`
      const addresses = Array.from({ length: random.below(4) }, () => `address ${random.below(8)}`)
      expect(hosts.set(host, addresses)).toBe(true)
      model.set(host, addresses)
      if (random.below(3) > 0) continue
      const { added, removed } = hosts.changes()
      for (const address of removed) expect(follower.delete(address)).toBe(true)
      for (const address of added) expect(follower.has(address)).toBe(false)
      for (const address of added) follower.add(address)
      const all = new Set([...model.values()].flat())
      expect(new Set(hosts.all())).toEqual(all)
      expect(follower).toEqual(all)
    }
  })

  it("are no more than there is room for; those that are known stay", () => {
    const hosts = HostAddresses.make(2)
    expect(hosts.set("a", ["1"])).toBe(true)
    expect(hosts.set("b", ["1", "2", "3"])).toBe(false)
    expect(hosts.all()).toEqual(["1", "2"])
    expect(hosts.of("b")).toEqual(["1", "2"])
    expect(hosts.set("a", [])).toBe(true)
    expect(hosts.all()).toEqual(["1", "2"])
  })

  it("make room for those that come in their place", () => {
    const hosts = HostAddresses.make(2)
    hosts.set("a", ["1"])
    hosts.set("b", ["2"])
    hosts.changes()
    expect(hosts.set("a", ["3"])).toBe(true)
    expect(hosts.changes()).toEqual({ added: ["3"], removed: ["1"] })
    expect(hosts.of("a")).toEqual(["3"])
  })
})
