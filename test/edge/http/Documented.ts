/** Checks that the published document lists an answer. Every answer that a test of the API receives is checked. */
import { Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/edge/http/Api.ts"
import * as Document from "../../../src/edge/http/document/Document.ts"
import * as RouteTable from "../../../src/edge/http/RouteTable.ts"
import { normalize } from "../../../src/edge/http/connection/RequestTarget.ts"

interface Answered {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: unknown; readonly description: string }>>
}

const document = Document.make() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const templates = Object.keys(document.paths).map((path) => ({
  path,
  segments: path.replace(/\/$/, "").split("/"),
  parameters: path.split("{").length - 1
}))

/** Static paths precede parameters, as in the service's routing. */
const templateOf = (path: string): string | null => {
  const segments = path.replace(/\/$/, "").split("/")
  const matching = templates.filter(
    (template) =>
      template.segments.length === segments.length &&
      template.segments.every((part, at) => (part.startsWith("{") ? segments[at] !== "" : part === segments[at]))
  )
  return matching.sort((a, b) => a.parameters - b.parameters)[0]?.path ?? null
}

const successes = new Map<string, Schema.Codec<unknown, unknown>>()
const routes: Array<RouteTable.Route> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, successes: schemas }) => {
    routes.push(endpoint)
    const path = endpoint.path.replaceAll(/:([a-z_]+)/g, "{$1}")
    for (const [status, [schema]] of schemas)
      successes.set(`${endpoint.method} ${path} ${status}`, schema as unknown as Schema.Codec<unknown, unknown>)
  }
})
const table = RouteTable.make(routes)

const codeIn = (text: string): unknown => {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly code?: unknown } }).error?.code
  } catch {
    return undefined
  }
}

/** The fault of the answer; null when the document lists it. */
export const fault = (method: string, target: string, { headers, status, text }: Answered): string | null => {
  const path = normalize(target).replace(/\?.*$/s, "")
  if (!path.startsWith("/v1/")) return null
  const answer = `${method} ${target} answers ${status} ${text.slice(0, 200)}`
  const template = templateOf(path)
  if (template === null) return status === 404 || status === 400 ? null : `${answer}, and the document has no such path`
  const asked = method === "HEAD" ? "GET" : method
  const operation = document.paths[template]?.[asked.toLowerCase()]
  if (operation === undefined) {
    const allow = table.methodsOf(path).join(", ")
    const isRight = status === (method === "OPTIONS" ? 204 : 405) && headers["allow"] === allow
    return isRight ? null : `${answer}, and the document has no such operation`
  }
  const listed = operation.responses[String(status)]
  if (listed === undefined) return `${answer}, and the document lists ${Object.keys(operation.responses).join(", ")}`
  if (method === "HEAD") return null
  if (status >= 400) {
    const code = String(codeIn(text))
    return listed.description.includes(`\`${code}\``) ? null : `${answer}, and the document lists ${listed.description}`
  }
  if (listed.content === undefined) return text === "" ? null : `${answer}, and the document lists no body`
  if (typeof listed.content === "object" && listed.content !== null && !("application/json" in listed.content)) {
    const type = String(headers["content-type"]).split(";")[0] ?? ""
    return type in listed.content ? null : `${answer}, and the document lists ${Object.keys(listed.content).join(", ")}`
  }
  const schema = successes.get(`${asked} ${template} ${status}`)
  if (schema === undefined) return `${answer}, which nothing declares`
  const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(JSON.parse(text))
  return Result.isSuccess(decoded)
    ? null
    : `${answer}, which is not what the document shows: ${decoded.failure.message}`
}
