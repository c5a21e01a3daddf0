import { createServer, type Server } from "node:http"
import { Effect } from "effect"

interface Options {
  readonly port: number
  /** What `/readyz` names. */
  readonly reasons: () => ReadonlyArray<string>
}

/**
 * Probes of a process that does not serve yet: it starts, or it stands by, for months maybe. They answer while `effect`
 * runs, and then the port is free for `OperatorServer`: `/healthz` (it lives), `/readyz` (503, and why); anything else
 * is 503 too.
 *
 * Where the port is taken there are none: the process that is to be replaced may be on the same machine.
 */
export const during =
  (options: Options) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(listen(options), () => effect, close)

const listen = ({ port, reasons }: Options) =>
  Effect.callback<Server>((resume) => {
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, ({ url }, response) => {
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
