import { describe, expect, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { listen } from "../../scripts/examples/voice-agent.ts"
import * as OwnService from "../../scripts/demo/OwnService.ts"
import * as FreePorts from "../support/network/FreePorts.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"

const root = new URL("../..", import.meta.url).pathname
const own = "+12025550150"
/** A phone that speaks for three seconds, beeps, and is silent. */
const voicemail = "+12025550104"
/** A phone that returns all sound. */
const echo = "+12025550100"

/** A separate service, a tenant with a number, and the sample agent with its webhooks. */
const setup = async () => {
  const folder = await OwnService.makeFolder()
  const authority = TestCertificate.makeAuthority()
  const caFile = join(folder, "ca.pem")
  await writeFile(caFile, authority.cert)
  const ports = await FreePorts.find()
  const service = OwnService.spawnIn(folder, caFile, ports)
  await service.ready
  const ask = async (method: string, path: string, body?: object): Promise<{ readonly [name: string]: string }> => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        ...(key === "" ? {} : { authorization: `Bearer ${key}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  let key = ""
  const signedUp = await ask("POST", "/v1/signup", {
    email: "agent@example.com",
    password: "correct horse battery",
    tenant_name: "Agents",
    first_name: "Ada",
    last_name: "Lovelace"
  })
  key = signedUp["api_key_plaintext"] ?? ""
  await ask("POST", "/v1/numbers/order", { phone_numbers: [own], country_code: "US", number_type: "local" })
  const log: Array<{ readonly at: number; readonly line: string }> = []
  const agent = listen(0, {
    api: service.baseUrl,
    key,
    streamUrl: () => `wss://127.0.0.1:${port}/`,
    tls: authority.issue(["127.0.0.1"]),
    log: (line) => void log.push({ at: performance.now(), line })
  })
  await once(agent, "listening")
  const { port } = agent.address() as AddressInfo
  await ask("POST", "/v1/webhook-subscriptions", { target_url: `https://127.0.0.1:${port}/`, event_types: ["*"] })
  const lines = () => log.map(({ line }) => line)
  return {
    ask,
    lines,
    log,
    until: async (what: string, times = 1) => {
      for (let waited = 0; lines().filter((line) => line === what).length < times; waited += 20) {
        if (waited > 20_000) throw new Error(`in vain: ${what} after ${lines().join(", ")}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    simulateInbound: () =>
      promisify(execFile)(
        process.execPath,
        ["src/edge/operator/cli.ts", "simulate-inbound", "--from", echo, "--to", own],
        {
          cwd: root,
          env: { ...process.env, DATA_DIR: join(folder, "data"), OPERATOR_PORT: String(ports.operator) }
        }
      ),
    stop: async () => {
      agent.closeAllConnections()
      agent.close()
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

describe("The sample voice agent", () => {
  it(
    "greets, is interrupted, answers when the other side is silent, and is heard to the end",
    { timeout: 120_000 },
    async () => {
      const world = await setup()
      try {
        const call = await placed(world)
        await world.until("has said an answer")
        // The voicemail's speech cuts the greeting off, and its mark comes back as cleared.
        expect(world.lines().slice(0, 6)).toEqual([
          "streaming_start 200",
          "says hello",
          "is interrupted",
          "did not finish hello",
          "says an answer",
          "has said an answer"
        ])
        const at = (line: string) => world.log.find((each) => each.line === line)?.at ?? 0
        // Two seconds of sound.
        expect(at("has said an answer") - at("says an answer")).toBeGreaterThan(1900)
        expect(at("has said an answer") - at("says an answer")).toBeLessThan(2600)
        const streams = await world.ask("GET", `/v1/calls/${call}/streamings`)
        expect(streams).toMatchObject({ count: 1, results: [{ status: "active", stream_track: "inbound_track" }] })
        await world.ask("POST", `/v1/calls/${call}/actions/hangup`)

        await world.simulateInbound()
        await world.until("answer 200")
        await world.until("says hello", 2)
        // The phone is an echo: the agent hears itself, and stops.
        await world.until("did not finish hello", 2)
      } finally {
        await world.stop()
      }
    }
  )
})

/** A call to the voicemail; the order of the number may still be unfinished. */
const placed = async (world: Awaited<ReturnType<typeof setup>>): Promise<string> => {
  for (let i = 0; ; i++) {
    try {
      return (await world.ask("POST", "/v1/calls", { from: own, to: voicemail }))["id"] ?? ""
    } catch (error) {
      if (i > 100) throw error
      await new Promise((done) => setTimeout(done, 100))
    }
  }
}
