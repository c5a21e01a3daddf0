import { Effect, Layer } from "effect"
import { resolve4, resolve6 } from "node:dns/promises"
import type { Config } from "../boot/config/Config.ts"
import * as Features from "./Features.ts"
import * as Foundations from "./Foundations.ts"
import * as TargetPolicy from "../../ports/egress/TargetPolicy.ts"
import * as HashThreads from "../../tenancy/tenant/thread/HashThreads.ts"
import * as CardPayments from "./CardPayments.ts"
import * as Store from "./Store.ts"
import * as World from "./World.ts"

/** Everything below the listening edges: features over the journal, and the ports by which they reach the world. */
export const layer = (config: Config, dataDir: string, store: Store.Options) => {
  const policy = TargetPolicy.make()
  return Features.layer(config).pipe(
    Layer.provide(CardPayments.layer(config.payment)),
    Layer.provideMerge(Foundations.layer({ ...config, policy, lookup })),
    Layer.provide(HashThreads.layer),
    Layer.provideMerge(Layer.merge(Store.layer(store), World.layer(config, dataDir, policy)))
  )
}

/** The IPv4 and IPv6 addresses of a name; none when it cannot be resolved. */
const lookup = (name: string) =>
  Effect.map(
    Effect.all(
      [resolve4, resolve6].map((ask) =>
        Effect.orElseSucceed(
          Effect.tryPromise(() => ask(name)),
          (): ReadonlyArray<string> => []
        )
      ),
      { concurrency: "unbounded" }
    ),
    (answers) => answers.flat()
  )
