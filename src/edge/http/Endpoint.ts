import { Context, Schema } from "effect"
import type { HttpMethod, HttpRouter } from "effect/http"
import { HttpApiEndpoint, type HttpApiSchema, OpenApi } from "effect/http-api"
import type { Code } from "../../domain/ErrorCatalogue.ts"
import type { EndpointScope } from "../../domain/Scope.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import * as Pagination from "./answer/Pagination.ts"

/** The scope that an authenticated endpoint requires; `null` on a public one. */
export class RequiredScope extends Context.Service<RequiredScope, EndpointScope | null>()(
  "trunkline/http/RequiredScope"
) {}

/**
 * Whether the endpoint also serves a suspended tenant, which must see why it is suspended, and pay. A closed tenant may
 * only read, because a payment would not help it.
 */
export const ServesSuspended = Context.Reference<boolean>("trunkline/http/ServesSuspended", {
  defaultValue: () => false
})

/**
 * The largest request body of an endpoint, in bytes; a longer one is refused with 400. The longest body that the
 * schemas allow fits, even with every character written as an escape.
 */
export const BodyLimit = Context.Reference<number>("trunkline/http/BodyLimit", { defaultValue: () => 64 * 1024 })

/**
 * The field of a body that holds a file as base64; null when there is none. Such bodies are unpacked in a separate
 * thread: the handler finds the file in `CurrentFile`, and the field is empty.
 */
export const FileField = Context.Reference<string | null>("trunkline/http/FileField", { defaultValue: () => null })

/** The declarations of an endpoint beside its schemas. */
export interface About {
  readonly summary: string
  readonly description?: string
  /** `null`: the endpoint requires no key, and it is rate limited. */
  readonly scope: EndpointScope | null
  readonly servesSuspended?: boolean
  /** Overrides the default of `BodyLimit`. */
  readonly bodyBytes?: number
  /** The wire name of the `FileField`. */
  readonly fileField?: string
  /** Codes of the error catalogue that its doors add to those of its kind and its schemas. */
  readonly errors?: ReadonlyArray<Code>
  /** Statuses that differ from the catalogue on this endpoint. */
  readonly statuses?: Partial<Record<Code, number>>
  /** Whether a public endpoint honours an Idempotency-Key. A changing endpoint that requires an API key always does. */
  readonly idempotent?: boolean
  /** The endpoint never succeeds, so the document shows no success. */
  readonly alwaysRefuses?: boolean
  /** Replaces the examples that are composed from the fields. */
  readonly example?: { readonly request?: unknown; readonly response?: unknown }
}

/** The payload of a changing endpoint without fields: no body, or `{}`. */
export const noBody = [Wire.nothing, Schema.Null] as const

/** Carries the declarations for the published document. */
export class Described extends Context.Service<Described, About>()("trunkline/http/Described") {}

/** Everything about an endpoint except its schemas. The middleware reads the scope; the document reads the rest. */
export const about = (options: About): Context.Context<never> =>
  Context.mergeAll(
    OpenApi.annotations({ summary: options.summary, description: options.description }),
    Context.make(RequiredScope, options.scope).pipe(
      Context.add(ServesSuspended, options.servesSuspended ?? false),
      Context.add(FileField, options.fileField ?? null),
      Context.add(Described, options)
    ),
    options.bodyBytes === undefined ? Context.empty() : Context.make(BodyLimit, options.bodyBytes)
  )

type Facts = Omit<About, "summary" | "scope"> & { readonly scope?: EndpointScope | null }

interface Schemas<Params, Query, Payload, Success> {
  readonly params?: Params
  readonly query?: Query
  readonly payload?: Payload
  readonly success?: Success
}

/**
 * The functions that declare the endpoints of a group: identifier, path, summary, then schemas and facts. Without
 * `success` an endpoint answers 204. `reads` is the scope of GET and `writes` that of the other methods, unless an
 * endpoint names its own; null: it requires no key. `shared` are facts of all endpoints of the group.
 */
export const endpoints = ({
  reads,
  writes,
  ...shared
}: Omit<Facts, "scope"> & { readonly reads: EndpointScope | null; readonly writes: EndpointScope | null }) => {
  const declare =
    <const Method extends HttpMethod.HttpMethod>(method: Method) =>
    <
      const Identifier extends string,
      const Path extends HttpRouter.PathInput,
      Params extends Schema.Struct.Fields = never,
      Query extends Schema.Top | Schema.Struct.Fields = never,
      Payload extends HttpApiEndpoint.PayloadConstraintCodecs<Method> = never,
      const Success extends Schema.Top = HttpApiSchema.NoContent
    >(
      identifier: Identifier,
      path: Path,
      summary: string,
      { params, payload, query, success, ...facts }: Schemas<Params, Query, Payload, Success> & Facts = {}
    ) =>
      HttpApiEndpoint.make(method)(identifier, path, { params, query, payload, success }).annotateMerge(
        about({ summary, scope: method === "GET" ? reads : writes, ...shared, ...facts })
      )
  const get = declare("GET")

  return {
    get,
    post: declare("POST"),
    put: declare("PUT"),
    patch: declare("PATCH"),
    remove: declare("DELETE"),
    /** Declares a list of `item` in pages. `names` are the wire names of filters that differ from their own. */
    list: <
      const Identifier extends string,
      const Path extends HttpRouter.PathInput,
      Item extends Schema.Top,
      Params extends Schema.Struct.Fields = never,
      const Filters extends Schema.Struct.Fields = {},
      const Names extends Partial<Record<keyof Filters, string>> = {}
    >(
      identifier: Identifier,
      path: Path,
      summary: string,
      item: Item,
      {
        filters,
        names,
        ...rest
      }: { readonly params?: Params; readonly filters?: Filters; readonly names?: Names } & Facts = {}
    ) =>
      get(identifier, path, summary, {
        ...rest,
        query: Pagination.query(filters, names),
        success: Pagination.envelope(item)
      })
  }
}
