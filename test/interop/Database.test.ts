import { type ChildProcess } from "node:child_process"
import { randomUUID } from "node:crypto"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Redacted, References, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as DatabaseCheck from "../../src/app/boot/DatabaseCheck.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Database from "./peer/Database.ts"
import * as Service from "./peer/Service.ts"

const authority = TestCertificate.makeAuthority()
const certificate = authority.issue(["127.0.0.1"])
const children: Array<ChildProcess> = []
let folder: string
let primary: Database.Postgres

beforeAll(async () => {
  folder = await Service.makeFolder()
  primary = await Database.primary(folder)
}, 180_000)

afterAll(async () => {
  for (const child of children) await Service.end(child, "SIGINT")
  await primary.stop()
  await rm(folder, { recursive: true, force: true })
})

const bouncer = async (
  to: Database.Postgres,
  settings: Readonly<Record<string, string>>,
  tls: TestCertificate.TestCertificate | null = null
) => {
  const { child, port } = await Database.bouncer(folder, to, settings, tls)
  children.push(child)
  return port
}

/** Why a start on this database is refused; null: it is not. */
const refusal = async (url: string, ssl?: { readonly ca: string }): Promise<string | null> => {
  const address = { url: Redacted.make(url), ...(ssl === undefined ? {} : { ssl }) }
  const quiet = Effect.provideService(DatabaseCheck.suitable(address), References.MinimumLogLevel, "None")
  return Result.match(await Effect.runPromise(Effect.result(quiet)), {
    onSuccess: () => null,
    onFailure: (error) => error.message
  })
}

const at = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

describe("PgBouncer", () => {
  const modes: ReadonlyArray<readonly [settings: Readonly<Record<string, string>>, refused: RegExp | null]> = [
    [{ pool_mode: "session" }, null],
    [{ pool_mode: "session", server_reset_query: "" }, /server_reset_query = DISCARD ALL/],
    [{ pool_mode: "transaction" }, /pool_mode = session/],
    [{ pool_mode: "transaction", server_round_robin: "1" }, /pool_mode = session/],
    [{ pool_mode: "statement" }, /pool_mode = session/]
  ]
  for (const [settings, refused] of modes)
    it(`is ${refused === null ? "used" : "refused"} with ${JSON.stringify(settings)}`, async () => {
      const said = await refusal(at(await bouncer(primary, settings)))
      if (refused === null) expect(said).toBeNull()
      else expect(said).toMatch(refused)
    })

  it("needs its private authority to be named", async () => {
    const port = await bouncer(primary, { pool_mode: "session" }, certificate)
    expect(await refusal(`${at(port)}?sslmode=require`)).toMatch(/name the authority .* in DATABASE_CA_FILE/)
    expect(await refusal(at(port))).toMatch(/write sslmode=verify-full/)
    expect(await refusal(at(port), { ca: authority.cert })).toBeNull()
    expect(await refusal(at(port), { ca: TestCertificate.makeAuthority().cert })).toMatch(/DATABASE_CA_FILE/)
  })
})

describe("A role with limited rights", () => {
  it("is told which one is missing", async () => {
    primary.query("CREATE ROLE reader LOGIN")
    expect(await refusal(`postgres://reader@127.0.0.1:${primary.port}/postgres`)).toMatch(
      /GRANT CREATE ON SCHEMA public TO reader/
    )
  })

  it("learns that a database is in another encoding", async () => {
    primary.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    expect(await refusal(`postgres://postgres@127.0.0.1:${primary.port}/latin`)).toMatch(/LATIN1: create one/)
  })
})

describe("A fail-over of the database, over PgBouncer with TLS", () => {
  it("answers each write with 503 while the new database is a standby, and takes writes when it is promoted", async () => {
    primary.query("CREATE DATABASE phones")
    primary.query("ALTER DATABASE phones SET default_transaction_isolation = 'serializable'")
    const standby = await Database.standbyOf(folder, primary)
    const session = { pool_mode: "session" }
    const address = await Database.movable(await bouncer(primary, session, certificate))
    const toStandby = await bouncer(standby, session, certificate)
    const caFile = join(folder, "ca.pem")
    await writeFile(caFile, authority.cert)
    const service = await Service.start(authority.cert, {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${address.port}/phones?sslmode=verify-full`,
      DATABASE_CA_FILE: caFile
    })
    const signUp = () =>
      fetch(`${service.baseUrl}/v1/signup`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          email: `${randomUUID()}@example.com`,
          password: "correct horse battery",
          tenant_name: `Tenant ${randomUUID()}`,
          first_name: "Ada",
          last_name: "Lovelace"
        })
      })
    const signedUp = async () => {
      const answer = await signUp()
      expect([201, 503]).toContain(answer.status)
      return answer.status === 201 ? ((await answer.json()) as Service.Json) : undefined
    }
    try {
      const { api_key_plaintext: key } = await Service.eventually("a first sign-up", signedUp, 60_000)
      const written = primary.query("SELECT pg_current_wal_flush_lsn()")
      await Service.eventually(
        "the standby has it all",
        () => (standby.query(`SELECT pg_last_wal_replay_lsn() >= '${written}'`) === "t" ? true : undefined),
        60_000
      )
      await primary.stop("SIGQUIT")
      address.move(toStandby)
      await Service.eventually(
        "the standby answers reads",
        async () => {
          const answer = await fetch(`${service.baseUrl}/v1/numbers`, {
            headers: { authorization: `Bearer ${String(key)}` }
          })
          expect([200, 503]).toContain(answer.status)
          return answer.status === 200 ? true : undefined
        },
        60_000
      )
      for (let n = 0; n < 6; n++) expect((await signUp()).status).toBe(503)
      standby.promote()
      await Service.eventually("the new primary takes writes", signedUp, 60_000)
    } finally {
      await service.stop()
      address.close()
      await standby.stop()
    }
  }, 400_000)
})
