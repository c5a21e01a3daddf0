import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createConnection } from "node:net"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as EmbeddedPostgres from "../../../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as LogFile from "../../../../src/runtime/store/embedded/LogFile.ts"
import * as OwnerFile from "../../../../src/runtime/store/embedded/OwnerFile.ts"
import * as ProcessIdentity from "../../../../src/runtime/store/embedded/ProcessIdentity.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"
import * as OtherProcess from "../../../support/service/OtherProcess.ts"

const fixture = new URL("./Owner.fixture.ts", import.meta.url).pathname

const query = <A, E>(url: Redacted.Redacted, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(SqlClient.SqlClient, use).pipe(Effect.provide(PgClient.layer({ url })), Effect.scoped)

const withPostgres = <A, E>(
  dataDir: string,
  use: (postgres: EmbeddedPostgres.EmbeddedPostgres) => Effect.Effect<A, E>,
  options: EmbeddedPostgres.Options = {}
) =>
  Effect.gen(function* () {
    const owned = yield* OwnerFile.acquire(dataDir)
    return yield* use(yield* EmbeddedPostgres.start(owned, options))
  }).pipe(Effect.scoped)

const setting = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql<{ readonly value: string }>`SELECT current_setting(${name}) AS value`, ([row]) => row?.value)

