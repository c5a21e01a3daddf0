import { describe, expect, it, layer } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { connect, createServer, type Server } from "node:net"
import { createSocket } from "node:dgram"
import { Effect, Layer, Redacted } from "effect"
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "effect/sql"
import * as Requests from "../src/protocol/sip/message/Requests.ts"
import * as SipWriter from "../src/protocol/sip/message/SipWriter.ts"
import * as DataDirectory from "./support/DataDirectory.ts"
import * as TestDatabase from "./support/TestDatabase.ts"

/** The started program: its messages about wrong settings, and how it stops. */
const root = new URL("..", import.meta.url).pathname

interface Ended {
  /** Its exit code, or the signal that ended it. */
  readonly code: number | string
  readonly error: string
}

const start = (environment: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["src/main.ts"], {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          HTTP_PORT: "0",
          OPERATOR_PORT: "0",
          SIP_PORT: "0",
          LOG_LEVEL: "warn",
          ...environment
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let output = ""
      let error = ""
      child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
      child.stderr.on("data", (chunk: Buffer) => (error += chunk.toString()))
      const ended = once(child, "close").then(([code, signal]): Ended => ({
        code: (code ?? signal) as number | string,
        error
      }))
      return { child, ended, output: () => output, said: () => error }
    }),
    ({ child, ended }) => Effect.promise(() => stop(child, ended))
  )

const stop = async (child: ChildProcess, ended: Promise<Ended>) => {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
  await ended
}

const ending = (environment: Readonly<Record<string, string>>) =>
  Effect.flatMap(start(environment), ({ ended }) => Effect.promise(() => ended))

const listening = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => void server.close())
)
const portOf = (server: Server): string => {
  const address = server.address()
  return String(typeof address === "object" && address !== null ? address.port : 0)
}

describe("A start that cannot be says why in one line", () => {
  it.live("names a wrong value, and ends with a code of its own, so that a supervisor does not start it again", () =>
    Effect.gen(function* () {
      const { code, error } = yield* ending({ MAX_CALL_SECS: "long" })
      expect(code).toBe(78)
      expect(error).toBe('trunkline: MAX_CALL_SECS must be a whole number from 1 to 86400, not "long"\n')
    }).pipe(Effect.scoped)
  )
})

