import { randomBytes } from "node:crypto"
import type { Api } from "./Api.ts"
import { at, listAt, numberAt, textAt, Unexpected } from "./Json.ts"
import type { Receiver } from "./Receiver.ts"
import type { Timeline } from "./Timeline.ts"

/** The simulated phone that presses `1234#` two seconds after its answer, and again every five seconds. */
const phone = "+12025550105"
const pressed = "1234"
/** A round that was already under way when the gather began is followed by a whole one. */
const gatherTries = 2

const mustHappen = [
  "number_order.completed",
  "call.started",
  "call.ringing",
  "call.answered",
  "call.playback_ended",
  "call.dtmf",
  "call.gather_complete",
  "call.ended"
]

const settleMs = 10_000

const must = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Unexpected(otherwise)
}

const dollars = (cents: number) => `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toFixed(2)}`

/** Asks again until `done`, at most ten seconds; gives the last answer. */
const eventually = async (ask: () => Promise<unknown>, done: (answer: unknown) => boolean): Promise<unknown> => {
  const until = Date.now() + settleMs
  for (;;) {
    const answer = await ask()
    if (done(answer) || Date.now() > until) return answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const signUp = async (api: Api): Promise<number> => {
  const nonce = randomBytes(6).toString("hex")
  const signedUp = await api.request(
    "POST",
    "/v1/signup",
    {
      email: `demo-${nonce}@example.com`,
      password: randomBytes(18).toString("base64url"),
      tenant_name: `Demo ${nonce}`,
      first_name: "Ada",
      last_name: "Example",
      legal_name: "Example Ltd",
      country: "US",
      company_size: "1-10",
      industry: "software",
      use_case: "a first call"
    },
    (body) => `${textAt(body, "tenant", "name")}, key ${textAt(body, "api_key", "prefix")}…`
  )
  api.authorize(textAt(signedUp, "api_key_plaintext"))
  const account = await api.request(
    "GET",
    "/v1/account",
    null,
    (body) => `balance ${dollars(numberAt(body, "balance", "balance_cents"))}`
  )
  return numberAt(account, "balance", "balance_cents")
}

const orderNumber = async (
  api: Api,
  receiver: Receiver
): Promise<{ readonly number: string; readonly cents: number }> => {
  const available = await api.request("GET", "/v1/numbers/available?country_code=US&limit=1", null, (body) =>
    textAt(body, "results", 0, "phone_number")
  )
  const number = textAt(available, "results", 0, "phone_number")
  await api.request(
    "POST",
    "/v1/numbers/order",
    { phone_numbers: [number], country_code: "US", number_type: textAt(available, "results", 0, "number_type") },
    (body) => `${textAt(body, "status")} ${dollars(numberAt(body, "debited_cents"))}`
  )
  const { envelope } = await receiver.next("number_order.completed")
  return { number, cents: numberAt(envelope, "data", "total_cents") }
}

const talk = async (api: Api, receiver: Receiver, from: string): Promise<string> => {
  const status = (body: unknown) => textAt(body, "status")
  const placed = await api.request(
    "POST",
    "/v1/calls",
    { from, to: phone, customer_reference: "demo" },
    (body) => `${status(body)} ${textAt(body, "id")}`
  )
  const id = textAt(placed, "id")
  const act = (verb: string, body: object | null) =>
    api.request("POST", `/v1/calls/${id}/actions/${verb}`, body, status)

  await receiver.next("call.answered")
  // The caller hears the prompt while the digits are already collected.
  await act("gather", { terminating_digit: "#", initial_timeout_millis: 10_000 })
  await act("play", { url: receiver.soundUrl })
  const played = await receiver.next("call.playback_ended")
  const outcome = textAt(played.envelope, "data", "status")
  must(outcome === "completed", `the sound was not played: ${outcome} ${String(at(played.envelope, "data", "reason"))}`)

  let digits = ""
  for (let left = gatherTries; left > 0 && digits !== pressed; left--) {
    const gathered = await receiver.next("call.gather_complete")
    digits = textAt(gathered.envelope, "data", "digits")
    if (digits !== pressed && left > 1) await act("gather", { terminating_digit: "#", initial_timeout_millis: 10_000 })
  }
  must(digits === pressed, `gathered "${digits}" where ${pressed} was pressed`)
  await act("hangup", null)
  const { envelope } = await receiver.next("call.ended")
  must(textAt(envelope, "data", "end_initiator") === "api", "the call did not end by our hangup")
  return id
}

const settle = async (
  api: Api,
  timeline: Timeline,
  bill: { readonly credit: number; readonly number: string; readonly numberCents: number; readonly callId: string }
): Promise<void> => {
  const call = await eventually(
    () => api.request("GET", `/v1/calls/${bill.callId}`, null, null),
    (body) => at(body, "cost_cents") !== null
  )
  const cost = numberAt(call, "cost_cents")
  const seconds = numberAt(call, "duration_seconds")
  const account = await api.request("GET", "/v1/account", null, null)
  const balance = numberAt(account, "balance", "balance_cents")
  timeline.note("the bill", "")
  const row = (what: string, cents: number) =>
    console.log(`${" ".repeat(15)}${what.padEnd(46)}${dollars(cents).padStart(8)}`)
  row("trial credit", bill.credit)
  row(`number ${bill.number}`, -bill.numberCents)
  row(`call to ${phone}, ${seconds} s`, -cost)
  row("balance", balance)
  must(balance === bill.credit - bill.numberCents - cost, "the bill does not add up")
}

/** From signup to the bill; rejects at the first thing that does not happen. */
export const tell = async (api: Api, receiver: Receiver, timeline: Timeline): Promise<void> => {
  const credit = await signUp(api)
  const subscription = await api.request(
    "POST",
    "/v1/webhook-subscriptions",
    { target_url: receiver.webhookUrl, event_types: ["*"], description: "demo" },
    (body) => textAt(body, "target_url")
  )
  receiver.expect(textAt(subscription, "signing_secret"))
  const { cents: numberCents, number } = await orderNumber(api, receiver)
  const callId = await talk(api, receiver, number)
  await settle(api, timeline, { credit, number, numberCents, callId })

  const deliveries = await eventually(
    () => api.request("GET", "/v1/webhook-deliveries?page_size=200", null, null),
    (body) => listAt(body, "results").every((delivery) => at(delivery, "status") === "succeeded")
  )
  const open = listAt(deliveries, "results").filter((delivery) => at(delivery, "status") !== "succeeded")
  must(open.length === 0, `deliveries that did not succeed: ${JSON.stringify(open)}`)
  timeline.note("deliveries", `${numberAt(deliveries, "count")}, all succeeded`)
  must(receiver.refused() === 0, `${receiver.refused()} webhooks had a wrong signature`)
  const missing = mustHappen.filter((type) => !receiver.received.some((webhook) => webhook.type === type))
  must(missing.length === 0, `webhooks that never came: ${missing.join(", ")}`)
}
