import { Effect, Schema } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Field from "../../../domain/schema/Field.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import * as Query from "../request/Query.ts"
import { BaseUrl } from "./BaseUrl.ts"
import * as JsonResponse from "./JsonResponse.ts"

/** Page-number pagination, guide/requests.md#lists. */

export const defaultPageSize = 20
/** Larger sizes are clamped. */
const maxPageSize = 200

/** The value of `Listing.Page.next`, checked by the list that issued it. */
const cursor = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)).annotate({
  description: "Where the page before ended. It stands in `next`; do not make it."
})

const parameters = {
  page: Schema.optionalKey(Query.positive({ description: "Which page, from 1. Beyond the last: 404.", default: 1 })),
  pageSize: Schema.optionalKey(
    Query.positive({
      description: `Rows of a page; more than ${maxPageSize} is read as ${maxPageSize}.`,
      default: defaultPageSize
    })
  ),
  cursor: Schema.optionalKey(cursor)
}

/** The query of a list: its filters, then the page. `names` are wire names that differ from a filter's own. */
export const query = <
  const Filters extends Schema.Struct.Fields = {},
  const Names extends Partial<Record<keyof Filters, string>> = {}
>(
  filters?: Filters,
  names?: Names
) =>
  Wire.struct<Filters & typeof parameters, Names>({ ...filters, ...parameters } as Filters & typeof parameters, names)

/** Wire schema of a list of `item`. */
export const envelope = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    count: Field.count(`Total across all pages, counted up to ${Listing.looked}.`, 1),
    next: Field.textOrNull("URL of the next page; null on the last.", null),
    previous: Field.textOrNull("URL of the page before; null on the first.", null),
    results: Schema.Array(item).annotate({ description: "The rows of this page." })
  })

interface Asked {
  readonly page?: number
  readonly pageSize?: number
  readonly cursor?: string
}

/** The request of a list, as its handler gets it. */
export interface Request {
  readonly endpoint: { readonly path: string }
  readonly params?: Readonly<Record<string, string>>
  readonly query: Asked
}

/** All fields of the query except the page. */
export type Filters<R extends Request> = Omit<R["query"], keyof Asked>

/**
 * Answers a list. The filters of the query are those of `list`, and `next` and `previous` keep them. A page beyond the
 * last is 404 `not_found`, and so is a page number beyond the rows that are counted; the first page of an empty list is
 * a 200.
 */
export const answer = <R extends Request, A, E, Needs>(
  request: R,
  list: (window: Listing.Window, filters: Filters<R>) => Effect.Effect<Listing.Page<A>, E, Needs>
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E | ApiError,
  Needs | BaseUrl | HttpServerRequest.ParsedSearchParams
> =>
  Effect.gen(function* () {
    const base = yield* BaseUrl
    const search = yield* HttpServerRequest.ParsedSearchParams
    const { cursor, page = 1, pageSize = defaultPageSize, ...filters } = request.query
    const limit = Math.min(pageSize, maxPageSize)
    const window = cursor === undefined ? { limit, offset: (page - 1) * limit } : { limit, offset: 0, after: cursor }
    const { count, next, results } = yield* list(window, filters as Filters<R>)
    if (cursor === undefined && page > 1 && results.length === 0)
      return yield* ApiError.of(
        "not_found",
        next === null ? `there is no page ${page}` : `page ${page} is not reached by its number; follow next`,
        "page"
      )
    const link = (to: number, behind: string | null) => `${base}${pathOf(request)}?${queryOf(search, to, behind)}`
    const isNumbered = (to: number) => to >= 1 && (to - 1) * limit < Listing.looked
    return JsonResponse.of({
      count,
      next: next === null ? null : link(page + 1, next),
      previous: isNumbered(page - 1) ? link(page - 1, null) : null,
      results
    })
  })

/** The page of a list that is in memory. Its cursor is the number of rows up to its end. */
export const pageOf = <A>(all: ReadonlyArray<A>, { after, limit, offset }: Listing.Window): Listing.Page<A> => {
  if (after !== undefined && !/^[0-9]{1,9}$/.test(after)) throw Listing.noPlace
  const from = after === undefined ? offset : Number(after)
  const end = from + limit
  return { count: all.length, next: end < all.length ? String(end) : null, results: all.slice(from, end) }
}

/** Answers a list that is always whole: `next` and `previous` are null. */
export const whole = (results: ReadonlyArray<unknown>): HttpServerResponse.HttpServerResponse =>
  JsonResponse.of({ count: results.length, next: null, previous: null, results })

/** The documented form of the request's path. */
const pathOf = ({ endpoint, params = {} }: Request): string =>
  endpoint.path.replaceAll(/:([a-z_]+)/g, (_, name: string) => params[name] ?? "")

const queryOf = (
  search: Readonly<Record<string, string | Array<string>>>,
  page: number,
  cursor: string | null
): string => {
  const out = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (name !== "page" && name !== "cursor")
      for (const one of Array.isArray(value) ? value : [value]) out.append(name, one)
  out.append("page", String(page))
  if (cursor !== null) out.append("cursor", cursor)
  return out.toString()
}
