import { describe, expect, it } from "@effect/vitest"
import * as Markdown from "../../../../src/edge/http/guide/Markdown.ts"

describe("the headings of a page", () => {
  const slugs = (markdown: string) => Markdown.headings(markdown).map(({ slug }) => slug)

  it("have the anchors that GitHub gives them", () => {
    expect(slugs("# Why a call ended\n\n## send_dtmf\n\n### E-mail verification\n\n## Rates & caps, each")).toEqual([
      "why-a-call-ended",
      "send_dtmf",
      "e-mail-verification",
      "rates--caps-each"
    ])
  })

  it("are told apart by a number where their text is the same", () => {
    expect(slugs("# Bounds\n\n## Bounds\n\n## Bounds")).toEqual(["bounds", "bounds-1", "bounds-2"])
  })

  it("are read without the marks in them, and not out of code", () => {
    expect(Markdown.headings("# The `play` *verb*\n\n```\n# no heading\n```")).toEqual([
      { depth: 1, text: "The play verb", slug: "the-play-verb" }
    ])
  })
})

describe("a rendered page", () => {
  it("has an anchor at each heading, and its title", () => {
    const { html, title } = Markdown.render("# Calls\n\n## States", (href) => href)
    expect(title).toBe("Calls")
    expect(html).toContain('<h1 id="calls">Calls</h1>')
    expect(html).toContain('<h2 id="states">States ')
  })

  it("leads its links where the server has the pages, in tables too", () => {
    const { html } = Markdown.render("| a |\n|---|\n| [x](calls.md) |", (href) => href.replace("calls.md", "/there"))
    expect(html).toContain('<td><a href="/there">x</a></td>')
  })
})
