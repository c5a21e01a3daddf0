import * as CallSetup from "../../../src/telephony/call/machine/CallSetup.ts"
import { Effect, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import * as Database from "../../../src/app/boot/Database.ts"
import * as Features from "../../../src/app/composition/Features.ts"
import * as Foundations from "../../../src/app/composition/Foundations.ts"
import * as NodeEntropy from "../../../src/app/boot/NodeEntropy.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier } from "../../../src/carrier/Carrier.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Egress } from "../../../src/ports/egress/Egress.ts"
import * as ApiKeyHandlers from "../../../src/edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../../src/edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../../src/edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../../src/edge/http/request/RateLimit.ts"
import * as HttpServer from "../../../src/edge/http/Server.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import * as OfflineLookup from "../../../src/ports/lookup/offline/OfflineLookup.ts"
import { Mail } from "../../../src/ports/mail/Mail.ts"
import * as PdfThread from "../../../src/money/invoice/pdf/PdfThread.ts"
import { empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import { Onboarding } from "../../../src/tenancy/tenant/Onboarding.ts"
import * as Signature from "../../../src/webhook/attempt/Signature.ts"
import * as DevelopmentPayments from "../../../src/ports/payment/development/DevelopmentPayments.ts"
import { Recognizer } from "../../../src/ports/speech/Recognizer.ts"
import * as MemoryStorage from "../../support/fake/MemoryStorage.ts"
import { Synthesizer } from "../../../src/ports/speech/Synthesizer.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"
import { RecordingCarrier } from "./RecordingCarrier.ts"

/** An egress that sends nothing, for figures without webhooks. */
export const nowhere = Layer.succeed(Egress, { ...NoEgress.service, refuse: () => null })

const silentMail = Layer.succeed(Mail, { isReal: true, send: () => Effect.void })

const options = {
  baseUrl: "http://127.0.0.1",
  signup: "open" as const,
  maxCallSecs: 14_400,
  signupCreditCents: 100_000_000,
  recordingDays: { archive: 30, expire: 90 },
  payment: { topUp: { minimumCents: 1_000, maximumCents: 500_000 } },
  lookup: () => Effect.succeed([])
}

/** The features as the service composes them, with a carrier that only records. */
export const layer = <E>(url: Redacted.Redacted, egress: Layer.Layer<Egress, E>) => {
  const store = Layer.mergeAll(
    JournalWriter.layer({ partitions: [0], onLost: (error) => console.error(error.message) }),
    Vault.layer(Redacted.make(new Uint8Array(32).fill(1)))
  ).pipe(Layer.provideMerge(Layer.provideMerge(Layer.effectDiscard(Database.migrated), Database.layer({ url }))))
  const world = Layer.mergeAll(
    egress,
    silentMail,
    Carrier.layer,
    OfflineLookup.layer,
    PdfThread.layer,
    Recognizer.none,
    MemoryStorage.make().layer
  )
  return RecordingCarrier.layer.pipe(
    Layer.provideMerge(Features.layer(options)),
    Layer.provide(DevelopmentPayments.layer),
    Layer.provideMerge(Layer.merge(Foundations.accounts(options), Idempotency.layer)),
    Layer.provideMerge(Layer.merge(store, world)),
    Layer.provideMerge(NodeEntropy.layer),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )
}

/** The API on a free port of 127.0.0.1. */
export const http = HttpServer.layer({ host: "127.0.0.1", port: 0, graceMs: 1_000 }).pipe(
  Layer.provide([
    ApiKeyHandlers.authenticator,
    ClientAddress.layer("none"),
    Synthesizer.none,
    RateLimit.layer({ signupPerHour: 5 }),
    Layer.succeed(BaseUrl, "http://127.0.0.1")
  ])
)

export interface Tenant {
  readonly id: Id.TenantId
  readonly keyId: Id.ApiKeyId
  readonly credential: string
  /** The only active number of the tenant. */
  readonly number: string
}

/** A tenant whose calls use the recording carrier, with a number, money, and no cap that the bench could reach. */
export const openTenant = Effect.fnUntraced(function* (index: number) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const onboarding = yield* Onboarding
  const accounts = yield* Accounts
  const at = Date.now()
  const seed = `bench tenant ${index}`
  const id = Id.deriveUuid(seed, "tenant")
  const number = `+1202555${String(index).padStart(4, "0")}`
  const apiKey = yield* Effect.gen(function* () {
    yield* sql`
      INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
      VALUES (${id}, 'Bench', ${`bench-${index}`}, 'active', now(), now())`
    const opened = yield* onboarding.open({ id, at, seed })
    yield* sql`UPDATE route SET adapter = ${RecordingCarrier.adapter} WHERE tenant_id = ${id}`
    yield* sql`
      INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
        upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
      VALUES (${Id.derive(seed, "did")}, ${id}, ${number}, 'US', 'local', 'active', '{}', 0, 0, now(), now())`
    yield* journal.commitWithin({
      ...empty,
      entities: [opened.account],
      money: yield* onboarding.trialWithin({ id, at, seed, identity: seed }),
      audit: opened.audit
    })
    return opened.apiKey
  }).pipe(sql.withTransaction)
  yield* accounts.setQuota(
    id,
    { concurrentCallLimit: 1_000_000, dailySpendCapCents: null, monthlySpendCapCents: null },
    { type: "operator", name: "bench" }
  )
  return { id, keyId: apiKey.id, credential: apiKey.plaintext, number } satisfies Tenant
})

/** A subscription to all events of a tenant. */
export const subscribe = Effect.fnUntraced(function* (tenantId: Id.TenantId, targetUrl: string) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const secret = vault.seal(Signature.secretOf(Buffer.alloc(32, 7)))
  yield* sql`
    INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
    VALUES (${Id.derive(targetUrl, "sub")}, ${tenantId}, ${targetUrl}, '{*}'::text[], ${secret}, true, now())`
})

/** Places `count` calls of a tenant through the door, `concurrency` at a time, and answers them. */
export const answeredCalls = Effect.fnUntraced(function* (tenant: Tenant, count: number, concurrency = 256) {
  const calls = yield* Calls
  const carrier = yield* RecordingCarrier
  const caller = { tenantId: tenant.id, keyId: tenant.keyId, name: "bench", member: null, ip: null }
  const request = {
    from: tenant.number,
    to: "+12025550100",
    routeId: null,
    customerReference: null,
    timeoutSecs: 600,
    timeLimitSecs: null,
    callerIdForwarding: false,
    plan: CallSetup.nothing
  }
  const all = Array.from({ length: count })
  yield* Effect.forEach(all, () => calls.place(caller, request, null), { concurrency, discard: true })
  const legs = carrier.take()
  yield* Effect.forEach(legs, carrier.answered, { concurrency, discard: true })
  return legs
})
