import { Effect, Exit, Scope } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import * as StripeDouble from "../../../ports/payment/StripeDouble.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"
import * as FreePorts from "../../../support/network/FreePorts.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"
import * as Patience from "../Patience.ts"
import * as Database from "../peer/Database.ts"
import type * as Service from "../peer/Service.ts"

/** A service that takes cards at Stripe's double, its tenants, and checks of the ledger and of the double. */
export type CardStage = Awaited<ReturnType<typeof make>>

export interface Answer {
  readonly status: number
  readonly body: {
    readonly id?: string
    readonly status?: string
    readonly client_secret?: string | null
    readonly api_key_plaintext?: string
    readonly tenant?: { readonly id: string }
    readonly error?: { readonly code: string }
    readonly received?: boolean
  }
}

export interface Tenant {
  readonly id: string
  readonly key: string
}

/** The faults of a processor that answers wrongly. A lost answer is listed twice because networks lose more of them. */
const faults: ReadonlyArray<StripeDouble.Fault> = [
  "lose_answer",
  "lose_answer",
  "lose_request",
  "refuse",
  "refuse_request",
  "late",
  "other_amount",
  "twice"
]

/** Waits for an end state. A failed question is asked again. */
export const until = async (what: () => Promise<boolean>, withinMs = 60_000): Promise<void> => {
  const patience = Patience.make(withinMs)
  let cause: unknown = null
  while (
    !(await what().catch((error: unknown) => {
      cause = error
      return false
    }))
  ) {
    if (patience.isOver()) throw new Error(`it did not come to that: ${what.toString()}`, { cause })
    await delay(200)
  }
}

