/**
 * The part of Stripe that we use, over HTTPS, as documented: answers are typed by Stripe's own SDK. It honours
 * idempotency keys (and forgets them when asked to), replays stored failures, sends signed events, and can lose
 * answers.
 */
import { createHash, randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect } from "effect"
import { Stripe } from "stripe"
import * as HttpsServer from "../../support/network/HttpsServer.ts"
import type { TestCertificate } from "../../support/network/TestCertificate.ts"

type Intent = Pick<
  Stripe.PaymentIntent,
  "id" | "object" | "status" | "amount" | "amount_received" | "currency" | "client_secret" | "metadata" | "created"
> & { customer: string | null; last_payment_error: Partial<Stripe.PaymentIntent.LastPaymentError> | null }
type Charge = Pick<
  Stripe.Charge,
  | "id"
  | "object"
  | "amount"
  | "amount_captured"
  | "amount_refunded"
  | "disputed"
  | "paid"
  | "created"
  | "currency"
  | "metadata"
> & { payment_intent: string; customer: string | null }
type Refund = Pick<Stripe.Refund, "id" | "object" | "amount" | "currency" | "status" | "metadata" | "created"> & {
  payment_intent: string
  charge: string
}
type Dispute = Pick<Stripe.Dispute, "id" | "object" | "amount" | "currency" | "status" | "created"> & {
  payment_intent: string
  charge: string
}
type Method = Pick<Stripe.PaymentMethod, "id" | "object"> & {
  customer: string | null
  card: Pick<Stripe.PaymentMethod.Card, "brand" | "last4" | "exp_month" | "exp_year">
  /** The name of the test card. */
  name: string
}
type Entry = Pick<Stripe.BalanceTransaction, "id" | "object" | "amount" | "created"> & { source: unknown }

interface Answer {
  readonly status: number
  readonly body: unknown
}

/**
 * The fault of the next request that would make an intent or a refund. From `lose_answer` on the request is carried
 * out: the answer is lost, makes no sense, refuses it, comes late or names another amount, or its event comes twice.
 */
export type Fault =
  | "lose_request"
  | "fail"
  | "refuse_request"
  | "lose_answer"
  | "odd_success"
  | "refuse"
  | "late"
  | "other_amount"
  | "twice"

export const webhookSecret = "whsec_double"

export const failed = (status: number, error: object): Answer => ({ status, body: { error } })
const missing = failed(404, { type: "invalid_request_error", code: "resource_missing", message: "No such object" })
const noCustomer = failed(400, {
  type: "invalid_request_error",
  code: "resource_missing",
  param: "customer",
  message: "No such customer"
})

export class StripeDouble {
  readonly intents = new Map<string, Intent>()
  readonly charges: Array<Charge> = []
  readonly refunds: Array<Refund> = []
  readonly disputes: Array<Dispute> = []
  readonly entries: Array<Entry> = []
  readonly methods = new Map<string, Method>()
  /** The customers, and whether they still are. */
  readonly customers = new Map<string, "known" | "deleted">()
  readonly keys = new Map<string, Answer & { readonly asked: string }>()
  /** The bodies of the events that it would send, in order. */
  readonly events: Array<string> = []
  readonly faults: Array<Fault> = []
  /**
   * The answer to a list of a deleted customer. Stripe documents that a customer which never existed is an error, and
   * that a deleted one can be retrieved; for the lists of a deleted one, its documentation is silent.
   */
  listsDeletedWith: 200 | 400 | 404 = 200
  /** The fields that the processor changes in the payments that it captures. */
  wrong: Partial<Pick<Intent, "amount" | "currency">> = {}
  /** How many of the next looks for an intent or a refund are refused. */
  refusedLooks = 0
  /** The requests, as method and path. */
  readonly asked: Array<string> = []
  /** Called with each request before it is answered. */
  heard: (asked: string) => void = () => {}
  /** Replaces the answer to a request, which is carried out all the same; null: the answer stays. */
  answersInstead: (asked: string) => Answer | null = () => null
  port = 0

  now = () => Math.floor(Date.now() / 1000)
  private readonly id = (kind: string) => `${kind}_${randomUUID().replaceAll("-", "")}`

