import { readdir, readFile } from "node:fs/promises"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import * as BaseUrl from "../answer/BaseUrl.ts"
import * as Document from "../document/Document.ts"
import type { Route } from "../RouteTable.ts"
import * as StaticPage from "../answer/StaticPage.ts"
import * as Markdown from "./Markdown.ts"
import * as Template from "./Template.ts"

/** The pages of `src/guide`, rendered once, with the first request for one, and served beside the API page. */
const folder = new URL("../../../guide/", import.meta.url)

const index = "README.md"

/** The path of the index. Each page is served below it, under its name. */
export const path = "/api/docs/guide/"

export const routes: ReadonlyArray<Route> = [
  { method: "GET", path },
  { method: "GET", path: `${path}:page` }
]

const pathOf = (file: string): string => (file === index ? path : path + file.replace(/\.md$/, ""))

/** Points links between pages to where clients find these; other links stay. */
const linkTo =
  (base: string) =>
  (href: string): string => {
    const [file = "", anchor] = href.split("#", 2)
    if (!/^[a-zA-Z-]+\.md$/.test(file)) return href
    return base + pathOf(file) + (anchor === undefined ? "" : `#${anchor}`)
  }

/** Maps file name to text. */
export const read = async (): Promise<ReadonlyMap<string, string>> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md"))
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, folder), "utf8")] as const))
  )
}

/**
 * Maps path to the whole document. The pages follow the order in which the index links them. `base` is the path under
 * which clients reach the API. A page takes 15 ms, so other work has its turn between two of them.
 */
export const render = Effect.fnUntraced(function* (files: ReadonlyMap<string, string>, base = "") {
  const rendered = yield* Effect.forEach(files, ([name, text]) => {
    const page = Effect.sync(() => ({ path: base + pathOf(name), ...Markdown.render(text, linkTo(base)) }))
    return Effect.map(Effect.tap(page, Effect.yieldNow), (shown) => [name, shown] as const)
  })
  const shown = new Map(rendered)
  const home = shown.get(index)
  if (home === undefined) throw new Error(`the guide has no ${index}`)
  const ordered = Markdown.links(files.get(index) ?? "").flatMap((href) => shown.get(href) ?? [])
  const places = { home, all: ordered, reference: base + Document.pagePath }
  return new Map([...shown].map(([name, page]) => [pathOf(name), Template.page(page, places)]))
})

const unknown = ApiError.of("not_found", "the guide has no such page")

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const base = yield* BaseUrl.path
    const rendered = Effect.gen(function* () {
      const documents = yield* render(yield* Effect.promise(read), base)
      const pages = yield* Effect.forEach(documents, ([at, text]) =>
        Effect.map(
          StaticPage.make({ text, contentType: "text/html; charset=utf-8", policy: Template.policy }),
          (page) => [at, page] as const
        )
      )
      return new Map(pages)
    })
    // Others may wait for what the first client asked for, who may leave.
    const pages = yield* Effect.cached(Effect.uninterruptible(rendered))
    const serve = (at: string) => Effect.flatMap(pages, (found) => found.get(at) ?? Effect.fail(unknown))
    yield* router.add("GET", path, serve(path))
    yield* router.add(
      "GET",
      `${path}:page`,
      Effect.flatMap(HttpRouter.params, ({ page }) => serve(path + page))
    )
  })
).pipe(Layer.orDie)
