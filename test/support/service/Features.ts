import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import { ApiKeys } from "../../../src/tenancy/apikey/ApiKey.ts"
import type { Caller } from "../../../src/runtime/audit/Audit.ts"
import * as Features from "../../../src/app/composition/Features.ts"
import * as Foundations from "../../../src/app/composition/Foundations.ts"
import { TrunkStates } from "../../../src/carrier/peer/TrunkStates.ts"
import type { TenantId } from "../../../src/domain/Id.ts"
import { Egress } from "../../../src/ports/egress/Egress.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import * as OfflineLookup from "../../../src/ports/lookup/offline/OfflineLookup.ts"
import { Mail, type MailMessage } from "../../../src/ports/mail/Mail.ts"
import * as PdfThread from "../../../src/money/invoice/pdf/PdfThread.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import { NumberSupply } from "../../../src/numbers/number/order/NumberSupply.ts"
import * as DevelopmentPayments from "../../../src/ports/payment/development/DevelopmentPayments.ts"
import { Recognizer } from "../../../src/ports/speech/Recognizer.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../../src/runtime/store/vault/Vault.ts"
import { type SignupPolicy, Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import * as CheapHashing from "../CheapHashing.ts"
import * as MemoryStorage from "../fake/MemoryStorage.ts"
import * as NoEgress from "../network/NoEgress.ts"
import * as TestDatabase from "../TestDatabase.ts"

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

/** Names that a trunk may have; tests change them. */
export const addresses = new Map<string, ReadonlyArray<string>>()

const options = {
  baseUrl: "http://localhost:8080",
  signup: "open" as SignupPolicy,
  signupCreditCents: 500,
  recordingDays: { archive: 30, expire: 90 },
  payment: { topUp: { minimumCents: 1_000, maximumCents: 500_000 } },
  lookup: (name: string) => Effect.sync(() => addresses.get(name) ?? [])
}

const layers = (
  label = "features",
  partitions: ReadonlyArray<number> = [0],
  heartbeatMs = 5_000,
  mailIsReal = false,
  numbers: typeof Numbers.layer = Numbers.layer,
  payments: typeof DevelopmentPayments.layer = DevelopmentPayments.layer,
  signup: SignupPolicy = "open",
  hashing: Layer.Layer<never> = CheapHashing.layer
) =>
  Features.accounts({ ...options, signup }, numbers).pipe(
    Layer.provide(payments),
    Layer.provideMerge(Foundations.accounts(options)),
    Layer.provideMerge(
      Layer.mergeAll(outside(mailIsReal), PdfThread.layer, Recognizer.none, storage.layer, TrunkStates.layer)
    ),
    Layer.provideMerge(JournalWriter.layer({ partitions, onLost: () => {}, heartbeatMs })),
    Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(7)))),
    Layer.provideMerge(Entropy.layerFixed(label)),
    Layer.provideMerge(hashing),
    Layer.orDie
  )

/** Sends every letter that was posted to `mails`. */
export const lettersSent = Effect.flatMap(Jobs, ({ poll: look }) => look)

/** The token of the newest letter with a link to this address, or of one before it; undefined: there is none. */
export const tokenFor = (email: string, which = -1): string | undefined =>
  mails.flatMap(({ text, to }) => (to.address === email ? (/#([\w-]{43})/.exec(text)?.slice(1) ?? []) : [])).at(which)

/** The features over a client: what a start of the service builds. */
export const started = layers()

/** The same features for a start that follows another one: the random values differ. */
export const startedAgain = (label: string) => layers(label)

/**
 * The same features for one of several starts on one database: the random values differ by `label`. This start learns
 * of a lost partition by its writes, not by its heartbeat. `hashing`: the password hashing, `Layer.empty` for the real
 * one.
 */
export const startedAs = (
  label: string,
  partitions: ReadonlyArray<number>,
  hashing: Layer.Layer<never> = CheapHashing.layer
) => layers(label, partitions, 600_000, false, Numbers.layer, DevelopmentPayments.layer, "open", hashing)

/** The features where mail reaches people, over a database of their own. */
export const mailing = layers("mailing", [0], 5_000, true).pipe(Layer.provideMerge(TestDatabase.layer))

/** The features with another number supply than the inventory, over a database of their own. */
export const supplied = (supply: NumberSupply["Service"]) =>
  layers("supplied", [0], 5_000, false, Numbers.over.pipe(Layer.provide(Layer.succeed(NumberSupply, supply)))).pipe(
    Layer.provideMerge(TestDatabase.layer)
  )

/** The features with another card processor than the development one, over a database of their own. */
export const paidBy = (payments: typeof DevelopmentPayments.layer) =>
  layers("paid by", [0], 5_000, false, Numbers.layer, payments).pipe(Layer.provideMerge(TestDatabase.layer))

/** The features where sign-up is not open, over a database of their own. */
export const signingUp = (signup: SignupPolicy) =>
  layers(signup, [0], 5_000, false, Numbers.layer, DevelopmentPayments.layer, signup).pipe(
    Layer.provideMerge(TestDatabase.layer)
  )

/** The features over a database of their own. */
export const layer = started.pipe(Layer.provideMerge(TestDatabase.layer))

let count = 0

/** A new tenant, its first key, and the caller that the key belongs to. */
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

export const request = (fields: {
  readonly email: string
  readonly tenantName?: string
  readonly invitationToken?: string | null
  readonly password?: string
}) => ({
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
  invitationToken: null,
  ...fields
})

/** Every ledger row as it adds up: its `after` is the sum so far, and the last one is the balance. */
export const ledgerAddsUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [wrong] = yield* sql<{ readonly rows: number; readonly balances: number }>`
    SELECT (SELECT count(*)::int FROM (SELECT balance_after_cents,
        sum(amount_cents) OVER (PARTITION BY tenant_id ORDER BY ordinal) AS sum FROM ledger) l WHERE sum <> balance_after_cents) AS rows,
      (SELECT count(*)::int FROM balance b WHERE balance_cents <>
        (SELECT coalesce(sum(amount_cents), 0) FROM ledger l WHERE l.tenant_id = b.tenant_id)) AS balances`
  return wrong !== undefined && wrong.rows === 0 && wrong.balances === 0
}).pipe(Effect.orDie)
