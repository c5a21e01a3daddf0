import { describe, expect, layer, it as test } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Api } from "../../../../src/edge/http/Api.ts"
import { Authenticated } from "../../../../src/edge/http/request/Authenticated.ts"
import * as Document from "../../../../src/edge/http/document/Document.ts"
import { endpointScopes } from "../../../../src/domain/Scope.ts"
import { RequiredScope } from "../../../../src/edge/http/Endpoint.ts"
import { LimitedBy, Public } from "../../../../src/edge/http/Public.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const endpoints: Array<{
  readonly name: string
  readonly path: string
  readonly scope: string | null | undefined
  readonly limits: ReadonlyArray<string> | undefined
  readonly middleware: ReadonlySet<unknown>
}> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, middleware }) =>
    void endpoints.push({
      name: `${endpoint.method} ${endpoint.path}`,
      path: endpoint.path,
      scope: Context.getOrUndefined(endpoint.annotations, RequiredScope),
      limits: Context.getOrUndefined(endpoint.annotations, LimitedBy),
      middleware
    })
})

describe("the declared endpoints", () => {
  test.for(endpoints)("$name asks for a key and a known scope, or is public and limited", (endpoint) => {
    if (endpoint.middleware.has(Authenticated)) {
      expect(endpoint.middleware.has(Public)).toBe(false)
      expect(endpointScopes).toContain(endpoint.scope)
    } else {
      expect(endpoint.middleware.has(Public)).toBe(true)
      expect(endpoint.scope).toBeNull()
      expect(endpoint.limits?.length).toBeGreaterThan(0)
    }
  })

  test("stand under /v1/, which is the version", () => {
    expect(endpoints.filter(({ path }) => !path.startsWith("/v1/"))).toEqual([])
  })
})

describe("the published document", () => {
  const text = Document.render()

  test("is the committed one: run `npm run openapi` after a change of the declarations", () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL("../../../../src/edge/http/openapi.json", import.meta.url), "utf8")
    )
    expect(JSON.stringify(committed) === JSON.stringify(JSON.parse(text))).toBe(true)
  })

  test("is OpenAPI 3.1 and resolves every reference of its own", () => {
    const document = JSON.parse(text) as {
      readonly openapi: string
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
    }
    expect(document.openapi).toMatch(/^3\.1\./)
    const references = [...text.matchAll(/"\$ref": "#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? "")
    expect(references.length).toBeGreaterThan(0)
    expect(references.filter((name) => !(name in document.components.schemas))).toEqual([])
  })

  test("shows for every operation its errors, and its scope where it asks for a key", () => {
    const { paths } = JSON.parse(text) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
    }
    const operations = Object.values(paths).flatMap((path) => Object.values(path))
    expect(operations).toHaveLength(endpoints.length)
    for (const operation of operations) {
      expect(Object.keys(operation["responses"] as object)).toEqual(expect.arrayContaining(["400", "500", "503"]))
      expect(typeof operation["x-required-scope"] === "string").toBe(
        (operation["security"] as Array<unknown>).length > 0
      )
    }
  })
})

layer(TestServer.layer(new TestServer.World()))("the served document", (it) => {
  it.effect("is the committed one", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const answer = yield* Effect.promise(() => TestServer.send(port, "GET", Document.documentPath, { key: null }))
      expect(answer.json).toEqual(JSON.parse(Document.render()))
    })
  )

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    Effect.flatMap(Listening, ({ port }) =>
      Effect.promise(() => TestServer.send(port, "GET", path, { key: null, headers }))
    )

  it.effect("has an interactive page that loads nothing from elsewhere", () =>
    Effect.gen(function* () {
      const page = yield* get(Document.pagePath)
      expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
      const markup = page.text.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, "<$1/>")
      expect(markup).not.toMatch(/\b(src|href)\s*=\s*["']?(https?:)?\/\//i)
      expect(page.text).not.toMatch(/<(script|link|img|iframe)\b[^>]*\b(src|href)\s*=/i)
      expect(page.text).not.toMatch(/@import\s+(url\()?["']?(https?:)?\/\//i)
      expect(page.text).toContain("/api/docs/guide/")
    })
  )

  it.effect("runs its own scripts, which the policy names by their hashes, and no others; nobody frames it", () =>
    Effect.gen(function* () {
      const page = yield* get(Document.pagePath)
      const policy = new Map(
        String(page.headers["content-security-policy"])
          .split("; ")
          .map((directive) => [directive.split(" ")[0], directive.split(" ").slice(1)] as const)
      )
      const hashes = [...page.text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
        ([, text = ""]) => `'sha256-${hash("sha256", text, "base64")}'`
      )
      expect(hashes.length).toBeGreaterThan(0)
      expect(policy.get("script-src")).toEqual(hashes)
      expect(page.text.replace(/<script>[\s\S]*?<\/script>/g, "")).not.toContain("<script")
      expect(policy.get("default-src")).toEqual(["'none'"])
      expect(policy.get("frame-ancestors")).toEqual(["'none'"])
      expect(policy.get("connect-src")).toEqual(["'self'"])
      expect([page.headers["x-frame-options"], page.headers["x-content-type-options"]]).toEqual(["DENY", "nosniff"])
    })
  )

  it.effect("comes compressed to who takes it, and not again to who has it", () =>
    Effect.gen(function* () {
      for (const path of [Document.pagePath, Document.documentPath]) {
        const plain = yield* get(path)
        const zipped = yield* get(path, { "accept-encoding": "gzip, br" })
        expect([plain.headers["content-encoding"], zipped.headers["content-encoding"]]).toEqual([undefined, "gzip"])
        expect(Number(zipped.headers["content-length"])).toBeLessThan(Number(plain.headers["content-length"]) / 3)
        for (const answer of [plain, zipped]) {
          const known = yield* get(path, { "if-none-match": String(answer.headers["etag"]) })
          expect([known.status, known.text]).toEqual([304, ""])
        }
      }
    })
  )
})
