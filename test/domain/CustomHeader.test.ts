import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { CustomHeaders, isValid } from "../../src/domain/CustomHeader.ts"

const accepts = (headers: unknown) => Schema.is(CustomHeaders)(headers)
const header = (name: string, value = "1") => ({ name, value })

describe("A tenant's own header", () => {
  it("begins with X-, and its name is a token", () => {
    for (const name of ["X-Customer", "x-a", "X-A.b_c~!%*+`'"]) expect(isValid(header(name))).toBe(true)
    for (const name of ["From", "X", "X-", "Xa-b", " X-a", "X-a ", "X-a:", "X-ä", "X-a\r\nFrom", "X-a\n", "X-a\0"])
      expect(isValid(header(name))).toBe(false)
  })

  it("has a value that cannot break a message", () => {
    for (const value of ["", "a b", "ä – €", '"<>;,']) expect(isValid(header("X-A", value))).toBe(true)
    for (const value of ["a\r\nFrom: x", "a\n", "\r", "a\0b", "\t", "\u007f", "\u0085", "\u001b"])
      expect(isValid(header("X-A", value))).toBe(false)
  })

  it("has 1 KiB at most, in bytes, and there are 20 at most", () => {
    expect(isValid(header("X-A", "a".repeat(1021)))).toBe(true)
    expect(isValid(header("X-A", "a".repeat(1022)))).toBe(false)
    expect(isValid(header("X-A", "ä".repeat(600)))).toBe(false)
    expect(accepts(Array.from({ length: 20 }, (_, index) => header(`X-${index}`)))).toBe(true)
    expect(accepts(Array.from({ length: 21 }, (_, index) => header(`X-${index}`)))).toBe(false)
    expect(accepts([header("X-A", "a".repeat(1022))])).toBe(false)
    expect(accepts([header("From")])).toBe(false)
  })
})
