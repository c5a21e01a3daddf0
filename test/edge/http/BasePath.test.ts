import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Document from "../../../src/edge/http/document/Document.ts"
import * as Guide from "../../../src/edge/http/guide/Guide.ts"
import { Listening } from "../../../src/edge/http/Server.ts"
import * as TestServer from "./TestServer.ts"

const get = (path: string) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, "GET", path, { key: null })))

/** Follows a link as a client behind a proxy does that serves the API under `base` and takes that off the path. */
const follow = (base: string, link: string) => {
  expect([link, link.startsWith(`${base}/`)]).toEqual([link, true])
  return get(link.slice(base.length))
}

describe.each([
  ["https://phone.example", ""],
  ["https://phone.example/telephony", "/telephony"],
  ["https://phone.example/a/b%20c", "/a/b%20c"]
] as const)("a service under %s", (baseUrl, base) => {
  layer(TestServer.layer(new TestServer.World(), { baseUrl }))((it) => {
    it.effect("leads from page to page of the guide, and to the reference", () =>
      Effect.gen(function* () {
        const left = [`${base}${Guide.path}`]
        const seen = new Set(left)
        for (let link = left.pop(); link !== undefined; link = left.pop()) {
          const page = yield* follow(base, link)
          expect([link, page.status]).toEqual([link, 200])
          if (!link.includes(Guide.path)) continue
          for (const [, href = ""] of page.text.matchAll(/href="([^"#]+)/g)) {
            if (seen.has(href)) continue
            seen.add(href)
            left.push(href)
          }
        }
        expect(seen.size).toBeGreaterThan(20)
        expect([...seen]).toContain(`${base}${Document.pagePath}`)
      })
    )

    it.effect("names itself in the document, and links to the guide from there", () =>
      Effect.gen(function* () {
        const answer = yield* get(Document.documentPath)
        const { info, servers } = answer.json as {
          readonly info: { readonly description: string }
          readonly servers: ReadonlyArray<{ readonly url: string }>
        }
        expect(servers).toEqual([{ url: base === "" ? "/" : base }])
        const [, link = ""] = /\]\(([^)]+)\)/.exec(info.description) ?? []
        expect((yield* follow(base, link)).status).toBe(200)
        const page = yield* get(Document.pagePath)
        expect(page.text).toContain(`(${base}${Guide.path})`)
      })
    )

    it.effect.each(["/", "/?a=b"])("leads from %s to the docs", (path) =>
      Effect.gen(function* () {
        const answer = yield* get(path)
        expect([answer.status, answer.headers["location"]]).toEqual([302, `${base}${Document.pagePath}`])
        expect((yield* follow(base, String(answer.headers["location"]))).status).toBe(200)
      })
    )

    it.effect("has the methods of a page at /", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        const posted = yield* Effect.promise(() => TestServer.send(port, "POST", "/", { key: null }))
        expect([posted.status, posted.headers["allow"]]).toEqual([405, "GET, HEAD, OPTIONS"])
      })
    )

    it.effect("names the whole path where a page says which endpoint takes its token", () =>
      Effect.gen(function* () {
        for (const path of ["/verify-email", "/reset-password", "/accept-invitation", "/signup"])
          expect((yield* get(path)).text).toContain(`to POST ${base}/v1/`)
      })
    )
  })
})
