import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import * as Document from "./Document.ts"
import * as StaticPage from "../answer/StaticPage.ts"

/**
 * The interactive page of the document, and the document itself. The page's scripts are inlined: it loads nothing, and
 * speaks to this service only.
 */
const scalar = {
  withDefaultFonts: false,
  hideModels: false,
  defaultOpenAllTags: false,
  authentication: { preferredSecurityScheme: "bearer" },
  // Nothing that leads away from here.
  showDeveloperTools: "never",
  hideClientButton: true,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true }
} as const

/** As the page's own layer renders it. */
const html = Effect.acquireUseRelease(
  Effect.sync(() =>
    HttpRouter.toWebHandler(HttpApiScalar.layer(Document.published, { path: "/", scalar }), { disableLogger: true })
  ),
  ({ handler }) => Effect.promise(async () => (await handler(new Request("http://page/"))).text()),
  ({ dispose }) => Effect.promise(dispose)
)

/** What the page may do: run its own scripts and no other, style itself, and ask this service. */
const policyOf = (page: string): ReadonlyArray<string> => {
  const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = ""]) =>
    StaticPage.sourceHash(text)
  )
  return [
    `script-src ${scripts.join(" ")}`,
    // The page makes its styles as it runs.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'"
  ]
}

/** Prepared once, when it is first asked for: at the start, calls that a crash left behind come first. */
const prepared = (page: Effect.Effect<StaticPage.Page>) =>
  Effect.map(Effect.cached(Effect.uninterruptible(Effect.flatMap(page, StaticPage.make))), Effect.flatten)

const reference = Effect.map(html, (text): StaticPage.Page => ({
  text,
  contentType: "text/html; charset=utf-8",
  policy: policyOf(text)
}))

const json = Effect.sync((): StaticPage.Page => ({
  text: Document.render(),
  contentType: "application/json",
  policy: null
}))

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", Document.pagePath, yield* prepared(reference))
    yield* router.add("GET", Document.documentPath, yield* prepared(json))
  })
)
