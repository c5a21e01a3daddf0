import { describe, expect, it } from "@effect/vitest"
import * as EmailAddress from "../../src/domain/EmailAddress.ts"

describe("The one spelling of an e-mail address", () => {
  it.each([
    ["Ada@Example.COM", "ada@example.com"],
    ["A\u0308da@example.com", "\u00e4da@example.com"],
    ["ada@b\u00fccher.example", "ada@xn--bcher-kva.example"],
    ["ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"],
    ["ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example"],
    ["ada@\uff45xample.com", "ada@example.com"],
    // A domain that has no ASCII form stays as it is; digits are not read as a host's address.
    ["ada@1.2", "ada@1.2"],
    // Only the mail server can interpret the local part.
    ["jane.doe+x@gmail.com", "jane.doe+x@gmail.com"]
  ])("of %s is %s", (address, canonical) => {
    expect(EmailAddress.canonical(address)).toBe(canonical)
    expect(EmailAddress.canonical(canonical)).toBe(canonical)
  })
})

describe("What mail servers take, RFC 5321 section 4.5.3.1", () => {
  const before = /before the @/
  const domain = /DNS allows/
  it.each([
    ["64 octets before the @", `${"a".repeat(64)}@example.com`, null],
    ["65", `${"a".repeat(65)}@example.com`, before],
    ["32 letters of two octets", `${"\u00e4".repeat(32)}@example.com`, null],
    ["33 of them", `${"\u00e4".repeat(33)}@example.com`, before],
    ["a label of 63", `a@${"b".repeat(63)}.example`, null],
    ["a label of 64", `a@${"b".repeat(64)}.example`, domain],
    ["a label that is longer in DNS", `a@${"\u00fc\u0436\u0439".repeat(20)}.example`, domain],
    ["a domain of 253", `a@${"b.".repeat(124)}bbbbb`, null],
    ["a domain of 254", `a@${"b.".repeat(124)}bbbbbb`, domain]
  ] as const)("%s", (_, address, refusal) => {
    if (refusal === null) expect(EmailAddress.tooLong(address)).toBeNull()
    else expect(EmailAddress.tooLong(address)).toMatch(refusal)
  })
})
