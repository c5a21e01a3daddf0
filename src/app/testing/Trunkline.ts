import { AsyncLocalStorage } from "node:async_hooks"
import { randomUUID } from "node:crypto"
import { Duration } from "effect"
import * as Wav from "../../protocol/audio/file/Wav.ts"
import * as E164 from "../../domain/E164.ts"
import { Phone, type Span } from "./phone/Phone.ts"
import type * as Progress from "./Progress.ts"
import * as ReadableTones from "./phone/ReadableTones.ts"
import * as Running from "./Running.ts"
import type { StartOptions, WebhookEvent } from "./Running.ts"
import type * as Served from "./Served.ts"
import * as SoundFile from "./phone/SoundFile.ts"

export type { Ended, Phone, Span } from "./phone/Phone.ts"
export type { StartOptions, WebhookEvent } from "./Running.ts"
export type { Handler, Place } from "./Served.ts"

/** The JSON of an answer of the API. */
// oxlint-disable-next-line typescript/no-explicit-any -- the document of the API says what is in it
type Json = any

/** The user's handler that the present code runs in. */
const inHandler = new AsyncLocalStorage<string>()

/** Gets each event as it is delivered; the delivery succeeds when it returns. A returned `Response` is the answer. */
export type EventHandler = (event: WebhookEvent, request: Request) => unknown

/** An answer of the API that is not a success. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure"
  readonly status: number
  readonly code: string | null
  constructor(what: string, status: number, body: Json) {
    super(`${what}: ${status} ${JSON.stringify(body)}`)
    this.status = status
    this.code = body?.error?.code ?? null
  }
}

const webhookOrigin = "https://webhooks.trunkline.test"

/**
 * The service in this process, with a workspace that has a key, a number and credit, and with phones that a test
 * controls (guide/testing.md).
 */
export class Trunkline {
  /** The URL of its API. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The workspace's own number. */
  readonly number: string
  readonly tenantId: string
  /** Events that were delivered to webhooks, each once, in the order of the first deliveries. */
  readonly events: ReadonlyArray<WebhookEvent>
  readonly #started: Running.Running
  readonly #phones: Map<string, Phone>
  readonly #given = new Set<WebhookEvent>()
  #webhooks = 0
  #stopped: Promise<void> | null = null

  private constructor(started: Running.Running) {
    this.#started = started
    this.#phones = started.phones
    this.baseUrl = started.baseUrl
    this.events = started.events
    const { apiKey, number, tenantId } = started.workspace
    this.apiKey = apiKey
    this.number = number
    this.tenantId = tenantId
  }

  static async start(options: StartOptions = {}): Promise<Trunkline> {
    return new Trunkline(await Running.start(options))
  }

