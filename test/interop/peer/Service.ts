/** The started service and a tenant of it, used as a user does: HTTP API, operator command, webhooks. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomInt, randomUUID } from "node:crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const root = new URL("../../..", import.meta.url).pathname

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1")
  const socket = createSocket("udp4").bind(port, "127.0.0.1")
  const free = await Promise.all([once(server, "listening"), once(socket, "listening")]).then(
    () => true,
    () => false
  )
  for (const each of [server, socket])
    try {
      each.close()
    } catch {
      // The connection never opened.
    }
  return free
}

/** Below the ports that systems assign by themselves, so that no client socket takes it meanwhile. */
const firstPort = 10_000
const lastPort = 19_998
let nextPort = firstPort + 2 * randomInt((lastPort - firstPort) / 2)

/** A port that is free for UDP and TCP, as is the next one (baresip takes that for TLS, SIPp for RTCP). */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = nextPort
    nextPort = port >= lastPort ? firstPort : port + 2
    if ((await isFree(port)) && (await isFree(port + 1))) return port
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks again every 50 ms until it is not `undefined`; rejects after `withinMs`. */
export const eventually = async <A>(
  what: string,
  look: () => A | undefined | Promise<A | undefined>,
  withinMs = 15_000
): Promise<A> => {
  const until = Date.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > until) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(50)
  }
}

/** Ends a process that we started. */
export const end = async (child: ChildProcess, signal: NodeJS.Signals = "SIGTERM", withinMs = 15_000) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, "exit")
  child.kill(signal)
  const killer = setTimeout(() => child.kill("SIGKILL"), withinMs)
  await gone
  clearTimeout(killer)
}

export interface Service {
  readonly baseUrl: string
  readonly sipPort: number
  readonly operatorUrl: string
  /** A folder that is deleted after the tests. */
  readonly folder: string
  /** Runs `npm run operator -- …` and returns its output. */
  readonly operator: (...words: ReadonlyArray<string>) => Promise<string>
  /** Kills the process with -9 and starts a new one on the same data and ports; resolves when that answers. */
  readonly crash: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** A folder that the user of an embedded Postgres can enter, which is another user when this runs as root. */
export const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-interop-"))
  await chmod(folder, 0o755)
  return folder
}

/** Where the service runs, and how the test reaches it. */
export interface Host {
  /** The words before the command that starts a program there. */
  readonly prefix: ReadonlyArray<string>
  /** Makes a TCP port of its loopback reachable at the same port of ours, by a socket in this folder. */
  readonly reach: (port: number, folder: string) => Promise<void>
}

const here: Host = { prefix: [], reach: () => Promise.resolve() }

const program = ({ prefix }: Host, ...words: ReadonlyArray<string>) => {
  const [first = "", ...others] = [...prefix, process.execPath, ...words]
  return [first, others] as const
}

