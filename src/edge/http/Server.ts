import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Deferred, Effect, Layer, Schema, Scope } from "effect"
import { HttpRouter } from "effect/http"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { ClientAddress } from "./connection/ClientAddress.ts"
import * as ClientError from "./connection/ClientError.ts"
import * as ConnectionGuard from "./connection/ConnectionGuard.ts"
import * as EdgeMetrics from "./EdgeMetrics.ts"
import * as RequestTarget from "./connection/RequestTarget.ts"
import * as Routes from "./Routes.ts"

/** The API cannot listen on its port. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", {
  host: Schema.String,
  port: Schema.Number,
  reason: Schema.String
}) {
  override get message() {
    const why =
      this.reason === "EADDRINUSE"
        ? "is in use by another program"
        : this.reason === "EACCES"
          ? "needs more rights"
          : `cannot be listened on (${this.reason})`
    return `HTTP_PORT: ${this.host}:${this.port} ${why}`
  }
}

/** The address on which the API listens. */
export class Listening extends Context.Service<Listening, { readonly host: string; readonly port: number }>()(
  "trunkline/http/Listening"
) {}

/** Limits of the listener. Whatever exceeds them is cut off or refused before it reaches the API. */
export const limits = {
  /** Request line and headers together, in bytes. */
  headerBytes: 16 * 1024,
  headers: 100,
  /** The time from the first byte of a request to its last header. */
  headersMs: 10_000,
  /** The time from the first byte of a request to its last one. */
  requestMs: 30_000,
  /** The time from an answer to the next request of its connection. */
  keepAliveMs: 65_000,
  /** The time without a byte in either direction, during a request. */
  idleMs: 60_000,
  connections: 10_000,
  atWork: 256,
  pipelined: 4,
  writeMs: 20_000,
  lingerMs: 1_000
} as const satisfies ConnectionGuard.Limits & Readonly<Record<string, number>>

/** How often a stopping server looks for connections that have become idle. */
const idleCheckMs = 50

/**
 * Serves the API on `host` and `port` (0: any free one).
 *
 * When it closes, it stops accepting, lets requests in flight finish for at most `graceMs`, and then cuts the remaining
 * connections. Kept-alive connections delay nothing. Fails with `ListenError`.
 */
export const layer = (options: {
  readonly host: string
  readonly port: number
  readonly graceMs: number
  /** Overrides some of `limits`. */
  readonly limits?: Partial<Record<keyof typeof limits, number>>
}) =>
  Layer.effect(
    Listening,
    Effect.gen(function* () {
      const app = yield* HttpRouter.toHttpEffect(Routes.layer)
      const requests = yield* Scope.fork(yield* Effect.scope)
      const handler = yield* NodeHttpServer.makeHandler(app, { scope: requests })
      const answer = (request: IncomingMessage, response: ServerResponse) => {
        if (ClientError.hostless(request, response)) return
        request.url = RequestTarget.normalize(request.url ?? "/")
        handler(request, response)
      }
      const allowed = { ...limits, ...options.limits }
      const server = createServer({
        maxHeaderSize: allowed.headerBytes,
        headersTimeout: allowed.headersMs,
        requestTimeout: allowed.requestMs,
        keepAliveTimeout: allowed.keepAliveMs,
        connectionsCheckingInterval: Math.min(1_000, allowed.headersMs),
        // `ClientError.hostless` checks it instead, because its refusal has the envelope.
        requireHostHeader: false,
        noDelay: true
      })
      server.maxHeadersCount = allowed.headers
      server.timeout = allowed.idleMs
      const serve = ConnectionGuard.attach(server, {
        limits: allowed,
        trusts: (yield* ClientAddress).trusts,
        watch: yield* EdgeMetrics.connections,
        serve: answer
      })
      server.on("request", serve)
      // Node answers an unknown expectation without a body, so such a request is served like any other.
      server.on("checkExpectation", serve)
      ClientError.attach(server)
      yield* Effect.acquireRelease(listen(server, options), () => close(server, options.graceMs))
      const address = server.address()
      return { host: options.host, port: address !== null && typeof address === "object" ? address.port : options.port }
    })
  ).pipe(Layer.provide([Routes.routerConfig, NodeHttpServer.layerHttpServices]))

const listen = (server: Server, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<void, ListenError>((resume) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenError({ host, port, reason: error.code ?? error.message })))
    server.once("error", refuse)
    server.listen(port, host, () => {
      server.off("error", refuse)
      resume(Effect.void)
    })
  })

const close = Effect.fnUntraced(function* (server: Server, graceMs: number) {
  const closed = yield* Deferred.make<void>()
  server.close(() => Deferred.doneUnsafe(closed, Effect.void))
  const sweep = setInterval(() => server.closeIdleConnections(), idleCheckMs)
  yield* Effect.timeoutOption(Deferred.await(closed), graceMs)
  clearInterval(sweep)
  server.closeAllConnections()
  yield* Deferred.await(closed)
})
