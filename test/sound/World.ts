import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:https"
import type { IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { promisify } from "node:util"
import { type WebSocket, WebSocketServer } from "ws"
import * as OwnService from "../../scripts/demo/OwnService.ts"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"
import * as FreePorts from "../support/network/FreePorts.ts"
import * as SeenEvent from "../support/SeenEvent.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Phone from "./Phone.ts"
import * as Timeline from "./Timeline.ts"

const root = new URL("../..", import.meta.url).pathname
const own = "+12025550150"
const withinMs = 20_000

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const until = async <A>(what: string, look: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(10)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`in vain: ${what}`)
}

/** A server at a URL of ours: it gets the socket after the upgrade, or before it. */
export type Server =
  | { readonly type: "webSocket"; readonly connected: (socket: WebSocket) => void }
  | { readonly type: "raw"; readonly upgrade: (request: IncomingMessage, socket: Duplex) => void }

interface Told {
  readonly event_type: string
  readonly data: { readonly [name: string]: unknown; readonly call_id: string }
}

/** The fields of answers that tests read. */
interface Answer {
  readonly id: string
  readonly status: string
  readonly api_key_plaintext: string
  readonly tenant: { readonly id: string }
  readonly legs: ReadonlyArray<{ readonly id: string }>
  readonly results: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly status: string
    readonly call_id: string
    readonly drift: boolean
  }>
  readonly size_bytes: number
}

/**
 * A shared machine stands still now and then without a witness that shows it. A fault of the service recurs in the
 * repetition, and then fails the test.
 */
export const onceMore = { retry: 2 }

/** A call between the service and a phone, identified by its number. */
export interface Line {
  readonly id: string
  readonly number: string
}

export type World = Awaited<ReturnType<typeof start>>

/**
 * The whole service as its users run it: a separate process, its API over HTTP, its webhooks, media and streams over
 * HTTPS, and phones over SIP and RTP on loopback. All calls belong to one tenant.
 */
