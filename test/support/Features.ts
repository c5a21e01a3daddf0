import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Account.ts"
import { Entropy } from "../../src/actor/Entropy.ts"
import { ApiKeys } from "../../src/apikey/ApiKey.ts"
import type { Caller } from "../../src/audit/Audit.ts"
import { AuditLog } from "../../src/audit/AuditLog.ts"
import { Billing } from "../../src/billing/Billing.ts"
import * as Metered from "../../src/boot/Metered.ts"
import * as Onboarded from "../../src/boot/Onboarded.ts"
import { TrunkStates } from "../../src/carrier/TrunkStates.ts"
import { Closings } from "../../src/closing/Closing.ts"
import { Connections } from "../../src/connection/Connection.ts"
import type { TenantId } from "../../src/domain/Id.ts"
import { Egress } from "../../src/egress/Egress.ts"
import { Funding } from "../../src/funding/Funding.ts"
import { Jobs } from "../../src/job/Jobs.ts"
import { Letters } from "../../src/letter/Letter.ts"
import * as OfflineLookup from "../../src/lookup/offline/OfflineLookup.ts"
import { Mail, type MailMessage } from "../../src/mail/Mail.ts"
import { Invoices } from "../../src/invoice/Invoice.ts"
import * as PdfThread from "../../src/invoice/pdf/PdfThread.ts"
import { Proofs } from "../../src/proof/Proof.ts"
import { Numbers } from "../../src/number/Number.ts"
import { NumberSupply } from "../../src/number/NumberSupply.ts"
import { Porting } from "../../src/porting/Porting.ts"
import * as DevelopmentPayments from "../../src/payment/development/DevelopmentPayments.ts"
import { Recognizer } from "../../src/speech/Recognizer.ts"
import { Transcriptions } from "../../src/transcription/Transcription.ts"
import { Recordings } from "../../src/recording/Recording.ts"
import { Usages } from "../../src/usage/Usage.ts"
import * as JournalWriter from "../../src/store/JournalWriter.ts"
import { Vault } from "../../src/store/Vault.ts"
import { Team } from "../../src/team/Team.ts"
import { Passwords, Tenants } from "../../src/tenant/Tenant.ts"
import * as MemoryStorage from "./MemoryStorage.ts"
import * as NoEgress from "./NoEgress.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** Every mail of this test file, in order. */
export const mails: Array<MailMessage> = []

const outside = (isReal: boolean) =>
  Layer.mergeAll(
    Layer.succeed(Mail, { isReal, send: (mail) => Effect.sync(() => void mails.push(mail)) }),
    Layer.succeed(Egress, NoEgress.service),
    OfflineLookup.layer
  )

/** The files of recordings of this test file. */
export const storage = MemoryStorage.make()

/** Names that a trunk may have, for the tests to change. */
export const addresses = new Map<string, ReadonlyArray<string>>()

/** Cards of the development processor. */
export const funding = Funding.layer({ minimumCents: 1_000, maximumCents: 500_000 }).pipe(
  Layer.provide(DevelopmentPayments.layer)
)

const layers = (
  trialCreditCents: number,
  label = "features",
  partitions: ReadonlyArray<number> = [0],
  heartbeatMs = 5_000,
  mailIsReal = false,
  numbers: typeof Numbers.layer = Numbers.layer
) => {
  const base = Layer.mergeAll(Proofs.layer, Invoices.layer({ baseUrl: "http://localhost:8080" }), PdfThread.layer).pipe(
    Layer.provideMerge(Letters.layer({ baseUrl: "http://localhost:8080" })),
    Layer.provideMerge(outside(mailIsReal)),
    Layer.provideMerge(Layer.provideMerge(Layer.merge(AuditLog.layer, Usages.layer), Jobs.layer())),
    Layer.provideMerge(storage.layer),
    Layer.provideMerge(TrunkStates.layer),
    Layer.provideMerge(JournalWriter.layer({ partitions, onLost: () => {}, heartbeatMs })),
    Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(7)))),
    Layer.provideMerge(Entropy.layerFixed(label)),
    Layer.orDie
  )
  return Layer.mergeAll(
    Closings.layer,
    Tenants.layer({ baseUrl: "http://localhost:8080" }),
    Team.layer({ baseUrl: "http://localhost:8080" })
  ).pipe(
    Layer.provideMerge(Onboarded.layer),
    Layer.provideMerge(Porting.layer),
    Layer.provideMerge(Layer.mergeAll(numbers, funding, Metered.plans)),
    Layer.provideMerge(Connections.layer({ lookup: (name) => Effect.sync(() => addresses.get(name) ?? []) })),
    Layer.provideMerge(Layer.merge(ApiKeys.layer, Passwords.layer)),
    Layer.provideMerge(Accounts.layer),
    Layer.provideMerge(Billing.layer({ trialCreditCents })),
    Layer.provideMerge(Layer.merge(Transcriptions.layer, Recognizer.none)),
    Layer.provideMerge(Recordings.layer({ baseUrl: "http://localhost:8080", days: { archive: 30, expire: 90 } })),
    Layer.provideMerge(base)
  )
}

