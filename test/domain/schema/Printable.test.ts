import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Printable from "../../../src/domain/schema/Printable.ts"
import { scrub } from "../../../src/app/boot/log/Log.ts"
import { fields, table } from "../../../src/edge/operator/command/TextTable.ts"

/** Characters that control a terminal, begin a line, turn the direction of text, or are invisible. */
const hostile = [
  "\u001b[2J\u001b]0;owned\u0007",
  "\u009b31m",
  "line\nlevel=INFO forged",
  "\rover",
  "\u0000\u0008\u007f",
  "\u202egnp.exe",
  "\u2066\u2069\u200f\u061c",
  "\u2028next\u2029",
  "\ufeff\u200b",
  "\u{e0041}",
  "half \ud83d"
]

const acts = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe("Text that others wrote", () => {
  it("is shown with escapes for whatever would act, and otherwise as it is", () => {
    expect(Printable.neutral("a\nb\u001b[31m\u202e\u{e0041}")).toBe("a\\nb\\u001b[31m\\u202e\\udb40\\udc41")
    expect(Printable.neutral("Zoë 你好 мир 👍 ± \\n")).toBe("Zoë 你好 мир 👍 ± \\n")
  })

  it.prop("has nothing that acts, and within JSON stays the text that it was", { text: Schema.String }, ({ text }) => {
    for (const one of [text, ...hostile]) {
      expect(Printable.neutral(one)).not.toMatch(acts)
      expect(JSON.parse(Printable.neutral(JSON.stringify({ one })))).toEqual({ one })
    }
  })

  it("stays in its cell and its field of what the operator reads", () => {
    for (const name of hostile) {
      const lines = table(
        ["name", "id"],
        [
          { name, id: "1" },
          { name: ["x", name], id: "2" }
        ]
      ).split("\n")
      expect(lines).toHaveLength(3)
      for (const line of [...lines, fields({ name })]) expect(line).not.toMatch(acts)
    }
  })

  it("forges no line of the log, and no secret stands in one", () => {
    for (const text of hostile) expect(scrub(`message="${text}"`)).not.toMatch(acts)
    expect(scrub("svc_live_abcdefghijkl whsec_abcdefghijkl")).toBe("svc_live_… whsec_…")
  })
})
