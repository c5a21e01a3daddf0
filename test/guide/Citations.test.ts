import { describe, expect, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import * as Markdown from "../../src/http/guide/Markdown.ts"

/**
 * What the code cites can be opened: `guide/<page>.md#<heading>` is a page of `src/guide`, `src/README.md#<heading>` one of
 * the reasons of the house.
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
const found = (pattern: RegExp, wrong: (match: RegExpExecArray) => boolean, within: (path: string) => boolean) =>
  sources
    .filter(({ path }) => within(path))
    .flatMap(({ lines, path }) =>
      lines.flatMap((line, index) =>
        [...line.matchAll(pattern)].filter(wrong).map((match) => `${path}:${index + 1}: ${match[0]}`)
      )
    )

/** Rooms whose citations are all of this repository; the list only grows, until it is everything. */
const swept: ReadonlyArray<string> = [
  "scripts/check.ts",
  "scripts/crash.ts",
  "scripts/demo",
  "scripts/demo.ts",
  "scripts/floors.ts",
  "scripts/fresh.ts",
  "scripts/interop.ts",
  "scripts/openapi.ts",
  "scripts/test.ts",
  "src/account",
  "src/actor",
  "src/apikey",
  "src/audio",
  "src/audit",
  "src/billing",
  "src/boot",
  "src/carrier",
  "src/connection",
  "src/domain",
  "src/egress",
  "src/http",
  "src/idempotency",
  "src/mail",
  "src/main.ts",
  "src/media",
  "src/number",
  "src/operator",
  "src/rtp",
  "src/sip",
  "src/tenant",
  "test/CountReporter.ts",
  "test/account",
  "test/actor",
  "test/apikey",
  "test/audio",
  "test/bench",
  "test/billing",
  "test/boot",
  "test/call",
  "test/carrier",
  "test/connection",
  "test/crash",
  "test/demo.integration.test.ts",
  "test/domain",
  "test/egress",
  "test/guide",
  "test/http",
  "test/idempotency",
  "test/interop",
  "test/interop.vitest.config.ts",
  "test/launch.test.ts",
  "test/mail",
  "test/main.test.ts",
  "test/media",
  "test/number",
  "test/operator",
  "test/rtp",
  "test/sip",
  "test/store",
  "test/support",
  "test/tenant",
  "test/vitest.config.ts",
  "test/webhook"
]

/** Documents that a newcomer cannot open, and the numbers of their rows. RFCs are cited by section, in words. */
const elsewhere =
  /§ ?\d|\bspecification\b|\bspec,|\b(of the )?decisions? (\d|[A-D]\d|part\b)|\bof the decisions\b|\b[CD]\d{1,2}\b(?=[),.;:]| and | to )|\(house\b|\bhouse,|\bhouse (section|«)|house\.md|\bissue: "/gi

describe("what the code cites", () => {
  it("is a heading of a page in this repository", () => {
    const wrong = found(
      /(\bguide\/[a-z-]+\.md|\bsrc\/README\.md)(?:#([\p{L}\p{N}_-]+))?/gu,
      ([, page = "", anchor]) => {
        const known = anchors.get(page)
        return known === undefined || (anchor !== undefined && !known.has(anchor))
      },
      () => true
    )
    expect(wrong).toEqual([])
  })

  it("is no document that stands elsewhere", () => {
    const wrong = found(
      elsewhere,
      () => true,
      (path) => swept.some((room) => path === room || path.startsWith(`${room}/`))
    )
    expect(wrong).toEqual([])
  })
})
