import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import * as StripeDouble from "../../ports/payment/StripeDouble.ts"
import * as MemoryFolder from "../../support/MemoryFolder.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as Client from "./peer/Client.ts"
import * as Database from "./peer/Database.ts"
import * as Errands from "./load/Errands.ts"
import * as Patience from "./Patience.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as FreePorts from "../../support/network/FreePorts.ts"
import * as Service from "./peer/Service.ts"
import * as Setup from "./Setup.ts"
import * as SpeechServers from "./peer/SpeechServers.ts"

interface Subscription {
  /** The name of the tenant at the receiver. */
  readonly name: string
  readonly id: string
}

export interface Tenant {
  readonly id: string
  readonly apiKey: string
  /** An active number of its own. */
  readonly number: string
  /** A route to the SIP peer; null without one. */
  readonly sipRouteId: string | null
  readonly subscriptions: ReadonlyArray<Subscription>
}

/** A service that is killed and started again, with everything around it that is not: tenants, receiver, database. */
export interface World {
  /** The time of its making on the monotonic clock, in milliseconds. */
  readonly madeAt: number
  readonly baseUrl: string
  readonly dataDir: string
  readonly ports: FreePorts.FreePorts
  readonly client: Client.Client
  readonly receiver: Receiver.Receiver
  /** The service trusts certificates of this authority. */
  readonly authority: TestCertificate.TestAuthority
  readonly tenants: ReadonlyArray<Tenant>
  /** The service that runs, or ran last. */
  readonly service: () => Service.Service
  /** The database of the service that is ready. */
  readonly database: () => Database.Database
  /** Spawns the next process and gives it before it is ready; the last one must have ended. */
  readonly spawn: (crashPoint?: string) => Service.Service
  /** Waits until the spawned process serves, and connects to its database. */
  readonly ready: () => Promise<void>
  /** Asks the operator's door. */
  readonly operate: (operation: string, body: object) => Promise<unknown>
  /** Lets the claims of deliveries run out while no process serves, or does nothing where the test waits for them. */
  readonly endLeases: () => Promise<void>
  /** Faults that any of its processes logged. */
  readonly faults: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export interface Options {
  /** Absent: the embedded Postgres. */
  readonly databaseUrl?: string
  /** Another URL of that database, for these tests; absent: the same one. */
  readonly lookUrl?: string
  /** Absent: `Warn`. */
  readonly logLevel?: string
  /** Whether a request that got 503 is given up instead of being repeated; absent: none is. */
  readonly abandons?: () => boolean
  readonly tenants: number
  /** The test waits until a claim without a process has run out by itself. */
  readonly awaitsLeases?: boolean
  /** Decides which engines fail; absent: `Math.random`. */
  readonly random?: () => number
  /** UDP port of a SIP peer on 127.0.0.1, which each tenant gets a route to. */
  readonly sipPeerPort?: number
  /** Further variables of the service's environment. */
  readonly settings?: Readonly<Record<string, string>>
  /** The crash point of the first process, counted after its setup. */
  readonly crashPoint?: string
  /** The receiver keeps nothing, and each tenant has one subscription, to everything. */
  readonly lean?: boolean
  /** Its data are in memory where the machine has a file system for that: a stalling disk is not measured. */
  readonly inMemory?: boolean
}

/** The prices of work, in micro-USD. */
const prices = { recording: 12_000, transcription: 25_000, machine_detection: 7_000 }

const all = ["*"]
const startAndEnd = ["call.started", "call.ended"]

export const make = async (options: Options): Promise<World> => {
  const memory = options.inMemory === true ? MemoryFolder.find() : null
  const folder = await mkdtemp(join(memory ?? tmpdir(), "trunkline-crash-"))
  // As root the Postgres in it belongs to another user.
  await chmod(folder, 0o711)
  const authority = TestCertificate.makeAuthority()
  const caFile = join(folder, "ca.pem")
  await writeFile(caFile, authority.cert)
  const receiver = await Receiver.start(authority.issue(["127.0.0.1"]), options.lean !== true)
  const speech = options.lean === true ? null : await SpeechServers.start(options.random ?? Math.random)
  const scope = Scope.makeUnsafe()
  const cards =
    options.lean === true
      ? null
      : await Effect.runPromise(Scope.provide(StripeDouble.start(authority.issue(["127.0.0.1"])), scope))
  const ports = await FreePorts.find()
  const baseUrl = `http://127.0.0.1:${ports.http}`
  const dataDir = join(folder, "data")

  let service: Service.Service | null = null
  let database: Database.Database | null = null
  const faults: Array<ReadonlyArray<string>> = []
  const tenants: Array<Tenant> = []

  const current = <A>(value: A | null): A => {
    if (value === null) throw new Error("the service was not started")
    return value
  }

  const spawn = (crashPoint?: string): Service.Service => {
    service = Service.start({
      dataDir,
      ports,
      caFile,
      settings: {
        ...speech?.environment,
        ...(cards === null
          ? {}
          : {
              STRIPE_SECRET_KEY: "sk_test_1",
              STRIPE_PUBLISHABLE_KEY: "pk_test_1",
              STRIPE_WEBHOOK_SECRET: StripeDouble.webhookSecret,
              STRIPE_URL: `https://127.0.0.1:${cards.port}`,
              STRIPE_CA_FILE: caFile
            }),
        ...options.settings
      },
      ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
      ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
      ...(crashPoint === undefined ? {} : { crashPoint })
    })
    faults.push(service.faults)
    return service
  }

  const ready = async (): Promise<void> => {
    await current(service).ready
    if (database !== null && options.databaseUrl !== undefined) return
    await database?.close()
    database = Database.open(options.lookUrl ?? options.databaseUrl ?? (await Database.urlOf(dataDir)))
  }

  const operate = (operation: string, body: object): Promise<unknown> =>
    Setup.operate({ port: ports.operator, dataDir }, operation, body)

  const close = async (): Promise<void> => {
    await database?.close()
    // Stops it in order, so that its Postgres goes down with it.
    await service?.kill("SIGTERM")
    await receiver.close()
    speech?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(folder, { recursive: true, force: true })
  }

  const world: World = {
    madeAt: performance.now(),
    baseUrl,
    dataDir,
    ports,
    client: Client.make(baseUrl, options.abandons),
    receiver,
    authority,
    tenants,
    service: () => current(service),
    database: () => current(database),
    spawn,
    ready,
    operate,
    endLeases: async () => {
      if (options.awaitsLeases === true) return
      await current(database).query("UPDATE webhook_delivery SET due_at = now() WHERE status = 'sending'")
    },
    faults: () => faults.flat(),
    close
  }
  try {
    spawn(options.crashPoint)
    await ready()
    await operate("numbers/import", { csv: Errands.csv })
    for (const [kind, micro_usd] of Object.entries(prices)) await operate("prices/set", { kind, micro_usd })
    for (let index = 0; index < options.tenants; index++) tenants.push(await newTenant(world, index, options))
    return world
  } catch (cause) {
    await close()
    throw cause
  }
}

const answerOf = (world: World, path: string, bearer: string | null, body: object | null): Promise<never> =>
  Setup.ask(`${world.baseUrl}${path}`, bearer, body)

/** A tenant with nothing but its key. */
export const signUp = async (world: World, email: string): Promise<Pick<Tenant, "id" | "apiKey">> => {
  const signedUp: { readonly tenant: { readonly id: string }; readonly api_key_plaintext: string } = await answerOf(
    world,
    "/v1/signup",
    null,
    { email, password: "correct horse battery", tenant_name: email, first_name: "Ada", last_name: "Lovelace" }
  )
  return { id: signedUp.tenant.id, apiKey: signedUp.api_key_plaintext }
}

/**
 * A tenant that is signed up, with money and quota for any load, a number, subscriptions, and a route to the SIP peer.
 */
const newTenant = async (world: World, index: number, { lean, sipPeerPort }: Options): Promise<Tenant> => {
  const { apiKey, id } = await signUp(world, `owner${index}@example.com`)
  await world.operate("tenant/credit", { tenant: id, cents: 1_000_000, reason: "crash test" })
  await world.operate("tenant/quota", {
    tenant: id,
    daily_spend_cap_cents: null,
    monthly_spend_cap_cents: null,
    concurrent_call_limit: 10_000
  })
  if (lean !== true)
    await answerOf(world, "/v1/billing/payment-methods", apiKey, { processor_payment_method_id: "pm_card_visa" })
  const subscriptions = [
    await subscribe(world, apiKey, `${index}/all`, all),
    ...(lean === true ? [] : [await subscribe(world, apiKey, `${index}/ends`, startAndEnd)])
  ]
  const route =
    sipPeerPort === undefined
      ? null
      : ((await world.operate("route/add", {
          tenant: id,
          name: "SIP peer",
          host: "127.0.0.1",
          port: sipPeerPort,
          is_default: false
        })) as { readonly id: string })
  const number = `+12025550${150 + index}`
  await answerOf(world, "/v1/numbers/order", apiKey, {
    phone_numbers: [number],
    country_code: "US",
    number_type: "local"
  })
  await untilActive(world, apiKey, number)
  return { id, apiKey, number, sipRouteId: route?.id ?? null, subscriptions }
}

const subscribe = async (
  world: World,
  apiKey: string,
  name: string,
  eventTypes: ReadonlyArray<string>
): Promise<Subscription> => {
  const { id, signing_secret }: { readonly id: string; readonly signing_secret: string } = await answerOf(
    world,
    "/v1/webhook-subscriptions",
    apiKey,
    { target_url: `${world.receiver.baseUrl}/hook/${name}`, event_types: eventTypes }
  )
  world.receiver.knowSecret(name, signing_secret)
  return { name, id }
}

const untilActive = async (world: World, apiKey: string, number: string): Promise<void> => {
  for (const patience = Patience.make(30_000); !patience.isOver(); await delay(100)) {
    const { results }: { readonly results: ReadonlyArray<{ readonly phone_number: string; readonly status: string }> } =
      await answerOf(world, "/v1/numbers", apiKey, null)
    if (results.some(({ phone_number, status }) => phone_number === number && status === "active")) return
  }
  throw new Error(`${number} did not become active`)
}
