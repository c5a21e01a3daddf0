import { describe, expect, it as test, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Guide from "../../../../src/edge/http/guide/Guide.ts"
import * as Markdown from "../../../../src/edge/http/guide/Markdown.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const files = await Guide.read()
const documents = await Effect.runPromise(Guide.render(files))

describe("the pages of the guide", () => {
  test.for([...files.keys()].filter((name) => name !== "README.md"))("are linked by the index: %s", (name) => {
    expect(Markdown.links(files.get("README.md") ?? "")).toContain(name)
  })

  test.for([...files])("begin with one title: %s", ([, text]) => {
    expect(Markdown.headings(text).filter(({ depth }) => depth === 1)).toHaveLength(1)
    expect(text.startsWith("# ")).toBe(true)
  })

  test.for([...files])("link to headings that exist: %s", ([name, text]) => {
    const broken = Markdown.links(text).filter((href) => {
      const [file = "", anchor] = href.split("#", 2)
      const target = files.get(file === "" ? name : file)
      if (target === undefined) return true
      return anchor !== undefined && !Markdown.headings(target).some(({ slug }) => slug === anchor)
    })
    expect(broken).toEqual([])
  })

  test("load nothing and run nothing", () => {
    for (const html of documents.values()) {
      expect(html).not.toMatch(/<(script|link|img|iframe|object|form)\b/i)
      expect(html).not.toMatch(/@import|url\(|style="|javascript:/i)
    }
  })
})

layer(TestServer.layer(new TestServer.World()))("the served guide", (it) => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    Effect.flatMap(Listening, ({ port }) =>
      Effect.promise(() => TestServer.send(port, "GET", path, { key: null, headers }))
    )

  it.effect("shows every page without a key, and follows every link that leads within it", () =>
    Effect.gen(function* () {
      const paths = new Set<string>()
      for (const [path, html] of documents) {
        paths.add(path)
        for (const [, href = ""] of html.matchAll(/href="([^"#]+)/g)) paths.add(href)
      }
      for (const path of paths) {
        const page = yield* get(path)
        expect([path, page.status]).toEqual([path, 200])
        expect(page.headers["content-type"]).toMatch(/^text\/html/)
      }
    })
  )

  it.effect("answers 404 with the envelope where there is no page, and 405 to a POST", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const missing = yield* get(`${Guide.path}nothing`)
      expect([missing.status, TestServer.codeOf(missing)]).toEqual([404, "not_found"])
      const posted = yield* Effect.promise(() => TestServer.send(port, "POST", `${Guide.path}calls`, { key: null }))
      expect([posted.status, posted.headers["allow"]]).toEqual([405, "GET, HEAD, OPTIONS"])
    })
  )

  it.effect("may not be framed, guessed at, or made to load anything", () =>
    Effect.gen(function* () {
      const { headers } = yield* get(`${Guide.path}calls`)
      expect(headers["x-content-type-options"]).toBe("nosniff")
      expect(headers["x-frame-options"]).toBe("DENY")
      expect(headers["content-security-policy"]).toMatch(
        /^default-src 'none';.*frame-ancestors 'none'.*style-src 'sha256-/
      )
    })
  )

  it.effect("is compressed for those who take it, and cached by its tag", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const fetched = (headers: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const answer = await fetch(`http://127.0.0.1:${port}${Guide.path}calls`, { headers })
          return { status: answer.status, headers: answer.headers, text: await answer.text() }
        })
      const zipped = yield* fetched({ "accept-encoding": "gzip, br" })
      const plain = yield* fetched({ "accept-encoding": "gzip;q=0" })
      expect([zipped.headers.get("content-encoding"), plain.headers.get("content-encoding")]).toEqual(["gzip", null])
      expect(zipped.text).toBe(plain.text)
      expect(zipped.text).toBe(documents.get(`${Guide.path}calls`))
      const tag = plain.headers.get("etag") ?? ""
      expect(tag).not.toBe(zipped.headers.get("etag"))
      const again = yield* fetched({ "accept-encoding": "gzip;q=0", "if-none-match": `W/"other", ${tag}` })
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", tag])
    })
  )
})
