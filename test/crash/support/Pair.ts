import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import * as FreePorts from "../../support/network/FreePorts.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as Patience from "./Patience.ts"
import * as Client from "./peer/Client.ts"
import * as Database from "./peer/Database.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as PostgresServer from "./peer/PostgresServer.ts"
import * as Service from "./peer/Service.ts"
import * as Setup from "./Setup.ts"

/** One of the two processes, with a network between it and the database, and one before its API. */
export interface Member {
  readonly name: string
  readonly operatorPort: number
  readonly dataDir: string
  readonly toDatabase: TcpProxy.TcpProxy
  readonly toClients: TcpProxy.TcpProxy
  /** The process that runs, or ran last. */
  readonly service: () => Service.Service
  /** Starts the next process; the last one must have ended. */
  readonly start: () => Service.Service
}

/** Two processes on one Postgres that outlives both, one of which owns it, and a tenant with a number. */
export interface Pair {
  readonly members: readonly [Member, Member]
  readonly database: Database.Database
  readonly epoch: () => Promise<number>
  /** Stops Postgres in the middle of everything, and starts it again after `awayMs`. */
  readonly restartPostgres: (awayMs: number) => Promise<void>
  /** Breaks the connection of the owner that holds its lock. */
  readonly dropLock: () => Promise<void>
  /** The tenant's servers. */
  readonly receiver: Receiver.Receiver
  /** Recordings of calls in the database, and whether their files are in this member's store. */
  readonly recordings: (of: Member, callIds: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
  /** Places a call that talks until it is hung up, recorded and streamed, at this member, and waits for its answer. */
  readonly talk: (at: Member) => Promise<string>
  /** Waits until one of the two owns the database and the other one stands by. */
  readonly complete: () => Promise<void>
  /** Whether the API of this member answers, and has its database. */
  readonly answers: (at: Member) => Promise<boolean>
  readonly hangUp: (at: Member, callId: string) => Promise<Client.Answer | null>
  /** Status and reason of calls in the database. */
  readonly standing: (callIds: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

const readyWithinMs = 600_000

export const make = async (): Promise<Pair> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-pair-"))
  // As root the Postgres in it belongs to another user.
  await chmod(folder, 0o711)
  const scope = Scope.makeUnsafe()
  const postgres = await PostgresServer.start(join(folder, "database"))
  const caFile = join(folder, "ca.pem")
  const authority = TestCertificate.makeAuthority()
  await writeFile(caFile, authority.cert)
  const receiver = await Receiver.start(authority.issue(["127.0.0.1"]))

  const started: Array<Service.Service> = []
  let opened: Database.Database | null = null
  const close = async (): Promise<void> => {
    await opened?.close()
    for (const service of started) await service.kill("SIGKILL")
    await receiver.close()
    await postgres.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(folder, { recursive: true, force: true })
  }
  const member = async (name: string): Promise<Member> => {
    const { proxy: toDatabase, url: databaseUrl } = await postgres.network()
    const ports = await FreePorts.find()
    const toClients = await Effect.runPromise(
      Scope.provide(TcpProxy.make({ host: "127.0.0.1", port: ports.http }), scope)
    )
    const dataDir = join(folder, name)
    await mkdir(dataDir, { mode: 0o711 })
    let service: Service.Service | null = null
    return {
      name,
      operatorPort: ports.operator,
      dataDir,
      toDatabase,
      toClients,
      service: () => {
        if (service === null) throw new Error(`${name} was not started`)
        return service
      },
      start: () => {
        service = Service.start({ dataDir, ports, caFile, databaseUrl, readyWithinMs })
        started.push(service)
        return service
      }
    }
  }
  const joined = async (): Promise<Pair> => {
    const members = [await member("one"), await member("two")] as const
    const [one, two] = members
    await one.start().ready
    // Every process on a database has the same key.
    await copyFile(join(folder, "one", "vault.key"), join(folder, "two", "vault.key"))

    const api = (at: Member) => `http://127.0.0.1:${at.toClients.port}`
    const ask = (path: string, bearer: string | null, body: object): Promise<never> =>
      Setup.ask(`${api(one)}${path}`, bearer, body)
    const signedUp: { readonly api_key_plaintext: string; readonly tenant: { readonly id: string } } = await ask(
      "/v1/signup",
      null,
      {
        email: "owner@example.com",
        password: "correct horse battery",
        tenant_name: "Tenant",
        first_name: "Ada",
        last_name: "Lovelace"
      }
    )
    const { api_key_plaintext: bearer, tenant } = signedUp
    // Raises money and quota so far that no limit ends the calls.
    const operate = (operation: string, body: object) =>
      Setup.operate({ port: one.operatorPort, dataDir: join(folder, "one") }, operation, body)
    await operate("tenant/credit", { tenant: tenant.id, cents: 1_000_000, reason: "crash test" })
    await operate("tenant/quota", {
      tenant: tenant.id,
      daily_spend_cap_cents: null,
      monthly_spend_cap_cents: null,
      concurrent_call_limit: 10_000
    })
    const number = "+12025550150"
    await ask("/v1/numbers/order", bearer, { phone_numbers: [number], country_code: "US", number_type: "local" })
    const database = Database.open((await postgres.network()).url)
    opened = database
    const standing = async (callIds: ReadonlyArray<string>) => {
      const rows = await database.query<{ readonly id: string; readonly text: string }>(
        "SELECT id, concat_ws(' ', status, end_reason) AS text FROM call WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))",
        [JSON.stringify(callIds)]
      )
      return callIds.map((id) => rows.find((row) => row.id === id)?.text ?? "none")
    }
    await until("an active number", async () => {
      const rows = await database.query("SELECT FROM phone_number WHERE status = 'active'")
      return rows.length > 0
    })
    two.start()

    return {
      members,
      database,
      standing,
      epoch: async () => {
        const [row] = await database.query<{ readonly epoch: number }>("SELECT epoch::int AS epoch FROM journal_owner")
        return row?.epoch ?? 0
      },
      restartPostgres: async (awayMs) => {
        const start = await postgres.stop()
        await delay(awayMs)
        await start()
      },
      dropLock: () => Database.dropLock(database),
      receiver,
      recordings: async ({ dataDir }, callIds) => {
        const rows = await database.query<{ readonly callId: string; readonly id: string; readonly text: string }>(
          `SELECT call_id AS "callId", id, concat_ws(' ', status, duration_seconds) AS text FROM recording`
        )
        const stored = await readdir(join(dataDir, "files"), { recursive: true }).catch(() => [])
        return callIds.map((callId) => {
          const row = rows.find((row) => row.callId === callId)
          if (row === undefined) return "none"
          return stored.some((name) => name.includes(row.id)) ? row.text : `${row.text} without a file`
        })
      },
      talk: async (at) => {
        const answer = await Client.request(`${api(at)}/v1/calls`, {
          bearer,
          body: { from: number, to: "+12025550100", record: "on_answer", record_format: "wav" }
        })
        if (answer?.status !== 201) throw new Error(`a call was not placed: ${answer?.status} ${answer?.body}`)
        const { id } = JSON.parse(answer.body) as { readonly id: string }
        await until("an answered call", async () => (await standing([id]))[0] === "answered")
        const streamed = await Client.request(`${api(at)}/v1/calls/${id}/actions/streaming_start`, {
          bearer,
          body: { stream_url: `${receiver.socketUrl}/stream/echoes/${id}`, stream_bidirectional_mode: "rtp" }
        })
        if (streamed?.status !== 200) throw new Error(`a stream was not started: ${streamed?.status} ${streamed?.body}`)
        return id
      },
      complete: () =>
        until("an owner and a standby", async () => {
          const found = await database.query("SELECT FROM pg_stat_activity WHERE application_name = 'trunkline owner'")
          return found.length === 2
        }),
      answers: async (at) => (await Client.request(`${api(at)}/v1/account`, { method: "GET", bearer }))?.status === 200,
      hangUp: (at, callId) => Client.request(`${api(at)}/v1/calls/${callId}/actions/hangup`, { bearer, body: {} }),
      close
    }
  }
  try {
    return await joined()
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Dies after half a minute of a quiet machine. */
export const until = async (what: string, isSo: () => Promise<boolean>, withinMs = 30_000): Promise<void> => {
  for (const patience = Patience.make(withinMs); !patience.isOver(); await delay(50)) if (await isSo()) return
  throw new Error(`${what} was not seen within ${withinMs} ms`)
}
