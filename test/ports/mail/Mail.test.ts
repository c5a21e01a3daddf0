import { describe, expect, it } from "@effect/vitest"
import { isAddress } from "../../../src/ports/mail/Mail.ts"

describe("an address of a letter", () => {
  it("is one address, of whatever script", () => {
    for (const address of ["ada@example.com", "j.o'neil+x@example.co.uk", "grün@bücher.example", "a@localhost"])
      expect([address, isAddress(address)]).toEqual([address, true])
  })

  it("is neither two, nor a name with one, nor what could end a line of SMTP", () => {
    const hostile = [
      "a@x.com, b@y.com",
      "a@x.com;b@y.com",
      "a@x.com b@y.com",
      "a@b@c.com",
      "Ada <a@x.com>",
      "a(comment)@x.com",
      '"a b"@x.com',
      "a@[127.0.0.1]",
      "@relay:a@x.com",
      "a@x.com\r\nBcc: b@y.com",
      "a@x.com\n",
      "a\u0000@x.com",
      "a@x.com\u2028b",
      "a\u202e@x.com",
      "a@",
      "@x.com",
      "",
      `${"a".repeat(400)}@x.com`
    ]
    for (const address of hostile) expect([address, isAddress(address)]).toEqual([address, false])
  })
})
