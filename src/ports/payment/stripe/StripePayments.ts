import { Effect, Layer, Redacted, Result } from "effect"
import { hash } from "node:crypto"
import { Stripe } from "stripe"
import { OperatorEgress } from "../../egress/OperatorEgress.ts"
import type { OperatorTarget } from "../../egress/OperatorTarget.ts"
import { type Movement, PaymentError, Payments } from "../Payments.ts"
import * as StripeAnswers from "./StripeAnswers.ts"
import * as StripeFetch from "./StripeFetch.ts"

interface Options {
  /** `https://api.stripe.com`. */
  readonly target: OperatorTarget
  readonly secretKey: Redacted.Redacted
  readonly publishableKey: string
  readonly webhookSecret: Redacted.Redacted | null
}

/** A charge may wait for an issuer. The SDK's own limit is later than that of the egress. */
const timeoutMs = 20_000

/** Stripe's own tolerance for the age of a signature. */
const toleranceSecs = 300
/** How far a signature may be ahead, because clocks differ. The SDK itself accepts any time in the future. */
const aheadSecs = 60

const pageSize = 100
/** The most pages of one reading. A longer list fails, so that a part of it is not taken for the whole. */
const mostPages = 1_000

/**
 * Cards by Stripe, over the operator's egress. No request is repeated by itself: after an unknown outcome the caller
 * asks for the object.
 */