  /** The amount that the processor holds for us. */
  get net(): number {
    return this.entries.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** Answers from now on as for the key of another account. The returned function goes back to this one. */
  otherAccount(): () => void {
    const parts = [this.intents, this.methods, this.keys, this.customers] as ReadonlyArray<Map<string, unknown>>
    const kept = parts.map((part) => new Map(part))
    for (const part of parts) part.clear()
    return () =>
      parts.forEach((part, at) => {
        // The answers that the other account keeps for idempotency keys are its own.
        part.clear()
        for (const [key, value] of kept[at] ?? []) part.set(key, value)
      })
  }

  private emit(type: string, object: { readonly id: string }): void {
    this.events.push(
      JSON.stringify({ id: this.id("evt"), object: "event", type, created: this.now(), data: { object } })
    )
  }

  /** Captures a payment that the service did not request in this form, as another program on the account would. */
  capture(of: Partial<Intent>): Intent {
    const intent: Intent = {
      id: this.id("pi"),
      object: "payment_intent",
      status: "requires_payment_method",
      amount: 1_000,
      amount_received: 0,
      currency: "usd",
      client_secret: this.id("secret"),
      metadata: {},
      created: this.now(),
      customer: null,
      last_payment_error: null,
      ...of
    }
    this.intents.set(intent.id, intent)
    this.pay(intent)
    return intent
  }

  private pay(intent: Intent): void {
    Object.assign(intent, this.wrong)
    intent.status = "succeeded"
    intent.amount_received = intent.amount
    intent.last_payment_error = null
    const charge: Charge = {
      id: this.id("ch"),
      object: "charge",
      amount: intent.amount,
      amount_captured: intent.amount,
      amount_refunded: 0,
      disputed: false,
      paid: true,
      created: this.now(),
      currency: intent.currency,
      metadata: { ...intent.metadata },
      payment_intent: intent.id,
      customer: intent.customer
    }
    this.charges.push(charge)
    this.entries.push({
      id: this.id("txn"),
      object: "balance_transaction",
      amount: intent.amount,
      created: this.now(),
      source: charge
    })
    this.emit("payment_intent.succeeded", intent)
  }

  /** Confirms an intent for the cardholder, or completes one that was processing. */
  confirm(intentId: string): void {
    const intent = this.intents.get(intentId)
    if (intent !== undefined && intent.status !== "succeeded" && intent.status !== "canceled") this.pay(intent)
  }

  dispute(intentId: string): Dispute {
    const charge = this.charges.find((one) => one.payment_intent === intentId)
    if (charge === undefined) throw new Error("there is no such charge")
    charge.disputed = true
    const dispute: Dispute = {
      id: this.id("dp"),
      object: "dispute",
      amount: charge.amount,
      currency: charge.currency,
      status: "needs_response",
      created: this.now(),
      payment_intent: intentId,
      charge: charge.id
    }
    this.disputes.push(dispute)
    this.entries.push({
      id: this.id("txn"),
      object: "balance_transaction",
      amount: -charge.amount,
      created: this.now(),
      source: dispute
    })
    this.emit("charge.dispute.created", dispute)
    return dispute
  }

  win(dispute: Dispute): void {
    dispute.status = "won"
    this.entries.push({
      id: this.id("txn"),
      object: "balance_transaction",
      amount: dispute.amount,
      created: this.now(),
      source: dispute
    })
    this.emit("charge.dispute.closed", dispute)
  }

  /** Makes a refund, for the API or for a person at the processor. */
  refund(intentId: string, amount: number | null, metadata: Readonly<Record<string, string>> = {}): Answer {
    const charge = this.charges.find((one) => one.payment_intent === intentId)
    if (charge === undefined) return missing
    const cents = amount ?? charge.amount - charge.amount_refunded
    if (cents > charge.amount - charge.amount_refunded)
      return failed(400, { type: "invalid_request_error", message: "Refund amount is greater than unrefunded amount" })
    charge.amount_refunded += cents
    const refund: Refund = {
      id: this.id("re"),
      object: "refund",
      amount: cents,
      currency: charge.currency,
      status: "succeeded",
      metadata: { ...metadata },
      created: this.now(),
      payment_intent: intentId,
      charge: charge.id
    }
    this.refunds.push(refund)
    this.entries.push({
      id: this.id("txn"),
      object: "balance_transaction",
      amount: -cents,
      created: this.now(),
      source: refund
    })
    this.emit("refund.created", refund)
    return { status: 200, body: refund }
  }

  /** Deletes a customer, as a person at the processor does; its cards are no cards of a customer then. */
  deleteCustomer(id: string): void {
    this.customers.set(id, "deleted")
    for (const method of this.methods.values()) if (method.customer === id) method.customer = null
  }

  private create(form: URLSearchParams): Answer {
    if (this.customers.get(form.get("customer") ?? "") !== "known") return noCustomer
    const method = this.methods.get(form.get("payment_method") ?? "")
    if (method === undefined || method.customer !== form.get("customer")) return missing
    if (method.name === "pm_card_declinedAtOnce")
      return failed(402, { type: "card_error", code: "card_declined", message: "Your card was declined." })
    const intent: Intent = {
      id: this.id("pi"),
      object: "payment_intent",
      status: "requires_payment_method",
      amount: Number(form.get("amount")),
      amount_received: 0,
      currency: form.get("currency") ?? "",
      client_secret: this.id("secret"),
      metadata: { attempt: form.get("metadata[attempt]") ?? "", tenant: form.get("metadata[tenant]") ?? "" },
      created: this.now(),
      customer: method.customer,
      last_payment_error: null
    }
    this.intents.set(intent.id, intent)
    const decline = (error: Partial<Stripe.PaymentIntent.LastPaymentError> & { readonly code: string }): Answer => {
      intent.last_payment_error = { ...error }
      this.emit("payment_intent.payment_failed", intent)
      return failed(402, { type: "card_error", ...error, payment_intent: { ...intent } })
    }
    const isOffSession = form.get("off_session") === "true"
    switch (method.name) {
      case "pm_card_chargeCustomerFail":
        return decline({ code: "card_declined", decline_code: "generic_decline", message: "Your card was declined." })
      case "pm_card_doNotTryAgain":
        return decline({
          code: "card_declined",
          decline_code: "stolen_card",
          advice_code: "do_not_try_again",
          message: "Your card was declined."
        })
      case "pm_card_authenticationRequired":
        if (isOffSession)
          return decline({
            code: "authentication_required",
            decline_code: "authentication_required",
            message: "This transaction requires authentication."
          })
        intent.status = "requires_action"
        this.emit("payment_intent.requires_action", intent)
        return { status: 200, body: intent }
      case "pm_card_late":
        intent.status = "processing"
        this.emit("payment_intent.processing", intent)
        return { status: 200, body: intent }
      default:
        this.pay(intent)
        return { status: 200, body: intent }
    }
  }

  private page(
    items: ReadonlyArray<{ readonly id: string; readonly created: number }>,
    query: URLSearchParams
  ): Answer {
    const since = Number(query.get("created[gte]") ?? 0)
    const sorted = items.filter(({ created }) => created >= since).toReversed()
    const after = query.get("starting_after")
    const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1
    const data = sorted.slice(from, from + Number(query.get("limit") ?? 10))
    return { status: 200, body: { object: "list", data, has_more: from + data.length < sorted.length, url: "/" } }
  }

  /** A page of a list that may be of one customer. */
  private pageOf(
    items: ReadonlyArray<{ readonly id: string; readonly created: number; readonly customer: string | null }>,
    query: URLSearchParams
  ): Answer {
    const of = query.get("customer")
    if (of !== null && this.customers.get(of) === "deleted" && this.listsDeletedWith !== 200)
      return { ...noCustomer, status: this.listsDeletedWith }
    return this.page(of === null ? items : items.filter(({ customer }) => customer === of), query)
  }

  private answer(method: string, path: string, form: URLSearchParams): Answer {
    const [, , resource = "", id = "", action = ""] = path.split("/")
    const ok = (body: unknown): Answer => (body === undefined ? missing : { status: 200, body })
    switch (`${method} ${resource}${id === "" ? "" : " id"}${action === "" ? "" : ` ${action}`}`) {
      case "POST customers": {
        const made = this.id("cus")
        this.customers.set(made, "known")
        return ok({ id: made, object: "customer" })
      }
      case "GET customers id": {
        const state = this.customers.get(id)
        return ok(state && { id, object: "customer", ...(state === "deleted" ? { deleted: true } : {}) })
      }
      case "POST setup_intents": {
        if (this.customers.get(form.get("customer") ?? "") !== "known") return noCustomer
        const made = this.id("seti")
        return ok({ id: made, object: "setup_intent", client_secret: `${made}_secret` })
      }
      case "GET payment_methods id": {
        const known = this.methods.get(id)
        if (known !== undefined) return ok(known)
        if (!/^pm_card_[A-Za-z]+$/.test(id) || id === "pm_card_unknown") return missing
        // Each use of a test card's name makes another card.
        const card: Method = {
          id: this.id("pm"),
          object: "payment_method",
          customer: null,
          card: { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2034 },
          name: id
        }
        return ok(card)
      }
      case "POST payment_methods id attach": {
        if (id === "pm_card_chargeDeclined")
          return failed(402, { type: "card_error", code: "card_declined", message: "Your card was declined." })
        if (this.customers.get(form.get("customer") ?? "") !== "known") return noCustomer
        const card: Method = this.methods.get(id) ?? {
          id: this.id("pm"),
          object: "payment_method",
          customer: null,
          card: { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2034 },
          name: id
        }
        card.customer = form.get("customer")
        this.methods.set(card.id, card)
        return ok(card)
      }
      case "POST payment_methods id detach": {
        const card = this.methods.get(id)
        if (card?.customer == null) return failed(400, { type: "invalid_request_error", message: "not attached" })
        card.customer = null
        return ok(card)
      }
      case "POST payment_intents":
        return this.create(form)
      case "GET payment_intents":
        return this.pageOf([...this.intents.values()], form)
      case "GET payment_intents id":
        return ok(this.intents.get(id))
      case "POST payment_intents id cancel": {
        const intent = this.intents.get(id)
        if (intent === undefined) return missing
        if (intent.status === "succeeded" || intent.status === "canceled")
          return failed(400, { type: "invalid_request_error", code: "payment_intent_unexpected_state", message: "no" })
        intent.status = "canceled"
        return ok(intent)
      }
      case "POST refunds":
        return this.refund(form.get("payment_intent") ?? "", Number(form.get("amount")), {
          refund: form.get("metadata[refund]") ?? ""
        })
      case "GET refunds": {
        const [intent, charge] = [form.get("payment_intent"), form.get("charge")]
        return this.page(
          this.refunds.filter((one) => one.payment_intent === intent || one.charge === charge),
          form
        )
      }
      case "GET disputes":
        return this.page(
          this.disputes.filter(({ charge }) => charge === form.get("charge")),
          form
        )
      case "GET disputes id":
        return ok(this.disputes.find((one) => one.id === id))
      case "GET charges":
        return this.pageOf(this.charges, form)
      case "GET balance_transactions":
        return this.page(this.entries, form)
      default:
        return missing
    }
  }

  /** Gives the stored answer of a key, including failures; another request under the same key is an error. */
  private once(key: string | undefined, asked: string, make: () => Answer): Answer {
    if (key === undefined) return make()
    const stored = this.keys.get(key)
    if (stored !== undefined)
      return stored.asked === asked
        ? stored
        : failed(400, { type: "idempotency_error", message: "Keys can only be used with the same parameters" })
    const answer = make()
    this.keys.set(key, { ...answer, asked })
    return answer
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "https://stripe")
      const method = request.method ?? ""
      const body = Buffer.concat(parts).toString()
      const form = method === "GET" ? url.searchParams : new URLSearchParams(body)
      this.asked.push(`${method} ${url.pathname}`)
      this.heard(`${method} ${url.pathname}`)
      const charges = method === "POST" && ["/v1/payment_intents", "/v1/refunds"].includes(url.pathname)
      const fault = charges ? this.faults.shift() : undefined
      if (fault === "lose_request") return request.socket.destroy()
      if (!String(request.headers.authorization).startsWith("Bearer sk_test_"))
        return send(response, failed(401, { type: "invalid_request_error", message: "Invalid API Key" }))
      const isLook = method === "GET" && /^\/v1\/(payment_intents|refunds)/.test(url.pathname)
      if (isLook && this.refusedLooks > 0) return send(response, denied(this.refusedLooks--))
      if (fault === "refuse_request") return send(response, denied(this.asked.length % 2))
      const key = request.headers["idempotency-key"]
      const asked = createHash("sha256").update(`${method} ${url.pathname} ${body}`).digest("hex")
      const answer =
        fault === "fail"
          ? this.once(String(key), asked, () => failed(500, { type: "api_error", message: "An error occurred" }))
          : this.once(method === "POST" ? (key as string | undefined) : undefined, asked, () =>
              this.answer(method, url.pathname, form)
            )
      if (fault === "lose_answer") return request.socket.destroy()
      if (fault === "twice") this.events.push(...this.events.slice(-1))
      if (fault === "refuse") return send(response, denied(this.asked.length))
      if (fault === "late") return void setTimeout(() => send(response, answer), 1_000)
      if (fault === "other_amount") return send(response, changed(answer))
      const instead = this.answersInstead(`${method} ${url.pathname}`)
      if (instead !== null) return send(response, instead)
      send(response, fault === "odd_success" ? { status: 500, body: { oops: true } } : answer)
    })
  }

  /** An event as Stripe sends it. */
  signed(payload: string, at = this.now(), secret = webhookSecret): Readonly<Record<string, string>> {
    return {
      "content-type": "application/json",
      "stripe-signature": Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: at })
    }
  }
}

const denied = (count: number): Answer =>
  failed([401, 403, 404, 400][count % 4] ?? 400, { type: "invalid_request_error", message: "The request is refused" })

/** The answer with twice the amount. */
const changed = ({ body, status }: Answer): Answer => {
  const { amount, amount_received, ...rest } = body as { readonly amount?: number; readonly amount_received?: number }
  if (amount === undefined) return { status, body }
  return {
    status,
    body: {
      ...rest,
      amount: 2 * amount,
      ...(amount_received === undefined ? {} : { amount_received: 2 * amount_received })
    }
  }
}

const send = (response: ServerResponse, { body, status }: Answer): void => {
  // The connection is closed, because on a kept one a request whose answer is lost is sent again by itself, under the
  // same key.
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_double", connection: "close" })
  response.end(JSON.stringify(body))
}

/** Listens until its scope closes. */
export const start = (certificate: TestCertificate) =>
  Effect.gen(function* () {
    const double = new StripeDouble()
    const { port } = yield* HttpsServer.start(certificate, double.handle)
    double.port = port
    return double
  })
