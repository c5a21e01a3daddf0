/** The running service with both carriers, and the tools of a row: calls of a tenant, and their far ends. */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { randomUUID } from "node:crypto"
import * as DoorClient from "../../../src/edge/operator/command/DoorClient.ts"
import * as Receiver from "../../crash/support/peer/Receiver.ts"
import * as Service from "../../crash/support/peer/Service.ts"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as FreePorts from "../../support/network/FreePorts.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as Call from "../Call.ts"
import * as Delivered from "./Delivered.ts"
import { type Far, type FarEnds, keyHeader } from "./Far.ts"
import * as Seen from "./Seen.ts"
import * as Servers from "./Servers.ts"
import * as SimulatedFarEnds from "./SimulatedFarEnds.ts"
import * as SipFarEnds from "./SipFarEnds.ts"

export type CarrierName = "simulator" | "sip"

/** A workspace and its key. */
export interface Tenant {
  readonly id: string
  readonly number: string
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<TestServer.Answer>
}

/** The operator's prices: for a minute of recording, of transcription and in a room, and for a detection. */
export const cents = { recording: 2, transcription: 3, machine_detection: 5, conference: 4 } as const

export interface Running {
  /** Sends a request with any key, or none. */
  readonly ask: (key: string | null, method: string, path: string) => Promise<TestServer.Answer>
  readonly operate: (operation: string, body: object) => Promise<unknown>
  readonly servers: Servers.Servers
  readonly delivered: Delivered.Delivered
  readonly tenant: (carrier: CarrierName) => Promise<Tenant>
  readonly worlds: Readonly<Record<CarrierName, World>>
  readonly peer: SipFarEnds.SipPeer
  /** The violations: in deliveries, and faults that the service logged. */
  readonly faults: () => ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** The view of a row on one carrier. */
export interface World {
  readonly carrier: CarrierName
  readonly running: () => Running
  readonly tenant: Tenant
  readonly seen: Seen.Seen
  readonly ends: FarEnds
}

/** A call and its far end. */
export interface Connected {
  readonly call: Call.Call
  readonly far: Far
}

const host = "127.0.0.1"
let lastNumber = 149

export const start = async (databaseUrl: string): Promise<Running> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-matrix-"))
  await chmod(folder, 0o711)
  const authority = TestCertificate.makeAuthority()
  const caFile = join(folder, "ca.pem")
  await writeFile(caFile, authority.cert)
  const certificate = authority.issue([host])
  const [receiver, servers, peer, ports] = await Promise.all([
    Receiver.start(certificate),
    Servers.start(certificate),
    SipFarEnds.start(),
    FreePorts.find()
  ])
  const dataDir = join(folder, "data")
  const service = Service.start({
    dataDir,
    ports,
    caFile,
    databaseUrl,
    settings: {
      SIGNUP_CREDIT_CENTS: "1000000",
      TTS_URL: servers.speechUrl,
      STT_VOSK_URL: servers.voskUrl,
      // These are below the ports that systems assign by themselves.
      RTP_PORT_MIN: "20000",
      RTP_PORT_MAX: "29999"
    }
  })
  await service.ready
  peer.serve(ports.sip)
  const delivered = Delivered.to(receiver)
  const operate = (operation: string, body: object) =>
    DoorClient.ask({ OPERATOR_PORT: String(ports.operator), DATA_DIR: dataDir }, operation, body)
  for (const [kind, price] of Object.entries(cents)) await operate("prices/set", { kind, micro_usd: price * 10_000 })
  let tenants = 0