const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* (yield* OperatorEgress).open(options.target)
  const stripe = new Stripe(Redacted.value(options.secretKey), {
    httpClient: Stripe.createFetchHttpClient(StripeFetch.make(client, timeoutMs)),
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: timeoutMs + 5_000
  })

  const ask = (request: () => Promise<unknown>): Effect.Effect<unknown, StripeAnswers.Failure | PaymentError> =>
    Effect.tryPromise({
      try: request,
      catch: (error) =>
        StripeAnswers.failure(error) ??
        new PaymentError({ reason: "unknown", detail: error instanceof Error ? error.message : String(error) })
    })

  const answered = <A>(
    request: () => Promise<unknown>,
    decode: (answer: unknown) => Effect.Effect<A, PaymentError>
  ): Effect.Effect<A, PaymentError> =>
    ask(request).pipe(
      Effect.flatMap(decode),
      Effect.mapError((error) => (error instanceof PaymentError ? error : errorOf(error)))
    )

  /** Reads all pages of a list, and decodes each item. */
  const all = <A>(
    page: (cursor: { readonly limit: number; readonly starting_after?: string }) => Promise<{
      readonly data: ReadonlyArray<{ readonly id: string }>
      readonly has_more: boolean
    }>,
    decode: (item: unknown) => Effect.Effect<A, PaymentError>
  ) =>
    Effect.gen(function* () {
      const found: Array<A> = []
      let after: string | undefined
      for (let pages = 0; pages < mostPages; pages++) {
        const { data, has_more } = yield* answered(
          () => page({ limit: pageSize, ...(after === undefined ? {} : { starting_after: after }) }),
          StripeAnswers.list
        )
        for (const item of data) found.push(yield* decode(item))
        after = data.at(-1)?.id
        if (!has_more || after === undefined) return found
      }
      return yield* new PaymentError({ reason: "unknown", detail: `a list has more than ${mostPages} pages` })
    })

  const refundsOf = (of: { readonly payment_intent: string } | { readonly charge: string }) =>
    all((cursor) => stripe.refunds.list({ ...of, ...cursor }), StripeAnswers.refund)

  const intent = (id: string) => answered(() => stripe.paymentIntents.retrieve(id), StripeAnswers.intent)

  const customer = (id: string) =>
    ask(() => stripe.customers.retrieve(id)).pipe(
      Effect.flatMap(StripeAnswers.customerState),
      Effect.catch((error) =>
        error instanceof PaymentError
          ? Effect.fail(error)
          : error.code === "resource_missing"
            ? Effect.succeed("absent" as const)
            : Effect.fail(errorOf(error))
      )
    )

  /**
   * The objects that belong to a customer which may have been deleted. Stripe documents that a deleted customer can
   * still be retrieved and gets no new payments, but not whether its lists are still answered. Its intents and charges
   * keep the reference to it, so where its list is refused they are looked for in the list of the whole account, and
   * with `isProof` also where its list has none of them. `gone`: the account never had the customer, so its objects are
   * at another account.
   */
  const allOf = Effect.fnUntraced(function* <A>(
    customerId: string,
    {
      isProof,
      isWanted,
      list
    }: {
      readonly list: (of: { readonly customer?: string }) => Effect.Effect<ReadonlyArray<A>, PaymentError>
      readonly isWanted: (item: A) => boolean
      /** True when it has to be certain that there are none. */
      readonly isProof: boolean
    }
  ) {
    const listed = yield* Effect.result(list({ customer: customerId }))
    if (Result.isFailure(listed) && listed.failure.reason !== "gone" && listed.failure.reason !== "refused")
      return yield* listed.failure
    const found = Result.isSuccess(listed) ? listed.success.filter(isWanted) : []
    if (found.length > 0 || (Result.isSuccess(listed) && !isProof)) return found
    switch (yield* customer(customerId)) {
      case "absent":
        return yield* noCustomer
      case "deleted":
        return (yield* list({})).filter(isWanted)
      case "present":
        return Result.isSuccess(listed) ? [] : yield* listed.failure
    }
  })

  /** The movements of one customer, from its charges with their refunds and disputes. */
  const movementsOf = Effect.fnUntraced(function* (customerId: string, sinceMs: number) {
    const movements: Array<Movement> = []
    const created = { gte: Math.floor(sinceMs / 1000) }
    const charges = yield* allOf(customerId, {
      list: (of) => all((cursor) => stripe.charges.list({ ...of, created, ...cursor }), StripeAnswers.charge),
      isWanted: (charge) => charge.customerId === customerId,
      isProof: false
    })
    for (const { capturedCents, isDisputed, isRefunded, ...charge } of charges) {
      if (capturedCents > 0) movements.push({ type: "charge", ...charge, amountCents: capturedCents })
      if (isRefunded)
        for (const { amountCents, id, status } of yield* refundsOf({ charge: charge.id }))
          if (status !== "failed") movements.push({ ...charge, type: "refund", id, amountCents: -amountCents })
      if (isDisputed)
        for (const { amountCents, id, status } of yield* all(
          (cursor) => stripe.disputes.list({ charge: charge.id, ...cursor }),
          StripeAnswers.dispute
        ))
          if (status === "open" || status === "lost")
            movements.push({ ...charge, type: "dispute", id, amountCents: -amountCents })
    }
    return movements
  })

  return Payments.of({
    name: "stripe",
    isReal: !/^(sk|rk)_test_/.test(Redacted.value(options.secretKey)),
    keyMark: hash("sha256", Redacted.value(options.secretKey), "hex").slice(0, 16),
    publishableKey: options.publishableKey,
    createCustomer: ({ key, tenantId }) =>
      answered(
        () => stripe.customers.create({ metadata: { tenant: tenantId } }, { idempotencyKey: key }),
        StripeAnswers.customer
      ),
    customer,
    setup: (customerId) =>
      answered(
        () =>
          stripe.setupIntents.create({
            customer: customerId,
            usage: "off_session",
            allowed_payment_method_types: ["card"]
          }),
        StripeAnswers.setup
      ),
    attach: Effect.fnUntraced(function* ({ cardId, customerId }) {
      const found = yield* answered(() => stripe.paymentMethods.retrieve(cardId), StripeAnswers.card)
      if (found.customerId === customerId) return found
      if (found.customerId !== null)
        return yield* new PaymentError({ reason: "refused", detail: "the card belongs to another customer" })
      return yield* answered(() => stripe.paymentMethods.attach(cardId, { customer: customerId }), StripeAnswers.card)
    }),
    detach: (cardId) =>
      Effect.asVoid(answered(() => stripe.paymentMethods.detach(cardId), StripeAnswers.card)).pipe(
        Effect.catchIf(
          (error) => error.reason === "refused",
          () => Effect.void
        )
      ),
    charge: (of) =>
      ask(() =>
        stripe.paymentIntents.create(
          {
            amount: of.amountCents,
            currency: "usd",
            customer: of.customerId,
            payment_method: of.cardId,
            allowed_payment_method_types: ["card"],
            confirm: true,
            off_session: of.isOffSession,
            description: of.description,
            metadata: { attempt: of.attemptId, tenant: of.tenantId }
          },
          { idempotencyKey: of.key }
        )
      ).pipe(
        Effect.flatMap(StripeAnswers.intent),
        Effect.catch((error) =>
          error instanceof PaymentError
            ? Effect.fail(error)
            : error.payment_intent === undefined
              ? Effect.fail(errorOf(error))
              : StripeAnswers.declined(error)
        )
      ),
    find: Effect.fnUntraced(function* ({ attemptId, customerId, sinceMs }) {
      const created = { gte: Math.floor(sinceMs / 1000) }
      // A list has each intent from its creation on. Stripe's search by metadata may be an hour late.
      const [found] = yield* allOf(customerId, {
        list: (of) => all((cursor) => stripe.paymentIntents.list({ ...of, created, ...cursor }), StripeAnswers.intent),
        isWanted: (one) => one.attemptId === attemptId,
        isProof: true
      })
      return found ?? null
    }),
    intent,
    cancel: (id) =>
      answered(() => stripe.paymentIntents.cancel(id), StripeAnswers.intent).pipe(
        // The intent has been paid meanwhile, or is canceled already.
        Effect.catchIf(
          (error) => error.reason === "refused",
          () => answered(() => stripe.paymentIntents.retrieve(id), StripeAnswers.intent)
        )
      ),
    refund: (of) =>
      answered(
        () =>
          stripe.refunds.create(
            { payment_intent: of.intentId, amount: of.amountCents, metadata: { refund: of.requestId } },
            { idempotencyKey: of.key }
          ),
        StripeAnswers.refund
      ),
    refunds: Effect.fnUntraced(function* (intentId) {
      const refunds = yield* refundsOf({ payment_intent: intentId })
      // An account that does not have the intent has none of its refunds.
      if (refunds.length === 0) yield* intent(intentId)
      return refunds
    }),
    dispute: (id) => answered(() => stripe.disputes.retrieve(id), StripeAnswers.dispute),
    movements: ({ customerId, sinceMs }) =>
      customerId === null
        ? Effect.map(
            all(
              (cursor) =>
                stripe.balanceTransactions.list({
                  created: { gte: Math.floor(sinceMs / 1000) },
                  expand: ["data.source"],
                  ...cursor
                }),
              StripeAnswers.movement
            ),
            (movements) => movements.filter((movement) => movement !== null)
          )
        : movementsOf(customerId, sinceMs),
    verify: ({ body, nowMs, signature }) => {
      if (options.webhookSecret === null || !isTimely(signature, nowMs)) return null
      try {
        return StripeAnswers.event(
          stripe.webhooks.constructEvent(
            Buffer.from(body),
            signature,
            Redacted.value(options.webhookSecret),
            toleranceSecs,
            undefined,
            nowMs
          )
        )
      } catch {
        return null
      }
    }
  })
})

