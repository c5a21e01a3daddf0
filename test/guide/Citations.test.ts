import { describe, expect, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import * as Markdown from "../../src/edge/http/guide/Markdown.ts"

/**
 * Citations in the code can be opened: `guide/<page>.md#<heading>` is a page of `src/guide`, `src/README.md#<heading>`
 * one of the reasons of the house.
 */
const root = new URL("../../", import.meta.url)
const here = "test/guide/Citations.test.ts"

const sources = globSync("{src,test,scripts}/**/*.ts", { cwd: root.pathname })
  .filter((path) => path !== here)
  .map((path) => ({ path, lines: readFileSync(new URL(path, root), "utf8").split("\n") }))

const anchors = new Map(
  ["src/README.md", ...globSync("src/guide/*.md", { cwd: root.pathname })].map((path) => [
    path.replace(/^src\/guide\//, "guide/"),
    new Set(Markdown.headings(readFileSync(new URL(path, root), "utf8")).map(({ slug }) => slug))
  ])
)

/** `path:line: text` of every match. */
const found = (pattern: RegExp, wrong: (match: RegExpExecArray) => boolean = () => true) =>
  sources.flatMap(({ lines, path }) =>
    lines.flatMap((line, index) =>
      [...line.matchAll(pattern)].filter(wrong).map((match) => `${path}:${index + 1}: ${match[0]}`)
    )
  )

/** Documents that a newcomer cannot open, and the numbers of their rows. RFCs are cited by section, in words. */
const elsewhere =
  /§ ?\d|\bspecification\b|\bspec,|\b(of the )?decisions? (\d|[A-D]\d|part\b)|\bof the decisions\b|\b[CD]\d{1,2}\b(?=[),.;:]| and | to )|\(house\b|\bhouse,|\bhouse (section|«)|house\.md|\bissue: "/gi

describe("what the code cites", () => {
  it("is a page of this repository, or a heading of one", () => {
    const cited = found(
      /(\bguide\/[a-z-]+\.md|\bsrc\/README\.md)(?:#([\p{L}\p{N}_-]+))?/gu,
      ([, page = "", anchor]) => {
        const known = anchors.get(page)
        return known === undefined || (anchor !== undefined && !known.has(anchor))
      }
    )
    expect(cited).toEqual([])
  })

  it("is no document that stands elsewhere", () => {
    expect(found(elsewhere)).toEqual([])
  })
})
