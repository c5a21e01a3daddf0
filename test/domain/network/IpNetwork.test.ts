import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as IpNetwork from "../../../src/domain/network/IpNetwork.ts"
import * as Random from "../../support/Random.ts"

describe("a network", () => {
  for (const [text, spelling] of [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.77/24", "192.0.2.0/24"],
    ["192.0.2.77/32", "192.0.2.77"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["2001:db8:ffff::1/33", "2001:db8:8000::/33"],
    ["::ffff:192.0.2.1/120", "192.0.2.0/24"],
    ["::/0", "::/0"]
  ] as const)
    it(`is spelled ${spelling} when it is given as ${text}`, () => expect(IpNetwork.parse(text)?.text).toBe(spelling))

  for (const text of ["", "x", "192.0.2.1/33", "192.0.2.1/-1", "192.0.2.1/", "192.0.2/24", "::1/129", "1.2.3.4/8/8"])
    it(`is none: "${text}"`, () => expect(IpNetwork.parse(text)).toBe(null))

  it.prop(
    "has the addresses that share its first bits, and of several the smallest counts",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const address = () => [10, random.below(2), random.below(2), random.below(4)].join(".")
      const all = Array.from({ length: 1 + random.below(8) }, () => IpNetwork.parse(`${address()}/${random.below(33)}`))
      const known = all.filter((each) => each !== null)
      const networks = IpNetwork.networks(known)
      for (let each = 0; each < 20; each++) {
        const asked = address()
        const single = IpNetwork.parse(asked)
        const within = known.filter((network) => single !== null && IpNetwork.contains(network, single))
        const smallest = within.toSorted((a, b) => b.bits.length - a.bits.length)[0]
        expect(networks.find(asked)).toBe(smallest?.text ?? null)
      }
    }
  )
})