layer(Layer.empty, { excludeTestServices: true, timeout: "180 seconds" })("With a database", (it) => {
  const settings = Effect.gen(function* () {
    return { DATA_DIR: yield* DataDirectory.make, DATABASE_URL: Redacted.value(yield* TestDatabase.empty) }
  })

  it.effect("names DATABASE_URL when its database does not exist, and waits for nothing", () =>
    Effect.gen(function* () {
      const database = yield* settings
      const url = new URL(database.DATABASE_URL)
      url.pathname = "/nothing"
      url.username = "nobody"
      url.password = "secret"
      const { code, error } = yield* ending({ ...database, DATABASE_URL: url.href })
      expect(code).toBe(1)
      expect(error).toMatch(/^trunkline: DATABASE_URL: the database cannot be reached or used: [^\n]*\n$/)
      expect(error).not.toContain("secret")
    }).pipe(Effect.scoped)
  )

  it.effect("a database that comes later is waited for, and the log says so", () =>
    Effect.gen(function* () {
      const database = yield* settings
      const { DATABASE_URL, begin } = yield* later(new URL(database.DATABASE_URL))
      const { child, ended, output, said } = yield* start({ ...database, DATABASE_URL, LOG_LEVEL: "info" })
      yield* Effect.promise(() => until(() => said().includes("the start waits for the database")))
      begin()
      yield* Effect.promise(() => until(() => output().includes("is up")))
      child.kill("SIGTERM")
      expect((yield* Effect.promise(() => ended)).code).toBe(0)
    }).pipe(Effect.scoped)
  )

  for (const variable of ["HTTP_PORT", "OPERATOR_PORT"])
    it.effect(`a busy ${variable} is named in one line`, () =>
      Effect.gen(function* () {
        const port = portOf(yield* listening)
        const { code, error } = yield* ending({ ...(yield* settings), [variable]: port })
        expect(code).toBe(1)
        expect(error).toMatch(new RegExp(`^trunkline: ${variable}[^\n]*${port}[^\n]*\n$`))
      }).pipe(Effect.scoped)
    )

  it.effect(
    "a database with another vault key, or of a newer version, is refused in one line before anything waits",
    () =>
      Effect.gen(function* () {
        const database = yield* settings
        const { child, ended, output } = yield* start(database)
        yield* Effect.promise(() => until(() => output().includes("is up")))
        // The owner lives on. A standby with another key would take over some day, and could read no secret.
        const other = yield* ending({ ...database, DATA_DIR: yield* DataDirectory.make })
        expect(other.code).toBe(1)
        expect(other.error).toMatch(/^trunkline: SECRET_KEY: this key of the vault is not the one [^\n]*\n$/)
        child.kill("SIGTERM")
        yield* Effect.promise(() => ended)
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'of_tomorrow')`
        ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(database.DATABASE_URL) })))
        const older = yield* ending(database)
        expect(older.code).toBe(1)
        expect(older.error).toMatch(
          /^trunkline: the database was migrated by a newer version [^\n]*9999_of_tomorrow[^\n]*\n$/
        )
      }).pipe(Effect.scoped)
  )

  it.effect("a busy SIP_PORT is named in one line", () =>
    Effect.gen(function* () {
      const socket = createSocket("udp4").bind(0, "127.0.0.1")
      yield* Effect.promise(() => once(socket, "listening"))
      const port = String(socket.address().port)
      const { code, error } = yield* ending({ ...(yield* settings), SIP_PORT: port })
      socket.close()
      expect(code).toBe(1)
      expect(error).toMatch(new RegExp(`^trunkline: SIP_PORT[^\n]*${port}[^\n]*\n$`))
    }).pipe(Effect.scoped)
  )

  it.effect("SIGTERM refuses the calls of SIP peers at once, and tells them so when they ask", () =>
    Effect.gen(function* () {
      const database = yield* settings
      const sip = yield* freeUdpPort
      const free = yield* freePort
      const { child, ended, output } = yield* start({
        ...database,
        HTTP_PORT: free,
        SIP_PORT: String(sip),
        DRAIN_SECS: "2"
      })
      yield* Effect.promise(() => until(() => output().includes("is up")))
      const api = apiOf(`http://127.0.0.1:${free}`)
      const { key, place } = yield* Effect.promise(() => api.tenant())
      const ask = yield* sipPeer
      expect(yield* Effect.promise(() => ask("OPTIONS", sip))).toBe(403)
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, port, created_at)
          SELECT 'svc_route_00000000000000000000000000000001', id, 'Peer', false, 'active', 'sip', '127.0.0.1', 5060, now()
          FROM tenant`
      ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(database.DATABASE_URL) })))
      yield* Effect.promise(() => until(async () => (await ask("OPTIONS", sip)) === 200))
      // The service lives as long as a call does.
      const { id } = (yield* Effect.promise(async () => (await place()).json())) as { readonly id: string }
      yield* Effect.promise(() => until(async () => (await api.call(key, id)).status === "answered"))
      child.kill("SIGTERM")
      yield* Effect.sleep("300 millis")
      expect(yield* Effect.promise(() => ask("OPTIONS", sip))).toBe(503)
      expect(yield* Effect.promise(() => ask("INVITE", sip))).toBe(503)
      const { code } = yield* Effect.promise(() => ended)
      expect(code).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.effect("SIGTERM refuses new calls, lets a live one go on for DRAIN_SECS, ends it, and exits 0", () =>
    Effect.gen(function* () {
      const free = yield* freePort
      const { child, ended, output } = yield* start({ ...(yield* settings), HTTP_PORT: free, DRAIN_SECS: "2" })
      yield* Effect.promise(() => until(() => output().includes("is up")))
      const api = apiOf(`http://127.0.0.1:${free}`)
      const { key, place } = yield* Effect.promise(() => api.tenant())
      const placed = yield* Effect.promise(place)
      expect(placed.status).toBe(201)
      const { id } = (yield* Effect.promise(() => placed.json())) as { readonly id: string }
      yield* Effect.promise(() => until(async () => (await api.call(key, id)).status === "answered"))
      child.kill("SIGTERM")
      yield* Effect.sleep("300 millis")
      expect((yield* Effect.promise(place)).status).toBe(503)
      expect((yield* Effect.promise(() => api.call(key, id))).status).toBe("answered")
      const { code } = yield* Effect.promise(() => ended)
      expect(code).toBe(0)
    }).pipe(Effect.scoped)
  )
})