  const tenant = async (carrier: CarrierName): Promise<Tenant> => {
    const name = `matrix-${++tenants}`
    let key: string | null = null
    // On a busy machine a request may time out while it waits for its turn; then it had no effect.
    const ask: Tenant["ask"] = async (method, path, body, headers = {}) => {
      for (let tries = 1; ; tries++) {
        const answer = await TestServer.send(ports.http, method, path, {
          key,
          headers,
          ...(body === undefined ? {} : { body })
        })
        if (answer.status !== 503 || tries === 5) return answer
      }
    }
    const done = async <A>(method: string, path: string, body?: unknown): Promise<A> => {
      const answer = await ask(method, path, body)
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer.json as A
    }
    const signedUp = await done<{ readonly tenant: { readonly id: string }; readonly api_key_plaintext: string }>(
      "POST",
      "/v1/signup",
      {
        email: `${name}@example.com`,
        password: "correct horse battery",
        tenant_name: name,
        first_name: "Ada",
        last_name: "Lovelace"
      }
    )
    const { id } = signedUp.tenant
    key = signedUp.api_key_plaintext
    await operate("tenant/quota", {
      tenant: id,
      daily_spend_cap_cents: null,
      monthly_spend_cap_cents: null,
      concurrent_call_limit: 1000
    })
    if (carrier === "sip")
      await operate("route/add", {
        tenant: id,
        name: "peer",
        host,
        port: peer.port,
        is_default: true,
        is_qualified: false
      })
    const hook = await done<{ readonly signing_secret: string }>("POST", "/v1/webhook-subscriptions", {
      target_url: `${receiver.baseUrl}/hook/${name}`,
      event_types: ["*"]
    })
    receiver.knowSecret(name, hook.signing_secret)
    const number = `+12025550${++lastNumber}`
    await done("POST", "/v1/numbers/order", { phone_numbers: [number], country_code: "US", number_type: "local" })
    await delivered.all.next(
      `the order of ${number}`,
      ({ data, event_type }) => event_type === "number_order.completed" && JSON.stringify(data).includes(number)
    )
    return { id, number, ask }
  }

  let worlds: Running["worlds"] | null = null
  const running: Running = {
    ask: (key, method, path) => TestServer.send(ports.http, method, path, { key }),
    operate,
    servers,
    delivered,
    tenant,
    peer,
    get worlds() {
      if (worlds === null) throw new Error("it has not started")
      return worlds
    },
    faults: () => [...receiver.violations, ...delivered.faults, ...service.faults],
    stop: async () => {
      await service.kill("SIGTERM")
      await receiver.close()
      servers.close()
      peer.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
  const world = async (carrier: CarrierName, ends: FarEnds): Promise<World> => ({
    carrier,
    running: () => running,
    tenant: await tenant(carrier),
    seen: Seen.make(),
    ends
  })
  const [simulator, sip] = await Promise.all([
    tenant("simulator").then((partner) =>
      world("simulator", SimulatedFarEnds.make(partner, delivered, servers.soundUrl("tone")))
    ),
    world("sip", peer)
  ])
  worlds = { simulator, sip }
  return running
}

/** Places a call to this number, without control of the far end. */
export const dial = async (world: World, to: string, body: object = {}): Promise<Call.Call> =>
  Call.placed(world, { from: world.tenant.number, to, customer_reference: "a row", ...body })

/** Places a call to a far end that waits with it. */
export const place = async (world: World, body: object = {}): Promise<Connected> => {
  const key = randomUUID()
  const headers = [{ name: keyHeader, value: key }]
  const placing = dial(world, world.ends.number, { custom_headers: headers, ...body })
  const [call, far] = await Promise.all([placing, world.ends.offered(key)])
  return { call, far }
}

/** Places a call that its far end answers. */
export const answered = async (world: World, body: object = {}): Promise<Connected> => {
  const connected = await place(world, body)
  await connected.far.answer()
  await connected.call.event("call.answered")
  return connected
}

/** A call from a far end, which waits for an answer. */
export const offered = async (world: World): Promise<Connected> => {
  const key = randomUUID()
  const from = world.ends.call(world.tenant.number, key)
  const started = await world
    .running()
    .delivered.all.next(
      `call.started of ${key}`,
      ({ data, event_type }) =>
        event_type === "call.started" &&
        data["direction"] === "inbound" &&
        data["to"] === world.tenant.number &&
        JSON.stringify(data["custom_headers"]).includes(key)
    )
  return { call: Call.of(world, String(started.data["call_id"])), far: await from }
}

/** A call from a far end that is answered. */
export const talking = async (world: World, body: object = {}): Promise<Connected> => {
  const connected = await offered(world)
  await connected.call.act("answer", body)
  await connected.call.event("call.answered")
  return connected
}

/** Two bridged calls, each with its far end. */
export const bridged = async (world: World): Promise<readonly [Connected, Connected]> => {
  const [one, other] = await Promise.all([answered(world), answered(world)])
  await one.call.act("bridge", { leg_id: await other.call.legId() })
  await Promise.all([one.call.event("call.bridged"), other.call.event("call.bridged")])
  return [one, other]
}