/** True when the time of a signature is not in the future, because the SDK only checks its age. */
const isTimely = (signature: string, nowMs: number): boolean => {
  const times = [...signature.matchAll(/(?:^|,)t=([0-9]{1,12})(?=,|$)/g)]
  return times.length === 1 && Number(times[0]?.[1]) * 1000 <= nowMs + aheadSecs * 1000
}

const noCustomer = new PaymentError({ reason: "gone", detail: "the account of this key does not have the customer" })

/**
 * 409 and 429: not now. 5xx and no answer: unknown. After an idempotency error too, because a key with other parameters
 * than before may have charged. 401 and 403 are about our key and not about the request.
 */
const errorOf = (failure: StripeAnswers.Failure): PaymentError => {
  const { code, message, param, statusCode, type } = failure
  const detail = `${statusCode ?? "no answer"} ${code ?? type}: ${message ?? ""}`
  if (type === "StripeCardError") return new PaymentError({ reason: "declined", detail })
  if (statusCode === 401 || statusCode === 403) return new PaymentError({ reason: "denied", detail })
  if (code === "resource_missing" && param === "customer") return new PaymentError({ reason: "gone", detail })
  const isRefusal = statusCode != null && [400, 402, 404].includes(statusCode) && type !== "StripeIdempotencyError"
  return new PaymentError({ reason: isRefusal ? "refused" : "unknown", detail })
}

export const layer = (options: Options): Layer.Layer<Payments, never, OperatorEgress> =>
  Layer.effect(Payments, make(options))
