import { describe, expect, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import * as Markdown from "../../src/edge/http/guide/Markdown.ts"

/**
 * Citations in the code can be opened: `guide/<page>.md#<heading>` is a page of `src/guide`, and
 * `src/<wing>/README.md#<heading>` the page of a wing. So can the links of all pages, and the files that the pages of
 * the house name.
 */
const root = new URL("../../", import.meta.url).pathname
const here = "test/guide/Citations.test.ts"

const read = (path: string) => readFileSync(join(root, path), "utf8")

const sources = globSync("{src,test,scripts}/**/*.ts", { cwd: root })
  .filter((path) => path !== here)
  .map((path) => ({ path, lines: read(path).split("\n") }))

const house = globSync("src/{README.md,*/README.md}", { cwd: root }).filter((path) => path !== "src/guide/README.md")
const pages = [...house, ...globSync("{*.md,src/guide/*.md}", { cwd: root })]

const anchors = new Map(pages.map((path) => [path, new Set(Markdown.headings(read(path)).map(({ slug }) => slug))]))

/** Whether this page, and this heading of it, can be opened. */
const isThere = (page: string, anchor?: string) => {
  const known = anchors.get(page)
  return anchor === undefined ? existsSync(join(root, page)) : known?.has(anchor) === true
}

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
      /(\bguide\/[a-z-]+\.md|\bsrc\/(?:[a-z]+\/)?README\.md)(?:#([\p{L}\p{N}_-]+))?/gu,
      ([, page = "", anchor]) => !isThere(page.startsWith("guide/") ? `src/${page}` : page, anchor)
    )
    expect(cited).toEqual([])
  })

  it("is no document that stands elsewhere", () => {
    expect(found(elsewhere)).toEqual([])
  })
})

describe("the pages", () => {
  it.each(pages)("link to what is there: %s", (page) => {
    const broken = Markdown.links(read(page))
      .filter((href) => !/^(https?|mailto):/.test(href))
      .filter((href) => {
        const [path = "", anchor] = href.split("#")
        return !isThere(path === "" ? page : normalize(join(dirname(page), path)), anchor)
      })
    expect(broken).toEqual([])
  })

  it.each(house)("name files and folders that are there: %s", (page) => {
    const bases = [dirname(page), "src", ""]
    const missing = [...read(page).matchAll(/`([a-z][\w./-]*\/|[\w./-]*\w\.(?:ts|md|json))`/g)]
      .map(([, path = ""]) => path)
      .filter((path) => !/(^|\/)x\/|^X/.test(path))
      .filter((path) => !bases.some((base) => existsSync(join(root, base, path))))
      .filter((path) => path.includes("/") || globSync(`${dirname(page)}/**/${path}`, { cwd: root }).length === 0)
    expect(missing).toEqual([])
  })
})
