import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { hash } from "node:crypto"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Compression from "./Compression.ts"

/**
 * A page that is the same for everybody until the next start. It is compressed once, cached by its tag, and may load
 * only its own content.
 *
 * `policy` names what else the page may load. Framing, plugins, `<base>` and forms are denied to every page.
 */
export interface Page {
  readonly text: string
  /** The media type with its charset. */
  readonly contentType: string
  /** Directives of a Content-Security-Policy, such as `style-src 'unsafe-inline'`; null when the page is not HTML. */
  readonly policy: ReadonlyArray<string> | null
}

const closed = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]

/** How long a client may use its copy before it asks for a newer one. */
const maxAgeSecs = 300

const compress = promisify(gzip)

/** The name that a policy gives to an inline script or style of exactly this text. */
export const sourceHash = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

/** Text as HTML. */
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Answers GET and HEAD of the page: gzip if the client takes it, 304 if the client has the page. */
export const make = Effect.fnUntraced(function* (page: Page) {
  const plain = Buffer.from(page.text)
  const zipped = yield* Effect.promise(() => compress(plain, { level: 9 }))
  const digest = hash("sha256", plain, "base64url").slice(0, 22)
  const tags = { plain: `"${digest}"`, zipped: `"${digest}-gzip"` }
  const shared = {
    "cache-control": `public, max-age=${maxAgeSecs}`,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    ...(page.policy === null ? {} : { "content-security-policy": [...closed, ...page.policy].join("; ") })
  }

  return Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const form = Compression.takesGzip(headers["accept-encoding"]) ? "zipped" : "plain"
    const answered = { ...shared, etag: tags[form] }
    if (isKnown(headers["if-none-match"], Object.values(tags)))
      return HttpServerResponse.empty({ status: 304, headers: answered })
    return HttpServerResponse.uint8Array(form === "zipped" ? zipped : plain, {
      contentType: page.contentType,
      headers: form === "zipped" ? { ...answered, "content-encoding": "gzip" } : answered
    })
  })
})

/** RFC 9110 section 13.1.2, by weak comparison. */
const isKnown = (ifNoneMatch: string | undefined, tags: ReadonlyArray<string>): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === "*" || tags.includes(tag))
