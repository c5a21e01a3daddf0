import { createServer, type Server } from "node:http"
import { Effect } from "effect"
import * as KnownHost from "./KnownHost.ts"

interface Options {
  readonly port: number
  /** As those of `OperatorServer`. */
  readonly hosts: ReadonlyArray<string>
  /** The reasons that `/readyz` names. */
  readonly reasons: () => ReadonlyArray<string>
}

/**
 * Serves the probes of a process that starts or stands by, possibly for months. They answer while `effect` runs; then
 * the port is free for `OperatorServer`. `/healthz` answers 200, `/readyz` 503 with the reasons, any other path 503.
 *
 * There are no probes when the port is taken: the process that this one will replace may be on the same machine.
 */
export const during =
  (options: Options) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(listen(options), () => effect, close)

const listen = ({ hosts, port, reasons }: Options) =>
  Effect.callback<Server>((resume) => {
    const isKnown = KnownHost.accepts(hosts)
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, ({ headers, url }, response) => {
      if (!isKnown(headers.host)) {
        response.writeHead(421, { "content-type": "text/plain" })
        response.end(KnownHost.refusal)
        return
      }
      const lives = url === "/healthz"
      response.writeHead(lives ? 200 : 503, { "content-type": "application/json" })
      response.end(JSON.stringify(lives ? { status: "ok" } : { ready: false, reasons: reasons() }))
    })
    server.on("error", (error) =>
      resume(Effect.as(Effect.logInfo("this process has no probes while it waits", error.message), server))
    )
    server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
  })

const close = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
