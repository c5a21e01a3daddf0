import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fault from "./Fault.ts"
import * as PostgresServer from "./peer/PostgresServer.ts"
import * as World from "./World.ts"

interface Options {
  readonly tenants: number
  readonly sipPeerPort: number
  readonly random: () => number
  readonly largeCalls: number
  readonly awaitsLeases?: boolean
}

/** This share of the requests that got 503 is not repeated. */
const abandonedShare = 0.5

/** A world whose service reaches its database over a network that fails, while these tests look in over another one. */
export const make = async (options: Options): Promise<Fault.Stage & { readonly close: () => Promise<void> }> => {
  const { awaitsLeases = false, largeCalls, random, sipPeerPort, tenants } = options
  const folder = await mkdtemp(join(tmpdir(), "trunkline-fault-"))
  // As root the Postgres in it belongs to another user.
  await chmod(folder, 0o711)
  const postgres = await PostgresServer.start(join(folder, "database"))
  const close = async (): Promise<void> => {
    await postgres.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const { proxy: network, url: databaseUrl } = await postgres.network()
    const { url: lookUrl } = await postgres.network()
    const world = await World.make({
      databaseUrl,
      lookUrl,
      tenants,
      random,
      awaitsLeases,
      sipPeerPort,
      logLevel: "Info",
      abandons: () => random() < abandonedShare
    })
    await Fault.prepare(world.database())
    return {
      world,
      network,
      postgres,
      random,
      largeCalls,
      close: async () => {
        await world.close()
        await close()
      }
    }
  } catch (cause) {
    await close()
    throw cause
  }
}