/** `databaseUrl` leads over the service's network, `lookUrl` over that of these tests. */
export const make = async (of: { readonly databaseUrl: string; readonly lookUrl: string }) => {
  const scope = Scope.makeUnsafe()
  const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  const dataDir = await scoped(DataDirectory.make)
  const authority = TestCertificate.makeAuthority()
  const double = await scoped(StripeDouble.start(authority.issue(["127.0.0.1"])))
  const caFile = join(dataDir, "processor.pem")
  await writeFile(caFile, authority.cert)
  const database = Database.open(of.lookUrl)
  const ports = await FreePorts.find()
  const options: Service.Options = {
    dataDir,
    databaseUrl: of.databaseUrl,
    ports,
    caFile,
    settings: {
      STRIPE_SECRET_KEY: "sk_test_1",
      STRIPE_PUBLISHABLE_KEY: "pk_test_1",
      STRIPE_WEBHOOK_SECRET: StripeDouble.webhookSecret,
      STRIPE_URL: `https://127.0.0.1:${double.port}`,
      STRIPE_CA_FILE: caFile
    }
  }

  const ask = async (
    method: string,
    path: string,
    asked: { readonly key?: string; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {}
  ): Promise<Answer> => {
    const { body, headers, key } = asked
    const response = await fetch(`http://127.0.0.1:${ports.http}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) }
  }

  const operator = async (operation: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const token = (await readFile(join(dataDir, "operator.token"), "utf8")).trim()
    const response = await fetch(`http://127.0.0.1:${ports.operator}/operator/${operation}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return (await response.json()) as Readonly<Record<string, unknown>>
  }

  let count = 0
  /** The top-ups that were answered with 402. */
  const declined: Array<string> = []
  return {
    double,
    database,
    options,
    ask,
    operator,
    /** Delivers the double's event to the service. */
    event: (payload: string, headers = double.signed(payload)) =>
      ask("POST", "/v1/billing/webhooks/stripe", { body: payload, headers }),
    /** A tenant with this card, and with the trial credit of 500 cents. */
    tenant: async (card: string): Promise<Tenant> => {
      const request = {
        email: `payer${++count}@example.com`,
        password: "correct horse battery",
        tenant_name: "Payer",
        first_name: "Ada",
        last_name: "Lovelace"
      }
      let answer = await ask("POST", "/v1/signup", { body: request })
      // A busy machine answers 503 to a sign-up that waited too long for its turn, which has no effect.
      await until(async () => {
        if (answer.status === 503) answer = await ask("POST", "/v1/signup", { body: request })
        return answer.status !== 503
      })
      if (answer.status !== 201) throw new Error(`the sign-up was refused: ${JSON.stringify(answer)}`)
      const { body } = answer
      const made = { id: body.tenant?.id ?? "", key: body.api_key_plaintext ?? "" }
      const saved = await ask("POST", "/v1/billing/payment-methods", {
        key: made.key,
        body: { processor_payment_method_id: card }
      })
      if (saved.status !== 201) throw new Error(`the card was not saved: ${JSON.stringify(saved)}`)
      return made
    },
    topUp: async ({ key }: Tenant, cents: number, idempotencyKey: string): Promise<Answer> => {
      const answer = await ask("POST", "/v1/billing/topup", {
        key,
        body: { amount_cents: cents },
        headers: { "idempotency-key": idempotencyKey }
      })
      if (answer.status === 402) declined.push(`${idempotencyKey}: ${JSON.stringify(answer.body)}`)
      return answer
    },
    /** Some of the next requests get wrong answers, or none; so do some of the looks that follow. */
    misbehave: (random: () => number, requests: number): void => {
      for (let n = 0; n < requests; n++)
        if (random() < 0.6) double.faults.push(faults[Math.floor(random() * faults.length)] ?? "lose_answer")
      double.refusedLooks += Math.floor(random() * 4)
    },
    /** The processor answers well again. */
    behave: (): void => {
      double.faults.length = 0
      double.refusedLooks = 0
    },
    balanceOf: async ({ id }: Tenant): Promise<number> => {
      const [row] = await database.query<{ cents: string }>(
        `SELECT balance_cents AS cents FROM balance WHERE tenant_id = '${id}'`
      )
      return Number(row?.cents)
    },
    intentOf: (attemptId: string | undefined) =>
      [...double.intents.values()].filter((intent) => intent.metadata["attempt"] === attemptId),
    /** The entries of the ledger that do not add up, and the sum of its card payments. */
    ledger: async (): Promise<{ readonly wrong: number; readonly cards: number }> => {
      const [row] = await database.query<{ wrong: string; cards: string }>(`
        SELECT (SELECT count(*) FROM (SELECT balance_after_cents,
            sum(amount_cents) OVER (PARTITION BY tenant_id ORDER BY ordinal) AS sum FROM ledger) l
            WHERE sum <> balance_after_cents) AS wrong,
          (SELECT coalesce(sum(amount_cents), 0) FROM ledger
            WHERE type IN ('topup', 'auto_recharge') OR reference_type = 'topup') AS cards`)
      return { wrong: Number(row?.wrong), cards: Number(row?.cards) }
    },
    /** Attempts that were charged twice, or failed and were charged; and top-ups with 402, which no card here gets. */
    wrongs: async (): Promise<ReadonlyArray<string>> => {
      const failed = await database.query<{ id: string }>(`SELECT id FROM payment_attempt WHERE status = 'failed'`)
      const isCharged = ({ id }: { readonly id: string }) =>
        [...double.intents.values()].some(
          ({ metadata, status }) => metadata["attempt"] === id && status === "succeeded"
        )
      const paid = [...double.intents.values()].filter(({ status }) => status === "succeeded")
      const twice = [...Map.groupBy(paid, ({ metadata }) => metadata["attempt"] ?? "")].filter(
        ([, intents]) => intents.length > 1
      )
      return [
        ...twice.map(([attempt]) => `charged twice: ${attempt}`),
        ...declined.map((of) => `declined: ${of}`),
        ...failed.filter(isCharged).map(({ id }) => `failed, and charged: ${id}`)
      ]
    },
    isCredited: (attemptId: string | undefined) => async () =>
      (await database.query(`SELECT FROM ledger WHERE cause = 'topup:${attemptId}'`)).length === 1,
    hasMoved: (cause: string) => async () =>
      (await database.query(`SELECT FROM ledger WHERE cause = '${cause}'`)).length === 1,
    /** How many attempts and refunds are under way. */
    pending: async (): Promise<number> => {
      const [row] = await database.query<{ n: string }>(`
        SELECT (SELECT count(*) FROM payment_attempt WHERE status = 'pending')
          + (SELECT count(*) FROM payment_refund WHERE status = 'pending') AS n`)
      return Number(row?.n)
    },
    /** Makes postponed work due at once. */
    hurry: async (): Promise<void> => {
      await database.query(`UPDATE job SET due_at = now()
        WHERE kind LIKE 'funding.%' AND kind <> 'funding.reconcile' AND leased_by IS NULL AND failed_at IS NULL`)
    },
    close: async (): Promise<void> => {
      await database.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