/** A database that refuses connections until it begins, as one that starts at the same time as the service. */
const later = (target: URL) =>
  Effect.gen(function* () {
    const port = Number(yield* freePort)
    const url = new URL(target)
    url.hostname = "127.0.0.1"
    url.port = String(port)
    const proxy = createServer((client) => {
      const server = connect(Number(target.port), target.hostname)
      client.on("error", () => server.destroy()).pipe(server)
      server.on("error", () => client.destroy()).pipe(client)
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => void proxy.close()))
    return { DATABASE_URL: url.href, begin: () => void proxy.listen(port, "127.0.0.1") }
  })

/**
 * A SIP peer on loopback that sends a request and gives the status of the answer; 0: none came within half a second.
 */
const sipPeer = Effect.gen(function* () {
  const socket = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket("udp4").bind(0, "127.0.0.1")
      await once(socket, "listening")
      return socket
    }),
    (socket) => Effect.sync(() => socket.close())
  )
  let asked = 0
  return async (method: "OPTIONS" | "INVITE", port: number): Promise<number> => {
    const request = Requests.make({
      method,
      uri: `sip:+12025550150@127.0.0.1:${port}`,
      sentBy: `127.0.0.1:${socket.address().port}`,
      branch: `z9hG4bKask${++asked}`,
      from: "<sip:+4930123456@127.0.0.1>;tag=peer",
      to: `<sip:+12025550150@127.0.0.1>`,
      callId: `ask-${asked}`,
      cseq: 1,
      contact: `<sip:peer@127.0.0.1:${socket.address().port}>`
    })
    const answer = once(socket, "message").then(([bytes]: ReadonlyArray<Uint8Array>) =>
      Number(new TextDecoder().decode(bytes).slice(8, 11))
    )
    socket.send(SipWriter.write(request), port, "127.0.0.1")
    return await Promise.race([answer, new Promise<number>((resolve) => setTimeout(() => resolve(0), 500))])
  }
})

const freeUdpPort = Effect.promise(async () => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1")
  await once(socket, "listening")
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
})

const freePort = Effect.scoped(Effect.map(listening, portOf))

const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  const limit = Date.now() + 50_000
  while (!(await is())) {
    if (Date.now() > limit) throw new Error("it did not happen within 50 s")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const apiOf = (base: string) => {
  const post = (path: string, body: unknown, key?: string) =>
    fetch(`${base}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body)
    })
  return {
    tenant: async () => {
      const person = { email: "a@example.com", password: "correct horse", first_name: "A", last_name: "B" }
      const signed = (await (await post("signup", { ...person, tenant_name: "T" })).json()) as {
        readonly api_key_plaintext: string
      }
      const key = signed.api_key_plaintext
      await post("numbers/order", { phone_numbers: ["+12025550150"], country_code: "US", number_type: "local" }, key)
      return { key, place: () => post("calls", { from: "+12025550150", to: "+12025550100" }, key) }
    },
    call: async (key: string, id: string) => {
      const response = await fetch(`${base}/v1/calls/${id}`, { headers: { authorization: `Bearer ${key}` } })
      return (await response.json()) as { readonly status: string }
    }
  }
}
