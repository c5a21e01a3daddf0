import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import * as BaseUrl from "../answer/BaseUrl.ts"
import type { Route } from "../RouteTable.ts"
import * as Document from "./Document.ts"
import * as StaticPage from "../answer/StaticPage.ts"

/**
 * The interactive page of the document, to which `/` leads, and the document itself. The page's scripts are inlined: it
 * loads nothing, and contacts only this service.
 */
const scalar = {
  withDefaultFonts: false,
  hideModels: false,
  defaultOpenAllTags: false,
  authentication: { preferredSecurityScheme: "bearer" },
  // These settings remove everything that leads to other sites.
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true }
} as const

/** The page as its own layer renders it. */
const html = (base: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(HttpApiScalar.layer(Document.published(base), { path: "/", scalar }), {
        disableLogger: true
      })
    ),
    ({ handler }) => Effect.promise(async () => (await handler(new Request("http://page/"))).text()),
    ({ dispose }) => Effect.promise(dispose)
  )

/** The page may run its own scripts and no other, style itself, and call this service. */
const policyOf = (page: string): ReadonlyArray<string> => {
  const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = ""]) =>
    StaticPage.sourceHash(text)
  )
  return [
    `script-src ${scripts.join(" ")}`,
    // The page creates its styles at run time.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'"
  ]
}

/** Prepares a page at its first request. When the service starts, calls that a crash interrupted come first. */
const prepared = (page: Effect.Effect<StaticPage.Page>) =>
  Effect.map(Effect.cached(Effect.uninterruptible(Effect.flatMap(page, StaticPage.make))), Effect.flatten)

const reference = (base: string) =>
  Effect.map(html(base), (text): StaticPage.Page => ({
    text,
    contentType: "text/html; charset=utf-8",
    policy: policyOf(text)
  }))

const json = (base: string) =>
  Effect.sync((): StaticPage.Page => ({ text: Document.render(base), contentType: "application/json", policy: null }))

export const routes: ReadonlyArray<Route> = [
  { method: "GET", path: "/" },
  { method: "GET", path: Document.pagePath },
  { method: "GET", path: Document.documentPath }
]

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const base = yield* BaseUrl.path
    yield* router.add("GET", "/", HttpServerResponse.redirect(base + Document.pagePath))
    yield* router.add("GET", Document.pagePath, yield* prepared(reference(base)))
    yield* router.add("GET", Document.documentPath, yield* prepared(json(base)))
  })
)
