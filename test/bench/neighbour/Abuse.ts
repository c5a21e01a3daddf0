import { fork } from "node:child_process"
import { once } from "node:events"
import type * as World from "../../crash/support/World.ts"
import type { Name } from "./Abuses.ts"

/** The data of the tenant that abuses the service. */
export interface Site {
  readonly baseUrl: string
  readonly apiKey: string
  readonly number: string
  /** The certificate of its own receivers. */
  readonly certificate: { readonly cert: string; readonly key: string }
  /** The size of every abuse: 1 is the whole abuse, less is a share of it. */
  readonly size: number
}

export type Question = { readonly names: ReadonlyArray<Name>; readonly site: Site }

/**
 * Lets a tenant abuse the service in these ways at once, from a separate process, until `stop`. Completes when all of
 * them are under way; rejects when one could not begin.
 */
export const start = async (
  world: World.World,
  tenant: World.Tenant,
  names: ReadonlyArray<Name>,
  size: number
): Promise<{ readonly stop: () => Promise<void> }> => {
  const child = fork(new URL("./Abuse.process.ts", import.meta.url), { execArgv: [], stdio: "inherit" })
  const ended = once(child, "exit")
  const site: Site = {
    baseUrl: world.baseUrl,
    apiKey: tenant.apiKey,
    number: tenant.number,
    certificate: world.authority.issue(["127.0.0.1"]),
    size
  }
  const started = once(child, "message")
  child.send({ names, site } satisfies Question)
  const isStarted = await Promise.race([started.then(() => true), ended.then(() => false)])
  if (!isStarted) throw new Error(`the abuse by ${names.join(", ")} ended before it began`)
  return {
    stop: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
}
