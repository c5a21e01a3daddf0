import { Effect, Exit, Redacted, Scope } from "effect"
import * as EmbeddedPostgres from "../../../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../../../src/runtime/store/embedded/OwnerFile.ts"
import * as TcpProxy from "../../../support/network/TcpProxy.ts"

/** A network to the server, which can fail. */
export interface Network {
  readonly proxy: TcpProxy.TcpProxy
  /** The URL of the server over this network. */
  readonly url: string
}

/** A Postgres that outlives the processes under test, and is restarted under them. */
export interface PostgresServer {
  readonly network: () => Promise<Network>
  /** Stops it in the middle of everything, and gives the function that starts it again. */
  readonly stop: () => Promise<() => Promise<void>>
  readonly close: () => Promise<void>
}

/** Its data are in `folder`, which as root another user must be able to pass through. */
export const start = async (folder: string): Promise<PostgresServer> => {
  const scope = Scope.makeUnsafe()
  const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  const owned = await scoped(OwnerFile.acquire(folder))
  const target = { host: "127.0.0.1", port: 0 }
  let running = Scope.makeUnsafe()
  const launch = async (): Promise<URL> => {
    running = Scope.makeUnsafe()
    const { url } = await Effect.runPromise(Scope.provide(EmbeddedPostgres.start(owned), running))
    const at = new URL(Redacted.value(url))
    // Each start takes another port.
    target.port = Number(at.port)
    return at
  }
  const base = await launch()
  return {
    network: async () => {
      const proxy = await scoped(TcpProxy.make(target))
      const url = new URL(base)
      url.port = String(proxy.port)
      return { proxy, url: url.href }
    },
    stop: async () => {
      await Effect.runPromise(Scope.close(running, Exit.void))
      return async () => void (await launch())
    },
    close: async () => {
      await Effect.runPromise(Scope.close(running, Exit.void))
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
