import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Sentences from "../../../src/ports/speech/Sentences.ts"

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "")

describe("a text in parts", () => {
  it("is cut between sentences, and short ones stay together", () => {
    const first = "Welcome to Example. How are you? Today we have an offer that you will like very much."
    const second = "Please stay on the line until somebody has time for you, which will be soon."
    expect(Sentences.split(`${first} ${second}`)).toStrictEqual([first, second])
  })

  it("keeps numbers whole", () => {
    const text = `${"Your balance is one of many words that I say ".repeat(4)}and it is 1.234,56 or 1,234.56 dollars`
    for (const part of Sentences.split(text)) expect(part).not.toMatch(/[0-9][.,]$|^[.,]?[0-9]+$/)
    expect(Sentences.split(text).join(" ")).toContain("1.234,56 or 1,234.56")
  })

  it("is cut between clauses, then words, then anywhere, where a sentence is too long", () => {
    const clause = `${"word ".repeat(30).trim()}, ${"word ".repeat(60)}end.`
    expect(Sentences.split(clause)[0]).toMatch(/word,$/)
    expect(Sentences.split("x".repeat(500)).map(({ length }) => length)).toStrictEqual([240, 240, 20])
    expect(Sentences.split("😀".repeat(150)).every((part) => !/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(part))).toBe(
      true
    )
  })

  it("has nothing where there is nothing", () => {
    expect(Sentences.split("")).toStrictEqual([])
    expect(Sentences.split(" \n\t ")).toStrictEqual([])
  })

  it.prop("is the whole text, in parts that are short enough", { text: Schema.String }, ({ text }) => {
    const parts = Sentences.split(text)
    expect(parts.every((part) => part.length > 0 && part.length <= 240)).toBe(true)
    expect(words(parts.join(" ")).join("")).toBe(words(text).join(""))
  })

  it.prop(
    "of words and signs keeps each word",
    { text: Schema.Array(Schema.Literals(["word", "1.5", "Dr.", "what?!", "so,", "e.g.", "\n", "“Yes.”", "3,14"])) },
    ({ text }) => {
      const all = text.join(" ")
      expect(words(Sentences.split(all).join(" "))).toStrictEqual(words(all))
    }
  )
})