  /** The present time of the calls' clock. */
  get now(): Date {
    return new Date(this.#started.now())
  }

  /** The phone with this number: always the same one. By default a phone answers a call after a second. */
  phone(number: string): Phone {
    const known = this.#phones.get(number)
    if (known !== undefined) return known
    if (!E164.isE164(number)) throw new TypeError(`${number} is no phone number: +, country code and number`)
    if (number === this.number)
      throw new Error(`${number} is the number of the workspace, so it is no phone of the test`)
    const phone = new Phone(number, {
      now: this.#started.now,
      until: (isDone, { failure, ...of }) => this.#until(isDone, of.within, of.what, failure),
      later: this.#started.later,
      dial: this.#started.dial,
      decode: SoundFile.decode
    })
    this.#phones.set(number, phone)
    return phone
  }

  /**
   * Subscribes to events: a function of this process, or a server of this machine by its URL. Returns the secret that
   * they are signed with.
   */
  async webhooks(
    to: EventHandler | string | URL,
    { events = ["*"] }: { readonly events?: ReadonlyArray<string> } = {}
  ): Promise<{ readonly id: string; readonly secret: string }> {
    const url = `${webhookOrigin}/${++this.#webhooks}`
    this.serve(url, typeof to === "function" ? this.#handlerOf(to) : new URL(to))
    const made = await this.post("/v1/webhook-subscriptions", { target_url: url, event_types: events })
    return { id: made.id, secret: made.signing_secret }
  }

  /**
   * Sets the target of a production URL: a handler, a server of this machine, or a file. It applies to all URLs that
   * begin with this one; the longest match wins.
   */
  serve(url: string, place: Served.Place): void {
    this.#started.serve(
      url,
      typeof place === "function" ? (request) => inHandler.run(`the handler of ${url}`, () => place(request)) : place
    )
  }

  /** Sets the workspace's balance, in cents; it begins with $1,000. Live calls continue while it lasts. */
  setBalance(cents: number): Promise<void> {
    return this.#started.setBalance(cents)
  }

  /** Sends a request to the API as the workspace; `path` may be a whole URL of the service. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${this.apiKey}`)
    if ((init.method ?? "GET") !== "GET" && !headers.has("idempotency-key"))
      headers.set("idempotency-key", randomUUID())
    const end = this.#started.activity.start(`${init.method ?? "GET"} ${path} of the test`)
    try {
      const response = await fetch(new URL(path, this.baseUrl), { ...init, headers })
      const body = await response.arrayBuffer()
      return new Response(body.byteLength === 0 ? null : body, response)
    } finally {
      end()
    }
  }
  /** Fails with `ApiFailure` unless the answer is a success. */
  get(path: string): Promise<Json> {
    return this.#ask("GET", path)
  }
  /** Fails with `ApiFailure` unless the answer is a success. */
  post(path: string, body: object = {}): Promise<Json> {
    return this.#ask("POST", path, body)
  }

  /** Moves the clock by this span, and completes when everything due up to then has happened. */
  advance(by: Span): Promise<void> {
    return this.#wait({
      isDone: () => false,
      until: this.#started.now() + Math.ceil(Duration.toMillis(by)),
      late: null
    })
  }
  /** Moves the clock until `isSo`, which is checked whenever all is quiet. */
  until(isSo: () => boolean, { within = "1 minute" }: { readonly within?: Span } = {}): Promise<void> {
    return this.#until(isSo, within, () => "what the test waits for")
  }
  /** Moves the clock until an event of this type is delivered; each event is returned once. */
  async event(
    type: string,
    {
      where = () => true,
      within = "1 minute"
    }: { readonly within?: Span; readonly where?: (event: WebhookEvent) => boolean } = {}
  ): Promise<WebhookEvent> {
    const find = () => this.events.find((each) => each.event_type === type && !this.#given.has(each) && where(each))
    await this.#until(
      () => find() !== undefined,
      within,
      () => `${type}; there were ${this.events.map(({ event_type }) => event_type).join(", ") || "no events"}`
    )
    const found = find()
    if (found === undefined) throw new Error(`${type} was given to somebody else`)
    this.#given.add(found)
    return found
  }

  /** Ends the service with all of its resources: ports, files, its database. Live calls are cut off. */
  stop(): Promise<void> {
    this.#stopped ??= this.#started.stop()
    return this.#stopped
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #ask(method: string, path: string, body?: object): Promise<Json> {
    const response = await this.fetch(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
    })
    const text = await response.text()
    const json: Json = text === "" ? null : JSON.parse(text)
    if (!response.ok) throw new ApiFailure(`${method} ${path}`, response.status, json)
    return json
  }

  #handlerOf(handler: EventHandler): Served.Handler {
    return async (request) => {
      const event: WebhookEvent = JSON.parse(await request.clone().text())
      try {
        const answer = await handler(event, request)
        return answer instanceof Response ? answer : new Response(null, { status: 204 })
      } catch (error) {
        throw new Error(
          `the webhook handler threw for ${event.event_type}: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error }
        )
      }
    }
  }

  #until(isDone: () => boolean, within: Span, what: () => string, failure?: () => Error | null): Promise<void> {
    const ms = Math.ceil(Duration.toMillis(within))
    return this.#wait({
      isDone,
      until: this.#started.now() + ms,
      late: () => new Error(`waited in vain for ${ms / 1000} s of the calls' clock: ${what()}`),
      ...(failure === undefined ? {} : { failure })
    })
  }

  async #wait(wait: Progress.Wait): Promise<void> {
    if (this.#stopped !== null) throw new Error("this Trunkline has been stopped")
    const handler = inHandler.getStore()
    if (handler !== undefined)
      throw new Error(
        `${handler} must not wait for the clock, which waits for it: answer first, and wait in the test, not in the handler`
      )
    return this.#started.progress.wait(wait)
  }
}

/** A sound file that contains a readable text, in place of a recorded prompt. */
export const spoken = (text: string): Uint8Array =>
  Wav.write({ sampleRate: 16_000, samples: ReadableTones.write(text, 16_000) })

/** The text in a sound file such as a recording, one line for each phrase. */
export const textIn = async (file: Uint8Array): Promise<string> =>
  ReadableTones.read(await SoundFile.decode(file), 16_000)
    .map(({ text }) => text.trim())
    .join("\n")
