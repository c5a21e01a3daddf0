import { describe, expect, it } from "@effect/vitest"
import * as BanList from "../../../../src/carrier/sip/ingress/BanList.ts"

const make = () => {
  let now = 0
  const bans = BanList.make({ now: () => now, wallMs: () => 1_000_000 + now })
  return { bans, pass: (ms: number) => void (now += ms) }
}

const operators = (network: string, expiresAt: number | null = null) =>
  ({ network, by: "operator", reason: "r", createdAt: 0, expiresAt }) as const

describe("the ban list (guide/sip.md#bans)", () => {
  it("covers addresses and networks of both families, until they expire", () => {
    const { bans, pass } = make()
    bans.take([operators("192.0.2.1"), operators("10.0.0.0/9", 1_000_500), operators("2001:db8::/33"), operators("?")])
    const covered = (address: string) => bans.covers(address, address)
    expect(["192.0.2.1", "10.127.0.1", "2001:db8:7fff::1"].map(covered)).toEqual(Array(3).fill(true))
    expect(["192.0.2.2", "10.128.0.1", "2001:db8:8000::1"].map(covered)).toEqual(Array(3).fill(false))
    pass(500)
    expect(covered("10.127.0.1")).toBe(false)
    expect(covered("192.0.2.1")).toBe(true)
  })

  it("has room for a thousand of its own: the next one takes the place of the one that ends first", () => {
    const { bans, pass } = make()
    for (let each = 0; each <= BanList.maxAutomatic; each++) {
      bans.add(`10.0.${each >> 8}.${each & 255}`, "loud")
      pass(1)
    }
    expect(bans.automatic()).toHaveLength(BanList.maxAutomatic)
    expect(bans.covers("10.0.0.0", "10.0.0.0")).toBe(false)
    expect(bans.covers("10.0.0.1", "10.0.0.1")).toBe(true)
    pass(BanList.automaticMs)
    expect(bans.automatic()).toEqual([])
    expect(bans.covers("10.0.3.232", "10.0.3.232")).toBe(false)
  })

  it("takes back its own by address and by network", () => {
    const { bans } = make()
    for (const source of ["10.0.0.1", "10.0.1.1", "2001:db8::/64"]) bans.add(source, "loud")
    expect(bans.lift("10.0.0.1")).toBe(1)
    expect(bans.lift("10.0.0.1")).toBe(0)
    expect(bans.lift("2001:db8::7")).toBe(1)
    expect(bans.lift("0.0.0.0/0")).toBe(1)
    expect(bans.lift("nonsense")).toBe(0)
    expect(bans.automatic()).toEqual([])
  })
})
