import { Context, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import type { Code } from "../../domain/ErrorCatalogue.ts"
import type { EndpointScope } from "../../domain/Scope.ts"
import * as Wire from "../../domain/schema/Wire.ts"

/** The scope that an authenticated endpoint asks for; `null` on a public one. */
export class RequiredScope extends Context.Service<RequiredScope, EndpointScope | null>()(
  "trunkline/http/RequiredScope"
) {}

/**
 * Whether the endpoint serves a suspended tenant too, which must see why it is suspended, and pay. A closed one only sees:
 * money that it pays would help nobody.
 */
export const ServesSuspended = Context.Reference<boolean>("trunkline/http/ServesSuspended", {
  defaultValue: () => false
})

/**
 * The largest request body of an endpoint, in bytes; a longer one is refused with 400. The longest that the schemas
 * allow fits in, also when every character of it is written as an escape.
 */
export const BodyLimit = Context.Reference<number>("trunkline/http/BodyLimit", { defaultValue: () => 64 * 1024 })

/**
 * The field of a body that holds a file as base64; null: there is none. Such bodies are unpacked in a thread of their
 * own: the handler finds the file in `CurrentFile`, and the field is empty.
 */
export const FileField = Context.Reference<string | null>("trunkline/http/FileField", { defaultValue: () => null })

/** What an endpoint says beside its schemas. */
export interface About {
  readonly summary: string
  readonly description?: string
  /** `null`: no key is asked for, and the route is rate limited. */
  readonly scope: EndpointScope | null
  readonly servesSuspended?: boolean
  /** Where its largest body is another than `BodyLimit` says. */
  readonly bodyBytes?: number
  /** `FileField`, by its name on the wire. */
  readonly fileField?: string
  /** Codes of the error catalogue that its doors add to those of its kind and of its schemas. */
  readonly errors?: ReadonlyArray<Code>
  /** Where this endpoint's row names another status than the catalogue. */
  readonly statuses?: Partial<Record<Code, number>>
  /** A public endpoint that honours an Idempotency-Key; one that asks for a key and changes something always does. */
  readonly idempotent?: boolean
  /** True: the endpoint never succeeds, so the document shows no success. */
  readonly alwaysRefuses?: boolean
  /** Shown in place of the examples that the fields make up. */
  readonly example?: { readonly request?: unknown; readonly response?: unknown }
}

/** The payload of an endpoint that changes something and takes no fields: no body, or `{}`. */
export const noBody = [Wire.nothing, Schema.Null] as const

/** For the published document. */
export class Described extends Context.Service<Described, About>()("trunkline/http/Described") {}

/**
 * Everything about an endpoint except its schemas: `.annotateMerge(about({ … }))` on each. The middleware reads the
 * scope; the published document reads the rest.
 */
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
