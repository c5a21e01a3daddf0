import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Api } from "../Api.ts"
import * as Defaults from "./Defaults.ts"
import * as Example from "./Example.ts"
import type { Json } from "./Json.ts"
import * as DocumentOperation from "./DocumentOperation.ts"
import { tidy } from "./Tidy.ts"
import * as EventDocument from "../webhook/EventDocument.ts"

/** The document is served here, and its interactive page under `pagePath`. */
export const documentPath = "/api/docs/openapi.json"
export const pagePath = "/api/docs/"

interface Generated extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: Json & { readonly schemas: Example.Components }
  readonly tags: ReadonlyArray<unknown>
  readonly info: Json & { readonly description: string }
}

/** Maps method and path, as the document spells them, to endpoints. */
const endpoints = (): ReadonlyMap<string, HttpApiEndpoint.Top> => {
  const found = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replaceAll(/:([a-z_]+)/g, "{$1}")
      found.set(`${endpoint.method.toLowerCase()} ${path}`, endpoint)
    }
  })
  return found
}

/** The schema of a body with its effective defaults, by its name. */
const withDefaults = (operation: Json, endpoint: HttpApiEndpoint.Top, schemas: Example.Components) => {
  const payload = DocumentOperation.payloadOf(endpoint)
  const name = DocumentOperation.bodyOf(operation)
  const schema = name === null ? undefined : schemas[name]
  if (payload === null || name === null || schema === undefined) return []
  const given = Example.of(schema, schemas, "required") as Json
  return [[name, Defaults.into(schema, Defaults.of(payload.schema, given))] as const]
}

/**
 * Completes the generated document with what the endpoints declare beside their schemas, and with the events. `base` is
 * the path under which clients reach the API.
 */
const whole = (base: string, document: unknown): Json => {
  const { components, paths, tags, ...rest } = tidy(document) as Generated
  const declared = endpoints()
  const bodies: Array<readonly [string, Json]> = []
  const operations = Object.entries(paths).map(([path, methods]) => {
    const described = Object.entries(methods).map(([method, operation]) => {
      const endpoint = declared.get(`${method} ${path}`)
      if (endpoint === undefined) throw new Error(`no endpoint is declared for ${method} ${path}`)
      bodies.push(...withDefaults(operation, endpoint, components.schemas))
      return [method, DocumentOperation.describe(operation, endpoint, components.schemas)]
    })
    return [path, Object.fromEntries(described)]
  })
  return {
    ...rest,
    info: {
      ...rest.info,
      description: rest.info.description.replaceAll(docsLink, `](${base}${pagePath}`),
      // The generator knows the name only; OpenAPI 3.1 asks for the identifier as well.
      contact: { name: "The operator of this installation" },
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: base === "" ? "/" : base }],
    tags: [...tags, EventDocument.tag],
    paths: Object.fromEntries(operations),
    webhooks: EventDocument.webhooks,
    components: {
      ...components,
      parameters: EventDocument.parameters,
      schemas: {
        ...components.schemas,
        // Defaults are added last, because an example would show a default in place of its own value.
        ...Object.fromEntries(bodies),
        ...EventDocument.schemas
      },
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "An API key, `svc_live_…`" } }
    }
  }
}

/** The beginning of a link's target in a description. */
const docsLink = `](${pagePath}`

/** The declared API with its complete OpenAPI 3.1 document. */
export const published = (base = "") =>
  Api.annotateMerge(OpenApi.annotations({ transform: (document) => whole(base, document) }))

export const make = (base = ""): Json => OpenApi.fromApi(published(base)) as unknown as Json

/** The document as JSON text. Without a base it is the one that is committed as `src/edge/http/openapi.json`. */
export const render = (base = ""): string => `${JSON.stringify(make(base), null, 2)}\n`
