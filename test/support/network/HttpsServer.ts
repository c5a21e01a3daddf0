import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type ServerOptions } from "node:https"
import type { TLSSocket } from "node:tls"
import { Effect } from "effect"

export interface HttpsServer {
  readonly port: number
  /** TLS connections accepted so far, and the latest of them. */
  readonly connections: ReadonlyArray<TLSSocket>
  /** Resolves when the `nth` connection (from 1) has closed. */
  readonly closed: (nth: number) => Effect.Effect<void>
}

/** A real HTTPS server on a free port of `host`, closed with its scope, connections included. */
export const start = (
  options: ServerOptions,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  host = "127.0.0.1"
) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<HttpsServer & { readonly stop: () => void }>((done, fail) => {
          const connections: Array<TLSSocket> = []
          const server = createServer(options, handler)
          server.on("secureConnection", (socket) => {
            connections.push(socket)
            socket.on("error", () => undefined)
          })
          server.on("tlsClientError", () => undefined)
          server.once("error", fail)
          server.listen(0, host, () => {
            const address = server.address()
            if (typeof address !== "object" || address === null) return fail(new Error("no port"))
            done({
              port: address.port,
              connections,
              closed: (nth) =>
                Effect.promise(
                  () =>
                    new Promise<void>((closed) => {
                      const socket = connections[nth - 1]
                      if (socket === undefined || socket.destroyed) closed()
                      else socket.once("close", () => closed())
                    })
                ),
              stop: () => {
                server.close()
                for (const socket of connections) socket.destroy()
              }
            })
          })
        })
    ),
    ({ stop }) => Effect.sync(stop)
  )