export const start = async (settings: Readonly<Record<string, string>> = {}) => {
  const folder = await OwnService.makeFolder()
  const authority = TestCertificate.makeAuthority()
  const caFile = join(folder, "ca.pem")
  await writeFile(caFile, authority.cert)
  const ports = await FreePorts.find()
  const service = OwnService.spawnIn(folder, caFile, ports, {
    SIP_CODECS: "G722,PCMU,PCMA,OPUS,L16",
    SIGNUP_CREDIT_CENTS: "1000000",
    ...settings
  })
  const phones = await Phone.start(ports.sip)
  const told: Array<Told> = []
  const faults: Array<string> = []
  const sounds = new Map<string, Uint8Array>()
  const servers = new Map<string, Server>()

  const https = createServer(authority.issue(["127.0.0.1"]), (request, response) => {
    const sound = sounds.get(request.url ?? "")
    if (sound !== undefined) return void response.end(sound)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      response.end()
      const body = Buffer.concat(chunks).toString()
      const fault = SeenEvent.faultOfBody(body)
      if (fault !== null) faults.push(fault)
      // Its shape was just checked.
      told.push(JSON.parse(body) as Told)
    })
  })
  const webSockets = new WebSocketServer({ noServer: true })
  https.on("upgrade", (request, socket, head) => {
    const server = servers.get(request.url ?? "")
    socket.on("error", () => undefined)
    if (server?.type === "raw") return server.upgrade(request, socket)
    webSockets.handleUpgrade(request, socket, head, (connected) => {
      connected.on("error", () => undefined)
      server?.connected(connected)
    })
  })
  https.listen(0, "127.0.0.1")
  await once(https, "listening")
  const httpsPort = (https.address() as AddressInfo).port

  let key = ""
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(method === "POST" ? { "idempotency-key": randomUUID() } : {}),
        ...(key === "" ? {} : { authorization: `Bearer ${key}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    // The test's own expectations check the contents of an answer.
    const json = (text === "" ? {} : JSON.parse(text)) as Answer
    return { status: response.status, json }
  }
  const ask = async (method: string, path: string, body?: object) => {
    const { json, status } = await send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  const operator = async (...words: ReadonlyArray<string>) => {
    const environment = { ...process.env, DATA_DIR: join(folder, "data"), OPERATOR_PORT: String(ports.operator) }
    const ran = promisify(execFile)(process.execPath, ["src/edge/operator/cli.ts", ...words], {
      cwd: root,
      env: environment
    })
    return (await ran).stdout
  }

  await service.ready
  const signedUp = await ask("POST", "/v1/signup", {
    email: "sound@example.com",
    password: "correct horse battery",
    tenant_name: "Sound",
    first_name: "Ada",
    last_name: "Lovelace"
  })
  key = signedUp.api_key_plaintext
  const tenant = signedUp.tenant.id
  const trunk = ["--host", "127.0.0.1", "--port", String(phones.port), "--options", "off"]
  await operator("route", "add", "--tenant", tenant, "--name", "phones", ...trunk, "--default")
  await operator("tenant", "quota", tenant, "--daily", "none", "--monthly", "none", "--concurrent", "1000")
  await ask("POST", "/v1/webhook-subscriptions", { target_url: `https://127.0.0.1:${httpsPort}/`, event_types: ["*"] })
  await ask("POST", "/v1/numbers/order", { phone_numbers: [own], country_code: "US", number_type: "local" })
  await until("the number is ours", async () => {
    const { results } = await ask("GET", "/v1/numbers")
    return results.some(({ status }) => status === "active") ? true : undefined
  })

  const event = (type: string, callId: string) =>
    until(`${type} of ${callId}`, () => {
      if (faults.length > 0) throw new Error(faults.join("\n"))
      return told.find(({ data, event_type }) => event_type === type && data.call_id === callId)?.data
    })
  let numbers = 0
  /** Returns a number that is not in use. */
  const number = (): string => `+49301234${String(++numbers).padStart(4, "0")}`
  const plan = (codec: CodecName, voice: Phone.Voice, more: Partial<Phone.Plan> = {}): Phone.Plan => ({
    codecs: [codec],
    voice,
    ringMs: 50,
    ...more
  })
  const act = (line: Line, verb: string, body: object = {}) => ask("POST", `/v1/calls/${line.id}/actions/${verb}`, body)

  /** Lets a phone call the service, which answers. */
  const callIn = async (plan: Phone.Plan, answer: object = {}): Promise<Line> => {
    const from = number()
    await phones.dial(from, own, plan)
    const { call_id: id } = await until(
      "call.started",
      () => told.find(({ data, event_type }) => event_type === "call.started" && data["from"] === from)?.data
    )
    await act({ id, number: from }, "answer", answer)
    await event("call.answered", id)
    return { id, number: from }
  }
  const witness = await callIn(plan("PCMU", { hz: 3000, dbfs: -40 }))

  return {
    ask,
    send,
    act,
    event,
    operator,
    own,
    plan,
    number,
    sipPort: ports.sip,
    baseUrl: service.baseUrl,
    dataDir: join(folder, "data"),
    phones,
    told,
    callIn,
    /** Calls a phone, which answers. */
    callOut: async (plan: Phone.Plan, more: object = {}): Promise<Line> => {
      const to = number()
      await phones.expect(to, plan)
      const { id } = await ask("POST", "/v1/calls", { from: own, to, ...more })
      await event("call.answered", id)
      return { id, number: to }
    },
    /** Ends the call, for the phone too. */
    hangUp: async (line: Line): Promise<void> => {
      await act(line, "hangup")
      await until("the phone is hung up", async () => ((await phones.state(line.number)).isOver ? true : undefined))
    },
    heard: async (line: Pick<Line, "number">): Promise<Timeline.Sound> => Timeline.of(await phones.heard(line.number)),
    /**
     * How long, in ms, a thread stood still while these phones were in their calls: their packets were late, or a
     * separate call, in which nothing happens, was sent none. The machine may take this much from the sound they
     * receive. How long the service itself delays its calls is measured by the benchmarks.
     */
    stood: async (...lines: ReadonlyArray<Pick<Line, "number">>): Promise<number> => {
      const times = (await Promise.all(lines.map(({ number }) => phones.heard(number)))).flat().map(({ atMs }) => atMs)
      const states = await Promise.all(lines.map(({ number }) => phones.state(number)))
      const quiet = await phones.heard(witness.number)
      const service = Timeline.stood(quiet, Math.min(...times), Math.max(...times))
      return states.reduce((sum, { lateMs }) => sum + lateMs, service)
    },
    /** Serves a file under this name, at a URL of ours. */
    serve: (name: string, bytes: Uint8Array): string => {
      sounds.set(`/${name}`, bytes)
      return `https://127.0.0.1:${httpsPort}/${name}`
    },
    /** Adds a stream server under this name. */
    listen: (name: string, server: Server): string => {
      servers.set(`/${name}`, server)
      return `wss://127.0.0.1:${httpsPort}/${name}`
    },
    /** How long a thread stood still in this time, by the call beside all others. */
    stoodWithin: async (fromMs: number, toMs: number): Promise<number> =>
      Timeline.stood(await phones.heard(witness.number), fromMs, toMs),
    /** Adds a trunk to the tenant; returns its id. */
    route: async (name: string, host: string, port: number): Promise<string> => {
      const where = ["--host", host, "--port", String(port), "--options", "off"]
      await operator("route", "add", "--tenant", tenant, "--name", name, ...where)
      const { results } = await ask("GET", "/v1/connections")
      return results.find((each) => each.name === name)?.id ?? ""
    },
    /** Returns a figure of the service, by its Prometheus name and labels. */
    metric: async (name: string): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${ports.operator}/metrics`)).text()
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1)
      )
    },
    stop: async (): Promise<void> => {
      await phones.stop()
      https.closeAllConnections()
      https.close()
      await service.stop()
    }
  }
}
