import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import * as SimulatorCarrier from "../../../src/carrier/simulator/SimulatorCarrier.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import * as ApiKeyHandlers from "../../../src/edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../src/edge/http/request/RateLimit.ts"
import * as Server from "../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import { AudioDecoder } from "../../../src/media/sound/AudioDecoder.ts"
import { AudioSource } from "../../../src/media/sound/AudioSource.ts"
import * as MediaPlaneInline from "../../../src/media/plane/MediaPlaneInline.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as CheapHashing from "../CheapHashing.ts"
import * as FakeSpeech from "../fake/FakeSpeech.ts"
import * as Features from "./Features.ts"
import * as SeenEvent from "../SeenEvent.ts"

/** The service in this process: HTTP, simulated phones as its carriers, and a real clock. */
const media = MediaPlaneInline.layer({
  ports: MediaPlaneInline.noPorts,
  random: () => 1,
  publicAddresses: IpAddress.only("127.0.0.1"),
  mediaTimeoutMs: 60_000,
  maxLegs: 600
}).pipe(Layer.provide(AudioSource.layer), Layer.provide([AudioDecoder.layerInline, FakeSpeech.layer]))

/** The service, from its edge to the journal, with simulated phones; holds these partitions. */
const layers = (
  label: string,
  partitions: ReadonlyArray<number>,
  carriers: typeof Carrier.layer,
  hashing: Layer.Layer<never>
) =>
  Server.layer({ host: "127.0.0.1", port: 0, graceMs: 2_000 }).pipe(
    Layer.provide([
      ApiKeyHandlers.authenticator,
      Idempotency.layer,
      ClientAddress.layer("none"),
      FakeSpeech.layer,
      RateLimit.layer({ signupPerHour: 50 }),
      Layer.succeed(BaseUrl, "https://api.example.com")
    ]),
    Layer.provideMerge(SimulatorCarrier.layer.pipe(Layer.provide(media))),
    Layer.provideMerge(
      Layer.merge(
        Conferences.layer({ wantsSpeaking: () => Effect.succeed(true) }).pipe(
          Layer.provideMerge(Calls.layer({ maxCallSecs: 3600 }))
        ),
        Webhooks.layer({ ownsConnection: () => Effect.succeed(true), subscriptionLimit: () => Effect.succeed(50) })
      )
    ),
    Layer.provideMerge(Layer.merge(DialingPermissions.layer, carriers)),
    Layer.provideMerge(Features.startedAs(label, partitions, hashing))
  )

/**
 * `carriers`: a layer between the service and its carriers; `hashing`: the password hashing, `Layer.empty` for the real
 * hash.
 */
export const start = Effect.fnUntraced(function* (
  label: string,
  partitions: ReadonlyArray<number> = [0],
  carriers: typeof Carrier.layer = Carrier.layer,
  hashing: Layer.Layer<never> = CheapHashing.layer
) {
  const context = yield* Layer.build(layers(label, partitions, carriers, hashing))
  const calls = Context.get(context, Calls)
  const { port } = Context.get(context, Server.Listening)
  yield* calls.recover
  yield* Context.get(context, Conferences).recover
  const ask = (key: string, method: string, path: string, body?: unknown) =>
    Effect.promise(() => TestServer.send(port, method, path, { key, body }))
  return { ask, context, liveCalls: calls.liveCount, port }
})
type Started = Effect.Success<ReturnType<typeof start>>

interface Leg {
  readonly id: string
  readonly role: string
  readonly status: string
  readonly bridged_leg_id: string | null
  readonly conference_id: string | null
  readonly end_initiator: string | null
}

/** A call as a client reads it. */
export interface Call {
  readonly id: string
  readonly status: string
  readonly end_reason: string | null
  readonly end_initiator: string | null
  readonly cost_cents: number | null
  readonly legs: ReadonlyArray<Leg>
}

export interface Told {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

let tenants = 0

/** A tenant with a number to call from, its requests and their answers. */
export const tenant = Effect.fnUntraced(function* ({ ask, context }: Started) {
  const sql = yield* SqlClient.SqlClient
  const { id, plaintext: key } = yield* Effect.provide(Features.newTenant(), context)
  const number = `+120255501${50 + tenants++}`
  const order = { phone_numbers: [number], country_code: "US", number_type: "local" }
  yield* ask(key, "POST", "/v1/numbers/order", order)
  // Orders are finished by a job.
  yield* sql`UPDATE phone_number SET status = 'active' WHERE phone_number = ${number}`
  const accounts = Context.get(context, Accounts)
  const balance = (cents: number) =>
    sql`UPDATE balance SET balance_cents = balance_cents + ${cents} WHERE tenant_id = ${id}`.pipe(
      Effect.andThen(accounts.moneyMoved(id)),
      Effect.orDie
    )
  const path = (callId: string) => `/v1/calls/${callId}`
  const find = (callId: string) => Effect.map(ask(key, "GET", path(callId)), ({ json }) => json as Call)
  const until = Effect.fnUntraced(function* (callId: string, reached: (call: Call) => boolean) {
    let call = yield* find(callId)
    for (let waited = 0; !reached(call) && waited < 1_500; waited++) {
      yield* Effect.sleep("10 millis")
      call = yield* find(callId)
    }
    if (!reached(call)) return yield* Effect.die(new Error(`the call stays ${JSON.stringify(call)}`))
    return call
  })
  const placing = (to: string, more: object = {}) => ask(key, "POST", "/v1/calls", { from: number, to, ...more })
  const place = (to: string, more: object = {}) => Effect.map(placing(to, more), ({ json }) => (json as Call).id)
  const act = (callId: string, verb: string, body?: object) =>
    ask(key, "POST", `${path(callId)}/actions/${verb}`, body ?? {})
  /** The events that its webhooks carry, in order, as they are stored. Deliveries are tested elsewhere. */
  const events = Effect.fnUntraced(function* (callId: string) {
    const rows = yield* sql<{ readonly type: string; readonly body: string }>`
      SELECT type, body FROM event WHERE entity_id = ${callId} ORDER BY sequence`
    return rows.map(({ body, type }): Told => {
      SeenEvent.checkBody(body)
      return { type, data: (JSON.parse(body) as { readonly data: Told["data"] }).data }
    })
  })
  return {
    id,
    key,
    number,
    find,
    until,
    placing,
    place,
    act,
    events,
    answered: (to: string) => Effect.tap(place(to), (callId) => until(callId, ({ status }) => status === "answered")),
    /** Status and code of a refusal. */
    refused: (callId: string, verb: string, body: object) =>
      Effect.map(act(callId, verb, body), (answer) => [answer.status, TestServer.codeOf(answer)]),
    /** Waits for the first event of this type, of which `holds` is true. */
    event: Effect.fnUntraced(function* (callId: string, type: string, holds: (event: Told) => boolean = () => true) {
      for (let waited = 0; waited < 1_500; waited++) {
        const found = (yield* events(callId)).find((event) => event.type === type && holds(event))
        if (found !== undefined) return found
        yield* Effect.sleep("10 millis")
      }
      return yield* Effect.die(new Error(`no ${type}`))
    }),
    /** Takes its money away, and gives it back. */
    broke: balance(-100_000),
    paid: balance(100_000)
  }
})
