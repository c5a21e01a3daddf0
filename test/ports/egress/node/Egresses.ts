/** Shared parts of egress tests: an authority, servers with its certificates, and an Internet that is 127.0.0.1. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Socket } from "node:net"
import { Effect } from "effect"
import * as NodeEgress from "../../../../src/ports/egress/node/NodeEgress.ts"
import * as EgressTarget from "../../../../src/ports/egress/EgressTarget.ts"
import * as HttpsServer from "../../../support/network/HttpsServer.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"

export const authority = TestCertificate.makeAuthority()
export const certificate = authority.issue(["hook.example", "other.example", "127.0.0.1"])

/** Every address except 127.0.0.1 keeps its kind, including 127.0.0.2. */
const rules: EgressTarget.Rules = {
  permits: (address) => address === "127.0.0.1" || EgressTarget.publicOnly.permits(address),
  localNames: false
}

export const egressOf = (options: Partial<NodeEgress.Options> = {}) =>
  NodeEgress.make({
    rules,
    resolve: async () => ["127.0.0.1"],
    extraAuthorities: authority.cert,
    ...options
  })

export const serve = (
  handler: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end("ok"),
  issued = certificate
) =>
  Effect.map(HttpsServer.start(issued, handler), (server) => ({
    ...server,
    at: (path = "/", host = "hook.example") => `https://${host}:${server.port}${path}`
  }))

/** A TCP server that does nothing by itself. */
export const listen = (taken: (socket: Socket) => void = () => undefined) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly port: number; readonly stop: () => void }>((done) => {
          const sockets = new Set<Socket>()
          const server = createServer((socket) => {
            sockets.add(socket.on("error", () => undefined))
            taken(socket)
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const stop = () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            }
            done({ port: typeof address === "object" ? (address?.port ?? 0) : 0, stop })
          })
        })
    ),
    ({ stop }) => Effect.sync(stop)
  )