/** Starts a process of the service and waits until it answers. */
const launch = async (environment: NodeJS.ProcessEnv, baseUrl: string, host: Host) => {
  const child = spawn(...program(host, "src/main.ts"), {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: environment
  })
  let said = ""
  const hear = (text: Buffer) => {
    said = (said + text.toString()).slice(-20_000)
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  await eventually(
    "the service answers",
    async () => {
      if (child.exitCode !== null) throw new Error(`the service ended: ${said}`)
      const answer = await fetch(`${baseUrl}/v1/account`).catch(() => undefined)
      return answer !== undefined && answer.status < 500 ? true : undefined
    },
    90_000
  )
  return { child, said: () => said }
}

export const start = async (
  ca: string,
  settings: Readonly<Record<string, string>> = {},
  host = here
): Promise<Service> => {
  const folder = await makeFolder()
  const caFile = join(folder, "ca.pem")
  await writeFile(caFile, ca)
  const [http, operatorPort, sipPort] = [await freePort(), await freePort(), await freePort()]
  const { DATABASE_URL: _database, BASE_URL: _base, ...inherited } = process.env
  const environment = {
    ...inherited,
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(http),
    OPERATOR_PORT: String(operatorPort),
    SIP_HOST: "127.0.0.1",
    SIP_PORT: String(sipPort),
    PUBLIC_ADDRESS: "127.0.0.1",
    RTP_PORT_MIN: "40000",
    RTP_PORT_MAX: "49999",
    DATA_DIR: join(folder, "data"),
    SIGNUP_CREDIT_CENTS: "1000000",
    SIGNUP_LIMIT_PER_HOUR: "1000",
    ALLOW_PRIVATE_TARGETS: "true",
    TARGET_CA_FILE: caFile,
    DRAIN_SECS: "1",
    LOG_LEVEL: "Warn",
    ...settings
  }
  const baseUrl = `http://127.0.0.1:${http}`
  await host.reach(http, folder)
  let running = await launch(environment, baseUrl, host)
  return {
    baseUrl,
    sipPort,
    operatorUrl: `http://127.0.0.1:${operatorPort}`,
    folder,
    crash: async () => {
      await end(running.child, "SIGKILL")
      running = await launch(environment, baseUrl, host)
    },
    stop: async () => {
      await end(running.child)
      const said = running.said()
      if (/ERROR|WARN/.test(said)) process.stderr.write(`the service said:\n${said.slice(-4_000)}\n`)
      await rm(folder, { recursive: true, force: true })
    },
    operator: async (...words) =>
      (
        await promisify(execFile)(...program(host, "src/edge/operator/cli.ts", ...words), {
          cwd: root,
          env: environment
        })
      ).stdout
  }
}

export type Json = Readonly<Record<string, unknown>>

export interface Tenant {
  readonly key: string
  readonly id: string
  /** The body of a 2xx answer; rejects with any other. */
  readonly request: (method: "GET" | "POST", path: string, body?: object) => Promise<Json>
  readonly call: (id: string) => Promise<Json>
  readonly act: (id: string, verb: string, body?: object) => Promise<Json>
}

let signups = 0

/** A new tenant with a number to call from, room for many calls, and a trunk as its default route. */
export const makeTenant = async (
  service: Service,
  trunkPort: number,
  number: string,
  credentials: ReadonlyArray<string> = [],
  trunkHost = "127.0.0.1"
): Promise<Tenant> => {
  let key = ""
  const request: Tenant["request"] = async (method, path, body) => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: {
        ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
        ...(method === "POST" ? { "idempotency-key": randomUUID() } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const answer = (await response.json().catch(() => null)) as Json
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const name = `Interop ${++signups} ${randomUUID().slice(0, 8)}`
  const signedUp = await request("POST", "/v1/signup", {
    email: `${randomUUID()}@example.com`,
    password: randomUUID(),
    tenant_name: name,
    first_name: "Ada",
    last_name: "Lovelace"
  })
  key = String(signedUp["api_key_plaintext"])
  const { id } = signedUp["tenant"] as { readonly id: string }
  // A scripted peer (SIPp) mistakes OPTIONS for a failed call, even one that was sent before it ran.
  const trunk = ["--host", trunkHost, "--port", String(trunkPort), "--options", "off", ...credentials]
  await service.operator("route", "add", "--tenant", id, "--name", "trunk", ...trunk, "--default")
  await service.operator("tenant", "quota", id, "--daily", "none", "--monthly", "none", "--concurrent", "1000")
  await request("POST", "/v1/numbers/order", { phone_numbers: [number], country_code: "US", number_type: "local" })
  await eventually("the number is ours", async () => {
    const { results } = await request("GET", "/v1/numbers")
    return (results as ReadonlyArray<Json>).some((row) => row["status"] === "active") ? true : undefined
  })
  return {
    key,
    id,
    request,
    call: (callId) => request("GET", `/v1/calls/${callId}`),
    act: (callId, verb, body) => request("POST", `/v1/calls/${callId}/actions/${verb}`, body)
  }
}