/** Every letter that was posted is sent: to `mails`. */
export const lettersSent = Effect.flatMap(Jobs, ({ look }) => look)

/** The token of the newest letter with a link to this address, or of one before it; undefined: there is none. */
export const tokenFor = (email: string, which = -1): string | undefined =>
  mails.flatMap(({ text, to }) => (to.address === email ? (/#([\w-]{43})/.exec(text)?.slice(1) ?? []) : [])).at(which)

/** The features over a client: what a start of the service builds. */
export const started = layers(500)

/** The same for a start that follows another one: what is random differs. */
export const startedAgain = (label: string) => layers(500, label)

/**
 * The same for one of several starts on one database: what is random differs by `label`. It hears of a lost partition by
 * what it writes, not by its heartbeat.
 */
export const startedAs = (label: string, partitions: ReadonlyArray<number>) => layers(500, label, partitions, 600_000)

/** The features where mail reaches people, over a database of their own. */
export const mailing = layers(500, "mailing", [0], 5_000, true).pipe(Layer.provideMerge(TestDatabase.layer))

/** The features with numbers of somebody else than the inventory, over a database of their own. */
export const supplied = (supply: NumberSupply["Service"]) =>
  layers(
    500,
    "supplied",
    [0],
    5_000,
    false,
    Numbers.over.pipe(Layer.provide(Layer.succeed(NumberSupply, supply)))
  ).pipe(Layer.provideMerge(TestDatabase.layer))

/** The features over a database of their own. */
export const layer = started.pipe(Layer.provideMerge(TestDatabase.layer))

let count = 0

/** A new tenant, its first key, and the caller that the key stands for. */
export const newTenant = Effect.fnUntraced(function* (
  fields: { readonly name?: string; readonly email?: string } = {}
) {
  const tenants = yield* Tenants
  const email = fields.email ?? `owner${++count}@example.com`
  const rendered = yield* tenants.signup(request({ email, tenantName: fields.name ?? "Acme" }), "192.0.2.1", null)
  const body = JSON.parse(rendered.body ?? "") as {
    readonly tenant: { readonly id: TenantId }
    readonly api_key_plaintext: string
  }
  const caller = yield* (yield* ApiKeys).authenticate(body.api_key_plaintext, "192.0.2.1")
  return { id: body.tenant.id, plaintext: body.api_key_plaintext, email, caller: caller satisfies Caller }
})

export type NewTenant = Effect.Success<ReturnType<typeof newTenant>>

export const request = (fields: { readonly email: string; readonly tenantName?: string }) => ({
  password: "correct horse battery",
  tenantName: "Acme",
  firstName: "Ada",
  lastName: "Lovelace",
  legalName: null,
  country: null,
  companySize: null,
  industry: null,
  useCase: null,
  webhookFailoverUrl: null,
  ...fields
})

/** Every ledger row as it adds up: `after` of each is the sum so far, and the last is the balance. */
export const ledgerAddsUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [wrong] = yield* sql<{ readonly rows: number; readonly balances: number }>`
    SELECT (SELECT count(*)::int FROM (SELECT balance_after_cents,
        sum(amount_cents) OVER (PARTITION BY tenant_id ORDER BY ordinal) AS sum FROM ledger) l WHERE sum <> balance_after_cents) AS rows,
      (SELECT count(*)::int FROM balance b WHERE balance_cents <>
        (SELECT coalesce(sum(amount_cents), 0) FROM ledger l WHERE l.tenant_id = b.tenant_id)) AS balances`
  return wrong !== undefined && wrong.rows === 0 && wrong.balances === 0
}).pipe(Effect.orDie)
