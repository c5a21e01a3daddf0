/** The whole HTTP surface on a free port, over fake doors that record what reached them. */
import { Effect, Layer, Stream } from "effect"
import { request } from "node:http"
import { connect } from "node:net"
import { Accounts } from "../../../src/money/account/Account.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import { AuditLog } from "../../../src/runtime/audit/AuditLog.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import * as Id from "../../../src/domain/Id.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import { Drawing, Invoices } from "../../../src/money/invoice/Invoice.ts"
import { Plans } from "../../../src/money/plan/Plan.ts"
import { Proofs } from "../../../src/money/proof/Proof.ts"
import { type CallFile, Calls } from "../../../src/telephony/call/Call.ts"
import type { Call } from "../../../src/telephony/call/CallView.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import { Trunks } from "../../../src/numbers/trunk/Trunk.ts"
import { Egress } from "../../../src/ports/egress/Egress.ts"
import { Authenticator } from "../../../src/edge/http/request/Authenticator.ts"
import { ClientAddress, type Trust } from "../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../src/edge/http/request/RateLimit.ts"
import * as Server from "../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import { Funding } from "../../../src/money/funding/Funding.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import { Porting } from "../../../src/numbers/porting/Porting.ts"
import { Transcriptions } from "../../../src/telephony/transcription/Transcription.ts"
import { Recognizer } from "../../../src/ports/speech/Recognizer.ts"
import { Team } from "../../../src/tenancy/team/Team.ts"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import { receipt, type Rendered, type Slot } from "../../../src/runtime/idempotency/Slot.ts"
import type { Receipt } from "../../../src/runtime/store/journal/Journal.ts"
import * as Documented from "./Documented.ts"
import { Usages } from "../../../src/money/usage/Usage.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import { type RecordingRow, Recordings } from "../../../src/telephony/recording/Recording.ts"
import * as MemoryStorage from "../../support/fake/MemoryStorage.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"

export const tenantA = Id.deriveUuid("a", "tenant")
const tenantB = Id.deriveUuid("b", "tenant")

/** Credentials of the fake authenticator. */
const keys: Readonly<Record<string, { readonly tenantId: Id.TenantId; readonly scopes: ReadonlyArray<string> }>> = {
  svc_live_a: { tenantId: tenantA, scopes: ["*"] },
  svc_live_b: { tenantId: tenantB, scopes: ["*"] },
  svc_live_reader: { tenantId: tenantA, scopes: ["calls:read"] }
}

export const callOfA = Id.derive("call of a", "call")

export const call = (id: Id.CallId): Call => ({
  id,
  direction: "outbound",
  status: "initiated",
  from: "+12025550150",
  to: "+12025550100",
  caller_name: null,
  diversion: [],
  attestation: null,
  route_id: Id.derive("route", "route"),
  initiated_at: "2026-01-01T00:00:00.000Z",
  answered_at: null,
  ended_at: null,
  duration_seconds: 0,
  end_reason: null,
  end_initiator: null,
  why: null,
  customer_reference: null,
  cost_cents: null,
  rating_status: "pending",
  legs: [],
  recordings: []
})

export class World {
  readonly receipts: Array<Receipt> = []
  /** The arguments of every `place`, `act` and `list` that reached the door. */
  readonly reached: Array<{ readonly door: string; readonly args: ReadonlyArray<unknown> }> = []
  readonly suspended = new Set<string>()
  readonly closed = new Set<string>()
  /** Replaces the next place or act. */
  next: Effect.Effect<void, ApiError> = Effect.void
  calls = 0
  /** The portions of `calls.csv`. */
  whole: Stream.Stream<ReadonlyArray<CallFile.Record>> = Stream.empty
  readonly storage = MemoryStorage.make()
  /** The recording to which a link leads. */
  linked: (link: { readonly file: string }) => RecordingRow | null = () => null

  readonly done = (slot: Slot | null, rendered: Rendered): Rendered => {
    const row = receipt(slot, rendered, 0)
    if (row !== null) this.receipts.push({ ...row, at: Date.now() })
    return rendered
  }
}

const owned = (tenantId: Id.TenantId, id: Id.CallId) =>
  tenantId === tenantA && id === callOfA
    ? Effect.succeed(call(id))
    : Effect.fail(ApiError.of("not_found", "no such call"))

