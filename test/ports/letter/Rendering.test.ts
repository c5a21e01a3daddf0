import { describe, expect, it } from "@effect/vitest"
import * as Rendering from "../../../src/ports/letter/Rendering.ts"

const hostile = [
  "x\r\nBcc: b@example.com",
  "a\nb",
  "\u001b[2Jcleared",
  "\u202eevil",
  "zero\u200bwidth",
  "\u2028line",
  "half \ud800 pair",
  '<script>alert(1)</script>"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)"
]
const acts = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe("a letter", () => {
  it("says the same as text and as HTML, with its link as a button and as plain text", () => {
    const { html, subject, text } = Rendering.render({
      subject: "Invoice",
      paragraphs: ["Hello Ada,", "it is here."],
      link: { label: "See it", url: "https://example.com/i?a=1&b=2" }
    })
    expect(subject).toBe("Invoice")
    expect(text).toBe("Hello Ada,\n\nit is here.\n\nSee it:\nhttps://example.com/i?a=1&b=2\n")
    expect(html).toContain("<p>it is here.</p>")
    expect(html).toContain('<a href="https://example.com/i?a=1&amp;b=2"')
    expect(html).toContain("<br>https://example.com/i?a=1&amp;b=2</p>")
    expect(html).not.toMatch(/<img|<link|<script|src=|@import|url\(/)
  })

  it("takes words of others as words, in the header, the text and the HTML", () => {
    const plain = Rendering.render({
      subject: "x",
      paragraphs: ["y"],
      link: { label: "z", url: "https://example.com/" }
    })
    const tags = (html: string) => html.match(/<[^>]*>/g)?.length
    for (const text of hostile) {
      const rendered = Rendering.render({
        subject: text,
        paragraphs: [text],
        link: { label: text, url: "https://example.com/" }
      })
      expect(rendered.subject).not.toMatch(acts)
      expect(rendered.text.split("\n")).toHaveLength(plain.text.split("\n").length)
      expect(rendered.text.replaceAll("\n", "")).not.toMatch(acts)
      expect(tags(rendered.html)).toBe(tags(plain.html))
      expect(rendered.html).not.toMatch(/<script|<img|='alert/)
      expect(rendered.html.replaceAll("\n", "")).not.toMatch(acts)
    }
  })

  it("greets by what is a name, and carries no stranger's message", () => {
    for (const name of ["Ada", "Anne-Marie", "O’Neil", "J. R.", "Łukasz", "李", "María José"])
      expect(Rendering.greeting(name)).toBe(`Hello ${name},`)
    for (const name of [
      "evil.com",
      "see https://evil.example",
      "Win! Call 1-800",
      "a@b",
      "www evil",
      "<b>",
      "x".repeat(41),
      ""
    ])
      expect(Rendering.greeting(name)).toBe("Hello,")
  })
})
