import { describe, expect, it } from "@effect/vitest"
import * as Normal from "../scripts/walk/Normal.ts"
import * as Record from "../scripts/walk/Record.ts"

const id = (kind: string, digit: string) => `svc_${kind}_${digit.repeat(32)}`

describe("The text of a walk", () => {
  it("numbers ids by kind in the order in which they are first seen", () => {
    const { text } = Normal.make()
    expect(text(`${id("call", "a")} ${id("leg", "b")} ${id("call", "c")}`)).toBe(
      "<svc_call 1> <svc_leg 1> <svc_call 2>"
    )
    expect(text(`${id("call", "c")} 01a220fe-06a4-7a4b-a22f-43282e423bfd`)).toBe("<svc_call 2> <uuid 1>")
  })

  it("gives a key and its prefix one number", () => {
    const { text } = Normal.make()
    expect(text(`svc_live_${"k".repeat(43)} svc_live_kkkkkkk svc_live_other12`)).toBe("<key 1> <key 1>… <key 2>…")
  })

  it("moves no number by what it sees aside", () => {
    const { aside, text } = Normal.make()
    expect(aside(id("call", "a"))).toBe("<svc_call>")
    expect(text(id("call", "b"))).toBe("<svc_call 1>")
    expect(aside(id("call", "b"))).toBe("<svc_call 1>")
  })

  it("keeps the shape of times, and a zero that says that nothing was counted", () => {
    const { text } = Normal.make()
    expect(text('"at":"2026-11-28T07:10:48.484Z","on":"2026-11-28"')).toBe(
      '"at":"0000-00-00T00:00:00.000Z","on":"0000-00-00"'
    )
    expect(text('"duration_seconds":7,"mos":4.5')).toBe('"duration_seconds":<n>,"mos":<n>')
    expect(text('"duration_seconds":0,"count":7')).toBe('"duration_seconds":0,"count":7')
  })

  it("hides ports, cursors and secrets", () => {
    const { text } = Normal.make()
    expect(text("http://127.0.0.1:8080/v1/calls?cursor=abc_-1&page=2")).toBe(
      "http://127.0.0.1:<port>/v1/calls?cursor=<cursor>&page=2"
    )
    expect(text('"signing_secret":"whsec_a+b/c=","client_secret":"s"')).toBe(
      '"signing_secret":"<whsec>","client_secret":<any>'
    )
  })
})

describe("The comparison of two walks", () => {
  const entry = (name: string, text: string) => ({ name, text })

  it("finds nothing between equal ones", () => {
    const walk = { requests: [entry("1 GET /", "→ 200")] }
    expect(Record.compare(walk, walk)).toEqual({ differences: 0, lines: ["requests: 1 and 1, 0 differ"] })
  })

  it("shows where two answers part, and entries that only one has", () => {
    const one = { requests: [entry("1 GET /", "→ 200\na"), entry("2 GET /b", "")] }
    const other = { requests: [entry("1 GET /", "→ 200\nb")] }
    expect(Record.compare(one, other).lines).toEqual([
      "requests: 2 and 1, 2 differ",
      "  1 GET /",
      "    - → 200⏎a",
      "    + → 200⏎b",
      "  2 GET /b",
      "  (none)"
    ])
  })

  it("compares the sections that are asked for", () => {
    const one = { requests: [entry("1 GET /", "a")], guide: [entry("1 GET /guide", "a")] }
    const other = { requests: [entry("1 GET /", "a")], guide: [entry("1 GET /guide", "b")] }
    expect(Record.compare(one, other).differences).toBe(1)
    expect(Record.compare(one, other, ["requests"]).differences).toBe(0)
  })
})