const fakeCalls = (world: World) =>
  Layer.succeed(
    Calls,
    Calls.of({
      place: (...args) =>
        Effect.gen(function* () {
          world.reached.push({ door: "place", args })
          yield* world.next
          const body = JSON.stringify(call(Id.derive(`placed ${++world.calls}`, "call")))
          return world.done(args[2], { status: 201, body })
        }),
      dialIn: () => Effect.fail(ApiError.of("not_found", "there are no conferences")),
      candidate: () => Effect.fail(ApiError.of("not_found", "there are no conferences")),
      tellRoom: () => Effect.void,
      onRoomAnswer: () => Effect.void,
      allows: (tenantId, callId) => Effect.asVoid(owned(tenantId, callId)),
      act: (...args) =>
        Effect.gen(function* () {
          const found = yield* owned(args[0].tenantId, args[1])
          world.reached.push({ door: "act", args })
          yield* world.next
          return world.done(args[3], { status: 200, body: JSON.stringify(found) })
        }),
      streams: (tenantId, callId) => Effect.as(owned(tenantId, callId), []),
      machineDetection: (tenantId, callId) =>
        Effect.andThen(
          owned(tenantId, callId),
          Effect.fail(ApiError.of("not_found", "the call was not placed with machine detection"))
        ),
      find: owned,
      list: (...args) =>
        Effect.sync(() => {
          world.reached.push({ door: "list", args })
          const [tenantId, , window] = args
          const all =
            tenantId === tenantA ? Array.from({ length: 45 }, (_, index) => call(Id.derive(`${index}`, "call"))) : []
          const from = window.after === undefined ? window.offset : Number(window.after)
          const to = from + window.limit
          return { count: all.length, results: all.slice(from, to), next: to < all.length ? String(to) : null }
        }),
      whole: () => Effect.sync(() => world.whole),
      ended: () => Effect.succeed(Stream.empty),
      recover: Effect.succeed(0),
      awaiting: () => Effect.succeed([]),
      liveCount: Effect.succeed(0),
      drain: () => Effect.void,
      hangUp: () => Effect.die(new Error("not asked for")),
      endAll: () => Effect.succeed({ ended: 0, refused: [] })
    })
  )

export const routeOfA = Id.derive("route of a", "route")

const connection = {
  id: routeOfA,
  name: "main",
  is_default: true,
  status: "active",
  created_at: "2026-01-01T00:00:00.000Z"
} as const

const fakeConnections = Layer.mock(Trunks)({
  list: (tenantId, window) =>
    Effect.succeed({
      count: tenantId === tenantA ? 1 : 0,
      results: tenantId === tenantA && window.offset === 0 ? [connection] : [],
      next: null
    }),
  find: (tenantId, id) =>
    tenantId === tenantA && id === routeOfA
      ? Effect.succeed(connection)
      : Effect.fail(ApiError.of("not_found", "no such connection"))
})

export const subscriptionOfA = Id.derive("subscription of a", "sub")

const subscription = {
  id: subscriptionOfA,
  target_url: "https://hook.example",
  event_types: ["*"],
  description: null,
  connection_id: null,
  is_active: true,
  created_at: "2026-01-01T00:00:00.000Z"
}

const fakeWebhooks = (world: World) => {
  const found = (tenantId: Id.TenantId, id: string) =>
    tenantId === tenantA && id === subscriptionOfA
      ? Effect.succeed(subscription)
      : Effect.fail(ApiError.of("subscription_not_found", "no such webhook subscription"))
  const reach = (door: string, ...args: ReadonlyArray<unknown>) =>
    Effect.andThen(
      Effect.sync(() => void world.reached.push({ door, args })),
      Effect.suspend(() => world.next)
    )
  return Layer.succeed(
    Webhooks,
    Webhooks.of({
      create: (...args) =>
        Effect.map(reach("webhooks.create", ...args), () => {
          const body = JSON.stringify({ ...subscription, signing_secret: "whsec_x" })
          return world.done(args[2], { status: 201, body })
        }),
      list: (tenantId, window) =>
        Effect.succeed(
          tenantId === tenantA && window.offset === 0
            ? { count: 1, results: [subscription], next: null }
            : { count: 0, results: [], next: null }
        ),
      find: found,
      // These are not part of the tenants' API.
      wants: () => Effect.die("nobody asks"),
      enable: () => Effect.die("nobody asks"),
      disable: () => Effect.die("nobody asks"),
      secretOf: (tenantId, id) =>
        Effect.andThen(found(tenantId, id), ApiError.of("signing_secret_unavailable", "shown once")),
      update: (...args) =>
        Effect.gen(function* () {
          const view = yield* found(args[0].tenantId, args[1])
          yield* reach("webhooks.update", ...args)
          return world.done(args[3], { status: 200, body: JSON.stringify(view) })
        }),
      remove: (...args) =>
        Effect.gen(function* () {
          yield* found(args[0].tenantId, args[1])
          yield* reach("webhooks.remove", ...args)
          return world.done(args[2], { status: 204, body: null })
        }),
      resend: () => Effect.die("nobody asks"),
      redeliver: () => Effect.fail(ApiError.of("not_found", "no such webhook delivery")),
      redeliverRange: (...args) =>
        Effect.gen(function* () {
          yield* found(args[0].tenantId, args[1])
          yield* reach("webhooks.redeliverRange", ...args)
          return world.done(args[3], { status: 202, body: "{}" })
        }),
      test: (...args) =>
        Effect.gen(function* () {
          yield* found(args[0].tenantId, args[1])
          yield* reach("webhooks.test", ...args)
          return world.done(args[2], { status: 202, body: "{}" })
        }),
      deliveries: (...args) =>
        Effect.sync(() => {
          world.reached.push({ door: "webhooks.deliveries", args })
          return { count: 0, results: [], next: null }
        })
    })
  )
}

