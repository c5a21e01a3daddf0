import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Commands from "../command/Commands.ts"
import * as JsonThread from "./JsonThread.ts"
import * as KnownHost from "./KnownHost.ts"
import * as NamedOperators from "./NamedOperators.ts"
import * as OperatorDoor from "./OperatorDoor.ts"
import * as Probes from "./Probes.ts"
import * as TokenFile from "./TokenFile.ts"

interface Config {
  /** With 0 any free port is taken. */
  readonly port: number
  /** The names under which this port answers, besides `localhost` and loopback addresses. */
  readonly hosts: ReadonlyArray<string>
  readonly tokenFile: string
  /**
   * The reasons why the process should get no traffic (not listening yet, draining). The server asks the database
   * itself.
   */
  readonly ready: () => ReadonlyArray<string>
}

class OperatorPortUnusable extends Schema.TaggedError<OperatorPortUnusable>()("OperatorPortUnusable", {
  port: Schema.Int,
  detail: Schema.String
}) {
  override get message() {
    return `OPERATOR_PORT ${this.port} cannot be used: ${this.detail}`
  }
}

/**
 * The loopback port: `/healthz`, `/readyz` and `/metrics` for every program on this machine, and the door of the
 * operator's command line for those that can read the token file. It answers requests to known hosts only.
 */
export class OperatorServer extends Context.Service<
  OperatorServer,
  {
    readonly port: number
  }
>()("trunkline/operator/OperatorServer") {
  static readonly layer = (config: Config) =>
    Layer.effect(
      OperatorServer,
      Effect.gen(function* () {
        const token = yield* TokenFile.acquire(config.tokenFile)
        const probes = yield* Probes.make(config.ready)
        const commands = yield* Effect.promise(Commands.all)
        const context = yield* Effect.context<Commands.Needs>()
        const { nameOf } = yield* NamedOperators.make
        const parse = yield* JsonThread.make
        const door = Effect.provideContext(
          OperatorDoor.make({ commands, accepts: TokenFile.accepts(token), nameOf, parse }),
          context
        )
        const node = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 })
        const server = yield* NodeHttpServer.make(() => node, {
          host: "127.0.0.1",
          port: config.port,
          gracefulShutdownTimeout: "2 seconds"
        }).pipe(Effect.mapError(({ cause }) => portUnusable(config.port, cause)))
        // Requests in flight have had their grace period. Half-sent requests do not delay the stop.
        yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
        const isKnown = KnownHost.accepts(config.hosts)
        const known = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
          Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
            isKnown(headers["host"])
              ? answer
              : Effect.succeed(HttpServerResponse.text(KnownHost.refusal, { status: 421 }))
          )
        const routes = HttpRouter.addAll([
          HttpRouter.route("GET", "/healthz", known(Effect.succeed(probes.healthz))),
          HttpRouter.route("GET", "/readyz", known(probes.readyz)),
          HttpRouter.route("GET", "/metrics", known(probes.metrics)),
          HttpRouter.route("POST", "/operator/*", known(door)),
          HttpRouter.route("*", "/*", known(Effect.succeed(HttpServerResponse.empty({ status: 404 }))))
        ])
        yield* Layer.build(
          HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
            Layer.provide(Layer.succeed(HttpServer.HttpServer, server))
          )
        )
        return OperatorServer.of({ port: "port" in server.address ? server.address.port : config.port })
      })
    )
}

const portUnusable = (port: number, cause: unknown): OperatorPortUnusable => {
  const taken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE"
  return new OperatorPortUnusable({ port, detail: taken ? "another program listens there" : String(cause) })
}
