import { setTimeout as delay } from "node:timers/promises"
import * as DoorClient from "../../../../src/edge/operator/command/DoorClient.ts"
import * as Client from "./Client.ts"
import * as World from "../World.ts"

/**
 * Takes access away while things go wrong: keys are made and revoked, one after the other, and a tenant is closed. A
 * request that got 503 has not happened, and a client that lost access is refused.
 */
export interface Credentials {
  /** Completes when the request under way has its answer, or never will. */
  readonly stop: () => Promise<void>
  /** Gives a line for each violation. */
  readonly violations: () => Promise<ReadonlyArray<string>>
}

/** The outcome of a change as its client knows it. */
type Known = "made" | "not made" | "unknown"

const pauseMs = 150
/** The tenant is closed in the middle of the faults. */
const closeAfterMs = 2_000

const knownOf = (status: number | null): Known => {
  if (status === null) return "unknown"
  return status < 300 ? "made" : "not made"
}

/** `name` begins the names of keys, unique in one world. */
export const start = async (world: World.World, name: string): Promise<Credentials> => {
  const spare = await World.signUp(world, `${name}@example.com`)
  const keys: Array<{ readonly id: string; readonly plaintext: string; readonly revoked: Known }> = []
  let closed: Known = "not made"
  const stopping = new AbortController()
  const { signal } = stopping

  const makeAndRevoke = async (nth: number): Promise<void> => {
    const [tenant] = world.tenants
    if (tenant === undefined) throw new Error("there is no tenant")
    const { apiKey } = tenant
    const key = `${name}-errandrevoked${nth}`
    const made = await world.client.command({
      apiKey,
      key,
      path: "/v1/api-keys",
      body: { name: key },
      mark: `key ${key}`
    })
    if (made === null || made.status !== 201) return
    const { api_key_plaintext, ...record } = JSON.parse(made.body) as {
      readonly id: string
      readonly api_key_plaintext: string
    }
    // The key is used once first, so that it is known in memory.
    await mayEnter(api_key_plaintext)
    const answer = await Client.request(`${world.baseUrl}/v1/api-keys/${record.id}`, {
      method: "DELETE",
      bearer: apiKey
    })
    keys.push({ id: record.id, plaintext: api_key_plaintext, revoked: knownOf(answer?.status ?? null) })
  }

  const mayEnter = async (apiKey: string): Promise<boolean | null> => {
    // A closed tenant may still read.
    const answer = await Client.request(`${world.baseUrl}/v1/calls`, { bearer: apiKey, body: {} })
    if (answer === null || answer.status >= 500) return null
    return answer.status === 400
  }

  const close = async (): Promise<void> => {
    try {
      await world.operate("tenant/close", { tenant: spare.id })
      closed = "made"
    } catch (cause) {
      closed = cause instanceof DoorClient.ServiceError ? "not made" : "unknown"
    }
  }

  const run = async (): Promise<void> => {
    for (let nth = 0; !signal.aborted; nth++) {
      await makeAndRevoke(nth)
      await delay(pauseMs)
    }
  }
  const closing = delay(closeAfterMs).then(close)
  const done = run()

  /** The answer, the rows and the service's behaviour must agree. */
  const compare = async (
    what: string,
    apiKey: string,
    known: Known,
    isGone: boolean
  ): Promise<ReadonlyArray<string>> => {
    const lines: Array<string> = []
    if (known !== "unknown" && (known === "made") !== isGone)
      lines.push(`${what}: its end was ${known} by its answer, and ${isGone ? "is" : "is not"} in the database`)
    if ((await mayEnter(apiKey)) !== !isGone)
      lines.push(`${what}: it is ${isGone ? "gone and lets in" : "there and does not let in"}`)
    return lines
  }

  return {
    stop: async () => {
      stopping.abort()
      await Promise.all([done, closing])
    },
    violations: async () => {
      const lines: Array<string> = []
      const rows = await world
        .database()
        .query<{ readonly id: string; readonly revoked: boolean }>(
          "SELECT id, revoked_at IS NOT NULL AS revoked FROM api_key"
        )
      const isRevoked = new Map(rows.map(({ id, revoked }) => [id, revoked]))
      for (const { id, plaintext, revoked } of keys)
        lines.push(...(await compare(`key ${id}`, plaintext, revoked, isRevoked.get(id) ?? true)))
      const [tenant] = await world
        .database()
        .query<{ readonly status: string }>("SELECT status FROM tenant WHERE id = $1", [spare.id])
      lines.push(...(await compare(`tenant ${spare.id}`, spare.apiKey, closed, tenant?.status === "closed")))
      return lines
    }
  }
}