/** Doors that no test here opens: a foreign or malformed request must not get that far. */
const untouched = Layer.mergeAll(
  Layer.mock(Accounts)({
    opening: () => {
      throw new Error("no account opens in these tests")
    },
    onStatus: () => {}
  }),
  Layer.mock(ApiKeys)({}),
  Layer.mock(Billing)({}),
  Layer.mock(AuditLog)({}),
  Layer.mock(Proofs)({}),
  Layer.mock(Plans)({}),
  Layer.mock(Usages)({}),
  Layer.mock(Invoices)({}),
  Layer.mock(Drawing)({}),
  Layer.mock(Numbers)({}),
  Layer.mock(Funding)({}),
  Layer.mock(Transcriptions)({ find: () => Effect.fail(ApiError.of("not_found", "this call has no transcription")) }),
  Layer.mock(Tenants)({}),
  Layer.mock(Team)({}),
  Layer.mock(Conferences)({})
)

const fakePorting = (world: World) =>
  Layer.mock(Porting)({
    addDocument: (...args) =>
      Effect.suspend(() => {
        world.reached.push({ door: "porting.addDocument", args })
        return Effect.fail(ApiError.of("unprocessable", "the file is no PDF"))
      })
  })

const fakeRecordings = (world: World) =>
  Layer.mock(Recordings)({
    find: () => Effect.fail(ApiError.of("not_found", "no such recording")),
    list: () => Effect.succeed({ count: 0, results: [], next: null }),
    remove: () => Effect.fail(ApiError.of("not_found", "no such recording")),
    linked: (link) => Effect.sync(() => world.linked(link)),
    gone: (id) => Effect.sync(() => void world.reached.push({ door: "recordings.gone", args: [id] }))
  })

const fakeAuthenticator = (world: World) =>
  Layer.succeed(Authenticator, {
    authenticate: (credential, ip) => {
      const key = keys[credential]
      return key === undefined
        ? Effect.fail(ApiError.of("invalid_credentials", "the API key is unknown, revoked or expired"))
        : Effect.succeed({ keyId: Id.deriveUuid(credential, "api_key"), name: credential, ip, member: null, ...key })
    },
    tenantStatus: (tenantId) =>
      Effect.sync(() =>
        world.closed.has(tenantId) ? "closed" : world.suspended.has(tenantId) ? "suspended" : "active"
      )
  })

const fakeEgress = Layer.succeed(Egress, NoEgress.service)

export const layer = (
  world: World,
  options: {
    readonly trust?: Trust
    readonly graceMs?: number
    readonly port?: number
    readonly limits?: Partial<Record<keyof typeof Server.limits, number>>
    readonly baseUrl?: string
  } = {}
) =>
  Server.layer({
    host: "127.0.0.1",
    port: options.port ?? 0,
    graceMs: options.graceMs ?? 2_000,
    limits: options.limits ?? {}
  }).pipe(
    Layer.provide([
      fakeCalls(world),
      fakeConnections,
      untouched,
      fakeWebhooks(world),
      fakeRecordings(world),
      fakePorting(world),
      world.storage.layer,
      fakeAuthenticator(world),
      fakeEgress,
      FakeSpeech.layer,
      Recognizer.none,
      Idempotency.layerMemory(world.receipts),
      ClientAddress.layer(options.trust ?? "none"),
      RateLimit.layer({ signupPerHour: 5 }),
      Layer.succeed(BaseUrl, options.baseUrl ?? "https://api.example.com")
    ])
  )

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly text: string
  readonly json: unknown
}

export interface Asked {
  /** A fake door gives an answer that no real door gives, so the document need not list it. */
  readonly undocumented?: boolean
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends one request on a separate connection. The path and a string body are sent unchanged. */
export const send = (port: number, method: string, path: string, asked: Asked = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const body =
      asked.body === undefined ? undefined : typeof asked.body === "string" ? asked.body : JSON.stringify(asked.body)
    const key = asked.key === undefined ? "svc_live_a" : asked.key
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...asked.headers
        }
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          let json: unknown = null
          try {
            json = JSON.parse(text)
          } catch {
            // An HTML page, or nothing.
          }
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text, json }
          const undocumented = Documented.fault(method, path, answer)
          if (undocumented === null || asked.undocumented === true) resolve(answer)
          else reject(new Error(undocumented))
        })
      }
    )
    outgoing.on("error", reject)
    // The body is sent as bytes, because with text Node would write the headers in its encoding too.
    outgoing.end(body === undefined ? undefined : Buffer.from(body))
  })

/** Sends bytes, and returns everything that comes back until the server closes. */
export const raw = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", reject)
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()))
  })

export const codeOf = (answer: Answer): unknown =>
  (answer.json as { readonly error?: { readonly code?: unknown } } | null)?.error?.code
