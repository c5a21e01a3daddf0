import { Effect, Stream } from "effect"
import { Egress, EgressError, type EgressRequest } from "../../ports/egress/Egress.ts"
import type { Pinned } from "../../ports/egress/Pinned.ts"
import * as EgressTarget from "../../ports/egress/EgressTarget.ts"

/** Answers requests as a server would. */
export type Handler = (request: Request) => Response | Promise<Response>

/**
 * The target of a URL: a handler of this process, a server of this machine by its `http:` (or `ws:`) URL, or the bytes
 * of a file.
 */
export type Place = Handler | URL | string | Uint8Array

interface Options {
  readonly during: <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Reports a fault to the test: a handler that threw, or a URL that nothing serves. */
  readonly fault: (error: Error) => void
  /** Called for each request before it is made. */
  readonly seen: (request: EgressRequest) => void
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * The Internet of the test: production URLs by prefix, with the target of each. Anything that the service refuses to
 * reach in production, such as private addresses, it refuses here.
 */
export const make = ({ during, fault, seen }: Options) => {
  const places = new Map<string, Handler | URL | Uint8Array>()

  const serve = (url: string, given: Place): void => {
    const place = typeof given === "string" ? new URL(given) : given
    const refused = EgressTarget.refuse(url, EgressTarget.publicOnly, ["https:", "wss:"])
    if (refused !== null) throw new TypeError(`serve: the URL ${url} ${refused}`)
    if (place instanceof URL && !loopback.test(place.hostname))
      throw new TypeError(`serve: ${place.href} is not on this machine; tests reach nothing else`)
    places.set(new URL(url).href, place)
  }

  /** The longest prefix wins. */
  const find = (url: string): readonly [place: Handler | URL | Uint8Array, rest: string] | null => {
    const { href } = new URL(url)
    const [prefix] = [...places.keys()]
      .filter(
        (each) =>
          href === each || (href.startsWith(each) && (each.endsWith("/") || /[/?#]/.test(href[each.length] ?? "")))
      )
      .toSorted((a, b) => b.length - a.length)
    const place = prefix === undefined ? undefined : places.get(prefix)
    return prefix === undefined || place === undefined ? null : [place, href.slice(prefix.length)]
  }

  const missing = (url: string) => {
    const origin = new URL(url).origin
    fault(new Error(`the service asked for ${url}, and nothing serves it: trunkline.serve("${origin}/", …)`))
    return new EgressError({ reason: "connect", detail: "nothing serves this URL in the test" })
  }

  const behind = (place: URL, rest: string): string => {
    const base = place.href
    return rest === "" ? base : base.endsWith("/") || rest.startsWith("?") ? base + rest : `${base}/${rest}`
  }

  const answer = async (place: Handler | URL | Uint8Array, rest: string, request: EgressRequest): Promise<Response> => {
    const { body, headers, method, url } = request
    const init = {
      method,
      headers,
      redirect: "manual" as const,
      ...(body === undefined ? {} : { body: Buffer.from(body) })
    }
    if (place instanceof Uint8Array) return new Response(Buffer.from(place))
    if (place instanceof URL) return fetch(behind(place, rest), init)
    return place(new Request(url, init))
  }

  const request = (asked: EgressRequest) =>
    Effect.suspend(() => {
      seen(asked)
      const found = find(asked.url)
      if (found === null) return Effect.fail(missing(asked.url))
      const [place, rest] = found
      return Effect.tryPromise({
        try: async () => {
          const response = await answer(place, rest, asked)
          if (!(response instanceof Response))
            throw new TypeError(`it answered ${String(response)}, which is no Response`)
          const bytes = new Uint8Array(await response.arrayBuffer())
          return {
            status: response.status,
            headers: Object.fromEntries(response.headers),
            body: asked.truncate === undefined ? bytes : bytes.subarray(0, asked.maxResponseBytes)
          }
        },
        catch: (error) => {
          fault(
            new Error(`what serves ${asked.url} failed: ${error instanceof Error ? error.message : String(error)}`, {
              cause: error
            })
          )
          return new EgressError({ reason: "reset", detail: "what serves this URL failed" })
        }
      })
    })

  const service = Egress.of({
    refuse: (url, schemes) => EgressTarget.refuse(url, EgressTarget.publicOnly, schemes),
    request: (asked) => during(`${asked.method} ${asked.url}`, request(asked)),
    stream: (asked) =>
      Effect.map(request({ ...asked, body: new Uint8Array(0) }), (response) => ({
        ...response,
        body: Stream.make(response.body)
      })),
    pin: (url) =>
      Effect.suspend(() => {
        const found = find(url)
        if (found === null || !(found[0] instanceof URL)) return Effect.fail(missing(url))
        const to = new URL(behind(found[0], found[1]))
        const pinned: Pinned = {
          addresses: [to.hostname === "localhost" ? "127.0.0.1" : to.hostname.replace(/^\[|\]$/g, "")],
          port: Number(to.port === "" ? 80 : to.port),
          host: new URL(url).hostname,
          secure: false,
          path: to.pathname + to.search,
          authorities: null
        }
        return Effect.succeed(pinned)
      })
  })
  return { service, serve }
}
