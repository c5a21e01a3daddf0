import { at, listAt, textAt } from "../demo/Json.ts"
import * as Calls from "./chapter/Calls.ts"
import * as Conferences from "./chapter/Conferences.ts"
import * as Faults from "./chapter/Faults.ts"
import * as Http from "./chapter/Http.ts"
import * as MoneyChapter from "./chapter/Money.ts"
import * as NumbersChapter from "./chapter/Numbers.ts"
import * as TenantsChapter from "./chapter/Tenants.ts"
import * as Webhooks from "./chapter/Webhooks.ts"
import type { Walk } from "./Walk.ts"

/** Requests of a walk. */
export const total = 2_000

/** Ids of things that are over, in place of the parameters of a path. */
const known = (ids: Readonly<{ [prefix: string]: string }>) => (path: string) => {
  const [, id] = Object.entries(ids).find(([prefix]) => path.startsWith(prefix)) ?? []
  return path
    .replace("{member_id}", ids["member"] ?? "what")
    .replace("{phone_number}", "%2B12025550150")
    .replace("{id}", id ?? "what")
}

/** Commands of the operator that change nothing. */
const views = (callId: string, busyId: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["help"],
  ["what"],
  ["tenant"],
  ["tenant", "list"],
  ["tenant", "show", "walk-main"],
  ["tenant", "show", "walk-main", "--json"],
  ["tenant", "show", "nobody"],
  ["tenant", "credit", "walk-main", "--cents", "much"],
  ["route", "list", "--tenant", "walk-main"],
  ["key", "list", "walk-other"],
  ["number", "show", "+12025550199"],
  ["prices", "list"],
  ["plan", "list"],
  ["rates", "list"],
  ["destinations", "list"],
  ["targets", "list"],
  ["ban", "list"],
  ["port", "list"],
  ["port", "list", "--status", "what"],
  ["payment", "list", "--tenant", "walk-main", "--json"],
  ["ledger", "list", "--tenant", "walk-other"],
  ["ledger", "verify", "--tenant", "walk-other"],
  ["call", "show", busyId],
  ["call", "list", "--tenant", "walk-other"],
  ["call", "hangup", callId],
  ["conference", "list", "--tenant", "walk-other"],
  ["endpoint", "list", "--tenant", "walk-other"],
  ["invoice", "issue"],
  ["job", "failed"],
  ["audit", "list", "--tenant", "walk-main", "--action", "tenant.credited"]
]

/** The whole walk. */
export const walk = async (walk: Walk, document: unknown): Promise<void> => {
  const note = (what: string) =>
    console.log(`${String(walk.client.entries.length).padStart(5)} requests before ${what}`)
  note("tenants")
  const tenants = await TenantsChapter.walk(walk)
  note("money")
  const card = await MoneyChapter.walk(walk, tenants)
  const subscription = await Webhooks.subscribe(walk, tenants)
  note("numbers")
  const numbers = await NumbersChapter.walk(walk, tenants)
  note("conferences")
  const conferences = await Conferences.walk(walk, tenants, numbers)
  note("calls")
  const calls = await Calls.walk(walk, tenants, numbers)
  note("webhooks")
  const quiet = await Webhooks.walk(walk, tenants, subscription, numbers)
  note("usage and audit")
  await MoneyChapter.account(tenants, calls.ended)
  note("forms of requests")
  await Http.walk(walk, tenants)
  note("the operator")
  for (const words of views(calls.ended, calls.busy)) await walk.operator(...words)
  note("faults of each operation")
  const key = listAt(await tenants.main.until("/v1/api-keys/?page_size=200", () => true), "results").find(
    (row) => at(row, "revoked_at") !== null
  )
  const own = {
    "/v1/calls/": calls.ended,
    "/v1/conferences/": conferences.id,
    member: conferences.member,
    "/v1/recordings/": calls.recording,
    "/v1/numbers/orders/": numbers.orderId,
    "/v1/numbers/emergency-addresses/": numbers.addressId,
    "/v1/numbers/": numbers.ownId,
    "/v1/porting/orders/": numbers.draftId,
    "/v1/billing/payment-methods/": card,
    "/v1/webhook-subscriptions/": quiet,
    "/v1/connections/": numbers.routeId,
    "/v1/api-keys/": textAt(key, "id")
  }
  const foreign = { ...own, "/v1/calls/": calls.foreign }
  await Faults.walk(walk, tenants, document, { own: known(own), foreign: known(foreign) }, total)
}
