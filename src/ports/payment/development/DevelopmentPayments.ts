import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import { type Card, type Intent, type Movement, PaymentError, Payments, type Refund } from "../Payments.ts"
import * as TestCards from "./TestCards.ts"

/** An intent with its outcome, as it is stored. */
interface StoredIntent extends Omit<Intent, "decline"> {
  readonly decline: Intent["decline"]
  readonly at: number
}
interface StoredRefund extends Refund {
  readonly at: number
}
/** A row as a movement needs it. */
type Stored = (StoredIntent | StoredRefund) & { readonly customerId: string | null }

const idOf = (kind: string, ...of: ReadonlyArray<string>) =>
  `${kind}_dev_${hash("sha256", of.join("\u0000"), "hex").slice(0, 24)}`

const refused = (detail: string) => new PaymentError({ reason: "refused", detail })

/**
 * The processor of an installation without keys, guide/money.md#the-development-processor: no money moves, and the
 * cards are Stripe's test cards by their names. It stores every request in the database, so it charges once for a key,
 * as Stripe does, whatever crashes.
 */
export const layer = Layer.effect(
  Payments,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Stores a row of one kind; the same id, or the same key, is the same row. */
    const put = <Body extends { readonly id: string; readonly at: number }>(
      type: "intent" | "refund",
      body: Body,
      of: { readonly key: string; readonly customerId: string | null; readonly attemptId: string | null }
    ) =>
      sql<{ readonly body: Body }>`
        INSERT INTO development_payment (id, type, customer_id, attempt_id, key, body, created_at)
        VALUES (${body.id}, ${type}, ${of.customerId}, ${of.attemptId}, ${of.key}, ${JSON.stringify(body)}::text::jsonb,
          ${timestamptz(body.at)})
        ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING body`.pipe(
        Effect.flatMap(([row]) => (row === undefined ? Effect.fail(unreachable) : Effect.succeed(row.body))),
        Effect.mapError(() => unreachable)
      )
    const unreachable = new PaymentError({ reason: "unknown", detail: "the database is away" })

    const bodies = <Body>(statement: Effect.Effect<ReadonlyArray<{ readonly body: Body }>, unknown>) =>
      Effect.mapBoth(statement, { onSuccess: (rows) => rows.map(({ body }) => body), onFailure: () => unreachable })

    const intentOf = Effect.fnUntraced(function* (id: string) {
      const [found] = yield* bodies(
        sql<{ readonly body: StoredIntent }>`SELECT body FROM development_payment WHERE type = 'intent' AND id = ${id}`
      )
      return found === undefined ? yield* refused("there is no such intent") : found
    })

    const refundsOf = (intentId: string) =>
      bodies(
        sql<{ readonly body: StoredRefund }>`
          SELECT body FROM development_payment
          WHERE type = 'refund' AND body ->> 'intentId' = ${intentId} ORDER BY ordinal`
      )

    const cardOf = (cardId: string): Effect.Effect<TestCards.TestCard, PaymentError> => {
      const card = TestCards.byId(cardId)
      return card === null ? Effect.fail(refused(TestCards.hint)) : Effect.succeed(card)
    }

    return Payments.of({
      name: "development",
      isReal: false,
      keyMark: "development",
      publishableKey: "pk_development",
      createCustomer: ({ key }) => Effect.succeed(idOf("cus", key)),
      customer: () => Effect.succeed("present"),
      setup: (customerId) => {
        const id = idOf("seti", customerId)
        return Effect.succeed({ id, clientSecret: `${id}_secret_development` })
      },
      attach: Effect.fnUntraced(function* ({ cardId, customerId }) {
        const card = yield* cardOf(cardId)
        if (card.refusesAttach)
          return yield* new PaymentError({ reason: "declined", detail: "the card cannot be saved" })
        const { brand, last4, name } = card
        const id = `${name}_dev_${hash("sha256", `${customerId}\u0000${name}`, "hex").slice(0, 16)}`
        const owned = /_dev_/.test(cardId)
        if (owned && cardId !== id) return yield* refused("the card belongs to another customer")
        return { id, customerId, brand, last4, expMonth: 12, expYear: 2034 } satisfies Card
      }),
      detach: () => Effect.void,
      charge: Effect.fnUntraced(function* (of) {
        const card = yield* cardOf(of.cardId)
        const outcome = TestCards.charged(card, of.isOffSession)
        const id = idOf("pi", of.key)
        const intent: StoredIntent = {
          id,
          status: outcome.status,
          customerId: of.customerId,
          amountCents: of.amountCents,
          receivedCents: outcome.status === "succeeded" ? of.amountCents : 0,
          currency: "usd",
          attemptId: of.attemptId,
          clientSecret: `${id}_secret_development`,
          decline: outcome.decline,
          at: Date.now()
        }
        return yield* put("intent", intent, { key: of.key, customerId: of.customerId, attemptId: of.attemptId })
      }),
      find: ({ attemptId }) =>
        Effect.map(
          bodies(
            sql<{ readonly body: StoredIntent }>`
              SELECT body FROM development_payment WHERE type = 'intent' AND attempt_id = ${attemptId}`
          ),
          ([found]) => found ?? null
        ),
      intent: intentOf,
      cancel: Effect.fnUntraced(function* (id) {
        yield* Effect.mapError(
          sql`UPDATE development_payment SET body = body || '{"status": "canceled"}'
              WHERE id = ${id} AND type = 'intent' AND body ->> 'status' = 'requires_action'`,
          () => unreachable
        )
        return yield* intentOf(id)
      }),
      refund: Effect.fnUntraced(function* ({ amountCents, intentId, key, requestId }) {
        const intent = yield* intentOf(intentId)
        const earlier = (yield* refundsOf(intentId)).filter((refund) => refund.requestId !== requestId)
        const left = intent.receivedCents - earlier.reduce((sum, refund) => sum + refund.amountCents, 0)
        if (amountCents > left) return yield* refused("the refund is more than what is left of the charge")
        const refund: StoredRefund = {
          id: idOf("re", key),
          intentId,
          amountCents,
          status: "succeeded",
          requestId,
          at: Date.now()
        }
        return yield* put("refund", refund, { key, customerId: intent.customerId, attemptId: null })
      }),
      refunds: refundsOf,
      dispute: () => Effect.fail(refused("nobody disputes a test card")),
      movements: ({ customerId, sinceMs }) =>
        Effect.map(
          bodies(
            sql<{ readonly body: Stored }>`
              SELECT body || jsonb_build_object('customerId', customer_id) AS body FROM development_payment
              WHERE (${customerId}::text IS NULL OR customer_id = ${customerId})
                AND created_at >= ${timestamptz(sinceMs)} ORDER BY ordinal`
          ),
          (found) =>
            found.flatMap((body): ReadonlyArray<Movement> => {
              const { at, customerId: of, id } = body
              if (!("receivedCents" in body))
                return [
                  {
                    type: "refund",
                    id,
                    intentId: body.intentId,
                    amountCents: -body.amountCents,
                    currency: "usd",
                    customerId: of,
                    attemptId: null,
                    at
                  }
                ]
              const { attemptId, currency, receivedCents: amountCents } = body
              if (amountCents === 0) return []
              return [{ type: "charge", id, intentId: id, amountCents, currency, customerId: of, attemptId, at }]
            })
        ),
      verify: () => null
    })
  })
)
