import { setTimeout as delay } from "node:timers/promises"
import type { Answer, Client } from "./Client.ts"
import type { Operator } from "./Operator.ts"
import type { Peer } from "./Peer.ts"

export type Headers = Readonly<{ [name: string]: string | ReadonlyArray<string> }>

/** A client with one API key, or with none. */
export interface Caller {
  readonly key: string | null
  readonly ask: (method: string, path: string, body?: object | string | null, headers?: Headers) => Promise<Answer>
  readonly get: (path: string) => Promise<Answer>
  /** Reads `path` with each of these words at its end, a dot being none; gives the last answer. */
  readonly gets: (path: string, words: string) => Promise<Answer>
  readonly post: (path: string, body?: object) => Promise<Answer>
  /** Makes the request of each line, `[header=value …] METHOD path [body]`, and gives the last answer. */
  readonly run: (script: string) => Promise<Answer>
  /** Asks beside the walk until the answer is as it should be, and gives that answer. */
  readonly until: (path: string, done: (json: unknown) => boolean) => Promise<unknown>
}

export interface Walk {
  readonly as: (key: string | null) => Caller
  readonly operator: Operator["run"]
  readonly peer: Peer
  /** The token of the newest letter to this address that leads to this page. Letters are in the log of the service. */
  readonly token: (page: string, email: string) => Promise<string>
  /** Waits for a webhook that has all these values. */
  readonly webhook: (...values: ReadonlyArray<string>) => Promise<string>
  readonly client: Client
}

const patienceMs = 60_000
const pauseMs = 40

/** Polls until there is a value. */
export const eventually = async <A>(what: () => string, poll: () => Promise<A | undefined>): Promise<A> => {
  const until = performance.now() + patienceMs
  for (;;) {
    const found = await poll()
    if (found !== undefined) return found
    if (performance.now() > until) throw new Error(`waited ${patienceMs / 1000} s in vain: ${what()}`)
    await delay(pauseMs)
  }
}

export const make = (client: Client, operator: Operator["run"], peer: Peer, log: () => string): Walk => {
  const as = (key: string | null): Caller => {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` }
    const ask: Caller["ask"] = (method, path, body, headers) =>
      client.ask({
        method,
        path,
        headers: {
          ...authorization,
          ...(body === undefined || body === null ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined || body === null ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    const each = async <A>(all: ReadonlyArray<A>, request: (one: A) => Promise<Answer>): Promise<Answer> => {
      let last: Answer = { status: 0, text: "", json: null }
      for (const one of all) last = await request(one)
      return last
    }
    return {
      key,
      ask,
      gets: (path, words) => each(words.split(/\s+/), (word) => ask("GET", word === "." ? path : path + word)),
      run: (script) =>
        each(script.trim().split("\n"), (line) => {
          const [, before = "", method = "", path = "", body] =
            /^\s*((?:[a-z-]+=\S* )*)(\S+) (\S+)(?: (.*))?$/.exec(line) ?? []
          const headers = before
            .trim()
            .split(" ")
            .filter(Boolean)
            .map((header) => header.split(/=(.*)/s).slice(0, 2))
          return ask(method, path, body, Object.fromEntries(headers) as Headers)
        }),
      get: (path) => ask("GET", path),
      post: (path, body) => ask("POST", path, body),
      until: (path, done) => {
        let last = ""
        return eventually(
          () => `${path} ${last}`,
          async () => {
            const { json, status, text } = await client.look({ method: "GET", path, headers: authorization })
            last = text
            if (status >= 400) throw new Error(`GET ${path} was answered by ${status} ${text}`)
            return done(json) ? json : undefined
          }
        )
      }
    }
  }
  return {
    as,
    client,
    operator,
    peer,
    webhook: (...values) =>
      eventually(
        () => values.join(" "),
        async () => peer.webhooks.find((body) => values.every((value) => body.includes(`"${value}"`)))
      ),
    token: (page, email) =>
      eventually(
        () => `a letter to ${email} with ${page}`,
        async () => {
          const letters = log()
            .split("\n")
            .filter((line) => line.includes(` ${email}: `))
          return letters.map((line) => new RegExp(`${page}#([\\w-]+)[^\\w-]`).exec(line)?.[1]).findLast(Boolean)
        }
      )
  }
}
