import { describe, expect, it } from "@effect/vitest"
import * as EmailAddress from "../../../src/domain/EmailAddress.ts"

describe("Who an address belongs to, for the trial credit", () => {
  it.each([
    ["Jane.Doe@Gmail.com", "janedoe@gmail.com"],
    ["j.a.n.e.doe+tag+more@googlemail.com", "janedoe@gmail.com"],
    ["jane+x@me.com", "jane@icloud.com"],
    ["jane.doe@icloud.com", "jane.doe@icloud.com"],
    ["jane-d_o.e@pm.me", "janedoe@proton.me"],
    ["jane.doe+x@outlook.com", "jane.doe@outlook.com"],
    // These are one address in two Unicode spellings, and one domain in its own letters and in those of DNS.
    ["A\u0308da@example.com", "\u00e4da@example.com"],
    ["ada@\u043f\u0440\u0438\u043c\u0435\u0440.com", "ada@xn--e1afmkfd.com"],
    ["ada@XN--E1AFMKFD.com", "ada@xn--e1afmkfd.com"],
    // For an unknown provider, each spelling is another person.
    ["Jane.Doe+x@example.com", "jane.doe+x@example.com"]
  ])("%s is %s", (email, folded) => expect(EmailAddress.folded(email)).toBe(folded))
})
