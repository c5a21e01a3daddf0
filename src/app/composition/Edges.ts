import { Layer } from "effect"
import { join } from "node:path"
import type { Config } from "../boot/config/Config.ts"
import * as Features from "./Features.ts"
import * as ApiKeyHandlers from "../../edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../edge/http/request/RateLimit.ts"
import * as HttpServer from "../../edge/http/Server.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { OperatorServer } from "../../edge/operator/door/OperatorServer.ts"

interface Options {
  readonly dataDir: string
  readonly version: string
  readonly unready: () => ReadonlyArray<string>
}

/**
 * Everything that begins when calls have been recovered: the APIs for tenants and for the operator, deliveries and
 * jobs.
 */
export const layer = (config: Config, { dataDir, unready, version }: Options) =>
  Layer.mergeAll(
    Features.deliveries({ version, disableAfterDays: config.webhookDisableDays }),
    OperatorServer.layer({
      port: config.operatorPort,
      hosts: config.operatorHosts,
      tokenFile: join(dataDir, "operator.token"),
      ready: unready
    }),
    Jobs.runner,
    api(config)
  )

const api = (config: Config) =>
  HttpServer.layer({
    host: config.httpHost,
    port: config.httpPort,
    graceMs: 10_000,
    limits: { keepAliveMs: config.httpKeepAliveSecs * 1_000 }
  }).pipe(
    Layer.provide([
      ApiKeyHandlers.authenticator,
      ClientAddress.layer(config.trustProxy),
      RateLimit.layer({ signupPerHour: config.signupLimitPerHour }),
      Layer.succeed(BaseUrl, config.baseUrl)
    ])
  )
