import { Layer } from "effect"
import { join } from "node:path"
import type { Config } from "../boot/Config.ts"
import * as Features from "../boot/Features.ts"
import * as ApiKeyHandlers from "../http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../http/ClientAddress.ts"
import { BaseUrl } from "../http/Pagination.ts"
import { RateLimit } from "../http/RateLimit.ts"
import * as HttpServer from "../http/Server.ts"
import { Jobs } from "../job/Jobs.ts"
import { OperatorServer } from "../operator/OperatorServer.ts"

export interface Options {
  readonly dataDir: string
  readonly version: string
  /** What stands in the way of being ready. */
  readonly unready: () => ReadonlyArray<string>
}

/** What begins when calls have been recovered: the doors for tenants and for the operator, deliveries and jobs. */
export const layer = (config: Config, { dataDir, unready, version }: Options) =>
  Layer.mergeAll(
    Features.deliveries({ version, disableAfterDays: config.webhookDisableDays }),
    OperatorServer.layer({
      port: config.operatorPort,
      tokenFile: join(dataDir, "operator.token"),
      ready: unready
    }),
    Jobs.runner,
    api(config)
  )

const api = (config: Config) =>
  HttpServer.layer({ host: config.httpHost, port: config.httpPort, graceMs: 10_000 }).pipe(
    Layer.provide([
      ApiKeyHandlers.authenticator,
      ClientAddress.layer(config.trustProxy),
      RateLimit.layer({ signupPerHour: config.signupLimitPerHour }),
      Layer.succeed(BaseUrl, config.baseUrl)
    ])
  )