const postmasterPid = (dataDir: string) =>
  Effect.promise(async () =>
    Number((await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n")[0])
  )

const refused = (url: Redacted.Redacted) =>
  Effect.promise(
    () =>
      new Promise<boolean>((done) => {
        const socket = createConnection(Number(new URL(Redacted.value(url)).port), "127.0.0.1")
        socket.once("connect", () => done((socket.destroy(), false))).once("error", () => done(true))
      })
  )

describe("the embedded Postgres", () => {
  it.live("keeps its data from one start to the next and is down in between", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const first = yield* withPostgres(dataDir, ({ url }) =>
        query(url, (sql) =>
          Effect.gen(function* () {
            expect(yield* setting(sql, "fsync")).toBe("on")
            expect(yield* setting(sql, "server_version_num").pipe(Effect.map((v) => v?.slice(0, 2)))).toBe("18")
            expect(yield* setting(sql, "unix_socket_directories")).toBe("")
            expect(yield* setting(sql, "listen_addresses")).toBe("127.0.0.1")
            yield* sql`CREATE TABLE kept AS SELECT 42 AS answer`
            return url
          })
        )
      )
      expect(yield* refused(first)).toBe(true)
      const kept = yield* withPostgres(dataDir, ({ url }) => query(url, (sql) => sql`SELECT answer FROM kept`))
      expect(kept).toStrictEqual([{ answer: 42 }])
    })
  )

  it.live("writes a log that is begun anew when it is long, and that holds nothing of a tenant", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const log = join(dataDir, "postgres.log")
      const read = (path: string) => Effect.promise(() => readFile(path, "utf8"))
      yield* withPostgres(dataDir, ({ url }) =>
        query(url, (sql) =>
          Effect.gen(function* () {
            yield* sql`CREATE TABLE person (name text PRIMARY KEY)`
            yield* sql`INSERT INTO person VALUES ('Ada Lovelace')`
            const fail = Effect.flip(sql`INSERT INTO person VALUES ('Ada Lovelace')`)
            for (let tries = 0; tries < 50; tries++) yield* fail
            const full = yield* read(log)
            expect(full).toContain("duplicate key")
            expect(full).not.toContain("Ada")
            yield* Effect.promise(() => LogFile.rotate(log, full.length + 1))
            expect(yield* read(log)).toBe(full)
            yield* Effect.promise(() => LogFile.rotate(log, full.length - 1))
            expect(yield* read(LogFile.previous(log))).toBe(full)
            yield* fail
            // The server appends to the rest of the log.
            const rest = yield* read(log)
            expect(rest).toContain("duplicate key")
            expect(rest.length).toBeLessThan(200)
          })
        )
      )
    })
  )

  it.live("asks for its password, which only the owner of DATA_DIR can read", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* withPostgres(dataDir, ({ url }) =>
        Effect.gen(function* () {
          const wrong = new URL(Redacted.value(url))
          wrong.password = "wrong"
          const error = yield* Effect.flip(query(Redacted.make(wrong.href), (sql) => sql`SELECT 1`))
          expect(error._tag).toBe("SqlError")
          expect((yield* Effect.promise(() => stat(join(dataDir, "postgres.json")))).mode & 0o777).toBe(0o600)
        })
      )
    })
  )

  it.live("stops in order when its owner is asked to end", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const owner = yield* OtherProcess.start(fixture, [dataDir, "postgres"])
      const server = yield* postmasterPid(dataDir)
      expect(yield* owner.kill("SIGTERM")).toBe(0)
      expect(yield* Effect.promise(() => ProcessIdentity.find(server))).toBeNull()
    })
  )

  it.live("is left alone while its owner lives, and taken over within seconds once that is killed", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const owner = yield* OtherProcess.start(fixture, [dataDir, "postgres"])
      const url = Redacted.make(owner.firstLine)
      yield* query(url, (sql) => sql`CREATE TABLE kept AS SELECT 42 AS answer`)
      const orphan = yield* postmasterPid(dataDir)

      const error = yield* Effect.flip(withPostgres(dataDir, () => Effect.void))
      expect(error._tag).toBe("DataDirInUse")
      expect(yield* query(url, (sql) => sql`SELECT answer FROM kept`)).toStrictEqual([{ answer: 42 }])

      yield* owner.kill("SIGKILL")
      expect(yield* refused(url)).toBe(false)
      const killedAt = performance.now()
      yield* withPostgres(dataDir, ({ url }) =>
        Effect.gen(function* () {
          expect(performance.now() - killedAt).toBeLessThan(5_000) // below 100 ms on an idle machine
          expect(yield* postmasterPid(dataDir)).not.toBe(orphan)
          expect(yield* Effect.promise(() => ProcessIdentity.find(orphan))).toBeNull()
          expect(yield* query(url, (sql) => sql`SELECT answer FROM kept`)).toStrictEqual([{ answer: 42 }])
        })
      )
    })
  )

  it.live("spares a stranger that has got the pid of a server long gone", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* withPostgres(dataDir, () => Effect.void)
      const stranger = yield* OtherProcess.start(fixture, [yield* DataDirectory.make])
      const cluster = join(dataDir, "postgres")
      const left = [stranger.pid, cluster, 1, 1, "", "127.0.0.1", "        1         1", "ready   ", ""]
      yield* Effect.promise(() => writeFile(join(cluster, "postmaster.pid"), left.join("\n")))
      yield* withPostgres(dataDir, ({ url }) => query(url, (sql) => sql`SELECT 1`))
      expect(yield* Effect.promise(() => ProcessIdentity.find(stranger.pid))).not.toBeNull()
    })
  )

  /** Ends the server with this signal and waits for the next one. */
  const endServer = (dataDir: string, signal: NodeJS.Signals) =>
    Effect.gen(function* () {
      const before = yield* postmasterPid(dataDir)
      process.kill(before, signal)
      while ((yield* Effect.orElseSucceed(readyPid(dataDir), () => before)) === before) yield* Effect.sleep("20 millis")
    })

  const readyPid = (dataDir: string) =>
    Effect.tryPromise(async () => {
      const lines = (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n")
      if (lines[7]?.trim() !== "ready") throw new Error("it is not ready")
      return Number(lines[0])
    })

  it.live("is started again at its address when it ends by itself, also when it waits for its clients", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* withPostgres(dataDir, ({ url }) =>
        Effect.gen(function* () {
          yield* query(url, (sql) => sql`CREATE TABLE kept AS SELECT 42 AS answer`)
          yield* endServer(dataDir, "SIGINT")
          expect(yield* query(url, (sql) => sql`SELECT answer FROM kept`)).toStrictEqual([{ answer: 42 }])
          // After SIGTERM a server takes no new clients, and waits until those that it has are gone.
          yield* query(url, (sql) =>
            Effect.andThen(sql`SELECT 1`, Effect.ignore(Effect.andThen(endServer(dataDir, "SIGTERM"), sql`SELECT 1`)))
          )
          expect(yield* query(url, (sql) => sql`SELECT answer FROM kept`)).toStrictEqual([{ answer: 42 }])
        })
      )
      expect(yield* Effect.promise(() => readdir(join(dataDir, "postgres")))).not.toContain("postmaster.pid")
    })
  )

  it.live("tells when its server ends again and again", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* withPostgres(dataDir, ({ died }) =>
        Effect.gen(function* () {
          for (let nth = 1; nth <= 5; nth++) yield* endServer(dataDir, "SIGQUIT")
          process.kill(yield* postmasterPid(dataDir), "SIGINT")
          // The last lines of its log follow where the end comes before the start was noticed.
          expect(yield* died).toMatch(/exit code 0(:|$)/)
        })
      )
    })
  )

  it.live("does not replace data that went missing by an empty database", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* withPostgres(dataDir, () => Effect.void)
      yield* Effect.promise(() => rm(join(dataDir, "postgres"), { recursive: true }))
      const error = yield* Effect.flip(withPostgres(dataDir, () => Effect.void))
      expect(error.message).toContain(`its data directory ${join(dataDir, "postgres")} is gone`)
      expect(error.message).not.toContain("DATABASE_URL")
    })
  )

  it.live("says so when it is not ready in time", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const error = yield* Effect.flip(withPostgres(dataDir, () => Effect.void, { startTimeoutMs: 0 }))
      expect(error._tag === "EmbeddedPostgresError" && error.reason).toBe("start_timeout")
    })
  )

  it.live.skipIf(process.getuid?.() !== 0)("as root, stands outside a DATA_DIR that nobody may pass through", () =>
    Effect.gen(function* () {
      const place = yield* DataDirectory.make
      const dataDir = join(place, "closed", "data")
      yield* Effect.promise(async () => {
        await mkdir(dataDir, { recursive: true })
        await chmod(join(place, "closed"), 0o700)
      })
      const durableRoot = join(place, "durable")
      const one = yield* withPostgres(dataDir, ({ url }) => query(url, (sql) => setting(sql, "data_directory")), {
        durableRoot
      })
      expect(one ?? "").toMatch(new RegExp(`^${durableRoot}/[0-9a-f]{16}/postgres$`))
    })
  )
})
