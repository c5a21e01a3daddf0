import { describe, expect, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as cli from "../../../../src/edge/operator/cli.ts"
import * as Client from "../../../crash/support/peer/Client.ts"
import * as Database from "../../../crash/support/peer/Database.ts"
import * as Invariants from "../../../crash/support/Invariants.ts"
import * as Service from "../../../crash/support/peer/Service.ts"
import * as World from "../../../crash/support/World.ts"
import * as FreePorts from "../../../support/network/FreePorts.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"

const root = new URL("../../../..", import.meta.url).pathname

/** Runs `npm run restore` without npm. Its standard input stays open, as that of a terminal does. */
const restore = async (dataDir: string, file: string, passphraseFile: string) => {
  const args = ["scripts/launch.js", "src/main.ts", "restore", file, "--passphrase-file", passphraseFile]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, said }
}

const answered = async (world: World.World, callId: string): Promise<void> => {
  for (let tries = 0; tries < 400; tries++) {
    const rows = await world.database().query("SELECT FROM call WHERE id = $1 AND status = 'answered'", [callId])
    if (rows.length === 1) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error("the call was not answered")
}

interface Recorded {
  readonly id: string
  readonly status: string
  readonly download_url: string | null
}

/** Copies the first of two recordings from store to store, and returns the names of both. */
const recordingsOf = async (from: string, to: string): Promise<readonly [kept: string, missing: string]> => {
  const files = (await readdir(join(from, "files"), { recursive: true })).filter((name) => name.endsWith(".wav"))
  const [kept, missing] = files
  if (kept === undefined || missing === undefined) throw new Error("there are not two recordings")
  await cp(join(from, "files", kept), join(to, "files", kept))
  return [basename(kept), basename(missing)]
}

interface Room {
  readonly id: string
  readonly status: string
  readonly host_call_id: string | null
  readonly participants: ReadonlyArray<{
    readonly id: string
    readonly joined_at: string | null
    readonly left_at: string | null
  }>
}

interface LedgerRow {
  readonly id: string
  readonly balance_after_cents: string
}

describe("Backup and restore, guide/operation.md#backup-and-restore", () => {
  it("a service that lost everything goes on from its backup: keys, numbers, money, recordings, and a bill for the call of then", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-backup-"))
    await chmod(folder, 0o711)
    const [file, passphraseFile, wrongFile, caFile] = ["backup.gz", "passphrase", "wrong", "ca.pem"].map((name) =>
      join(folder, name)
    ) as [string, string, string, string]
    await writeFile(passphraseFile, "correct horse battery\n")
    await writeFile(wrongFile, "correct horse batterie\n")
    await writeFile(caFile, TestCertificate.makeAuthority().cert)
    const world = await World.make({ tenants: 1 })
    const [tenant] = world.tenants
    if (tenant === undefined) throw new Error("there is no tenant")
    const place = (baseUrl: string) =>
      Client.request(`${baseUrl}/v1/calls`, {
        bearer: tenant.apiKey,
        key: `${Math.random()}`,
        body: { from: tenant.number, to: "+12025550100" }
      })
    const act = (callId: string, verb: string, body: object = {}) =>
      Client.request(`${world.baseUrl}/v1/calls/${callId}/actions/${verb}`, {
        bearer: tenant.apiKey,
        key: `${Math.random()}`,
        body
      })
    /** Waits for this many recordings with an outcome, oldest first. */
    const recordings = async (baseUrl: string, count: number): Promise<ReadonlyArray<Recorded>> => {
      for (let tries = 0; tries < 600; tries++) {
        const listed = await Client.request(`${baseUrl}/v1/recordings`, { method: "GET", bearer: tenant.apiKey })
        const { results } = JSON.parse(listed?.body ?? "") as { readonly results: ReadonlyArray<Recorded> }
        if (results.length === count) return results.toReversed()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`there are not ${count} recordings`)
    }
    /** Waits until a conference is as expected. */
    const room = async (baseUrl: string, id: string, reached: (room: Room) => boolean): Promise<Room> => {
      for (let tries = 0; tries < 600; tries++) {
        const answer = await Client.request(`${baseUrl}/v1/conferences/${id}/`, {
          method: "GET",
          bearer: tenant.apiKey
        })
        const found = JSON.parse(answer?.body ?? "{}") as Room
        if (answer?.status === 200 && reached(found)) return found
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error(`${id} is not as it is to be`)
    }
    const download = async (baseUrl: string, url: string | null): Promise<number> =>
      (await fetch(`${baseUrl}${new URL(url ?? "").pathname}${new URL(url ?? "").search}`)).status
    const ledgerOf = (database: Database.Database) =>
      database.query<LedgerRow>("SELECT id, balance_after_cents::text FROM ledger ORDER BY ordinal")
    try {
      const { id } = JSON.parse((await place(world.baseUrl))?.body ?? "") as { readonly id: string }
      await answered(world, id)
      for (const count of [1, 2]) {
        expect((await act(id, "start_recording", { format: "wav" }))?.status).toBe(200)
        await new Promise((resolve) => setTimeout(resolve, 700))
        expect((await act(id, "stop_recording"))?.status).toBe(200)
        await recordings(world.baseUrl, count)
      }
      // This recording continues.
      expect((await act(id, "start_recording", { format: "wav" }))?.status).toBe(200)
      const { id: hostCallId } = JSON.parse((await place(world.baseUrl))?.body ?? "") as { readonly id: string }
      await answered(world, hostCallId)
      const created = await Client.request(`${world.baseUrl}/v1/conferences/`, {
        bearer: tenant.apiKey,
        key: `${Math.random()}`,
        body: { name: "Weekly", host_call_id: hostCallId }
      })
      const { id: roomId } = JSON.parse(created?.body ?? "") as Room
      const live = await room(
        world.baseUrl,
        roomId,
        ({ participants, status }) => status === "in_progress" && participants[0]?.joined_at !== null
      )

      const environment = { OPERATOR_PORT: String(world.ports.operator), DATA_DIR: world.dataDir }
      const backUp = () => cli.run(["backup", file, "--passphrase-file", passphraseFile], environment)
      const taken = await backUp()
      expect(taken.stderr).toBe("")
      expect(taken.code).toBe(0)
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect(await backUp()).toStrictEqual({
        code: 1,
        stdout: "",
        stderr: `${file} exists already and is not replaced: name another file, or remove that one`
      })
      const ledger = await ledgerOf(world.database())
      const key = await readFile(join(world.dataDir, "vault.key"), "utf8")
      const text = gunzipSync(await readFile(file)).toString("utf8")
      expect(text).not.toContain(key.trim())
      // A call that begins after the backup is not in it, and continues.
      expect((await place(world.baseUrl))?.status).toBe(201)
      expect(
        JSON.parse(
          (await Client.request(`${world.baseUrl}/v1/calls/${id}`, { method: "GET", bearer: tenant.apiKey }))?.body ??
            ""
        )
      ).toMatchObject({ status: "answered" })
      await world.service().kill("SIGKILL")

      const dataDir = join(folder, "data")
      const refused = await restore(dataDir, file, wrongFile)
      expect(refused.code).toBe(1)
      expect(refused.said).toMatch(/^trunkline: the backup cannot be restored: [^\n]*passphrase[^\n]*\n$/)

      const restored = await restore(dataDir, file, passphraseFile)
      expect(restored.said).toMatch(/^restored \d+ rows/)
      expect(restored.code).toBe(0)
      expect(await readFile(join(dataDir, "vault.key"), "utf8")).toBe(key)
      // The store is backed up by its own means, and one file is missing from that backup.
      const [kept, missing] = await recordingsOf(world.dataDir, dataDir)

      const ports = await FreePorts.find()
      const service = Service.start({ dataDir, ports, caFile })
      try {
        await service.ready
        const baseUrl = `http://127.0.0.1:${ports.http}`
        const call = await Client.request(`${baseUrl}/v1/calls/${id}`, { method: "GET", bearer: tenant.apiKey })
        expect(JSON.parse(call?.body ?? "")).toMatchObject({
          status: "ended",
          end_reason: "carrier_error",
          rating_status: "rated"
        })
        expect((await place(baseUrl))?.status).toBe(201)
        // The legs of the conference are gone, so it ends with the participants that it had.
        const over = await room(baseUrl, roomId, ({ status }) => status === "completed")
        expect(over).toMatchObject({ host_call_id: hostCallId, participants: [{ id: live.participants[0]?.id }] })
        expect(over.participants[0]?.left_at).not.toBeNull()
        const listed = await recordings(baseUrl, 3)
        expect(listed.map(({ status }) => status)).toStrictEqual(["available", "available", "failed"])
        const linkOf = (name: string) => listed.find(({ id }) => name.startsWith(id))?.download_url ?? null
        expect([await download(baseUrl, linkOf(kept)), await download(baseUrl, linkOf(missing))]).toStrictEqual([
          200, 404
        ])
        expect((await recordings(baseUrl, 3)).map(({ status }) => status).toSorted()).toStrictEqual([
          "available",
          "expired",
          "failed"
        ])
        const database = Database.open(await Database.urlOf(dataDir))
        expect((await ledgerOf(database)).slice(0, ledger.length)).toStrictEqual(ledger)
        expect(await Invariants.ledger(database)).toEqual([])
        const told = await database.query<{ readonly type: string }>(
          "SELECT type FROM event WHERE entity_id = $1 ORDER BY sequence",
          [roomId]
        )
        expect(told.map(({ type }) => type).toSorted()).toStrictEqual([
          "conference.ended",
          "conference.member_joined",
          "conference.member_left",
          "conference.started"
        ])
        await database.close()
        expect(service.faults).toEqual([])
      } finally {
        await service.kill("SIGTERM")
      }
    } finally {
      await world.close()
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)
})
