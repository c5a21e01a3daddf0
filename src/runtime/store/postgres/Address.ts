import type { Redacted } from "effect"
import type { ConnectionOptions } from "node:tls"

/** Where a database is, and how a connection to it is made. */
export interface Address {
  /** `postgres://…`, with parameters that the driver reads or that have no effect on it. */
  readonly url: Redacted.Redacted
  /** Requires TLS. Absent: `sslmode` in the URL decides, and without it there is no TLS. */
  readonly ssl?: true | ConnectionOptions
  /** The limit for one attempt to connect; absent: 5. */
  readonly connectTimeoutSecs?: number
  /** The name under which the server shows the connections; absent: `trunkline`. */
  readonly applicationName?: string
}

/** The address as the driver takes it. The owner's connection has a name of its own. */
export const driverConfig = (
  { applicationName = "trunkline", connectTimeoutSecs = 5, ssl, url }: Address,
  nameSuffix = ""
) => ({
  url,
  ...(ssl === undefined ? {} : { ssl }),
  connectTimeout: connectTimeoutSecs * 1000,
  // Detects a peer that vanished without a message, while the connection is idle.
  keepAlive: "15 seconds" as const,
  applicationName: `${applicationName}${nameSuffix}`
})
