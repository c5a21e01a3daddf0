import { at, listAt, textAt } from "../../demo/Json.ts"
import type { Caller, Walk } from "../Walk.ts"
import type { Numbers } from "./Numbers.ts"
import type { Tenants } from "./Tenants.ts"

const path = "/v1/webhook-subscriptions"

/** Subscriptions that take what the later chapters cause. */
export const subscribe = async ({ peer }: Walk, { main, other }: Tenants): Promise<string> => {
  const good = `{"target_url":"https://${peer.address}/hooks","event_types":["*"],"description":"all"}`
  const all = textAt((await main.run(`POST ${path} ${good}`)).json, "id")
  await other.run(`POST ${path} ${good}`)
  await main.run(`
    POST ${path} ${good.replace(`"*"`, "")}
    POST ${path} ${good.replace("*", "what")}
    POST ${path} ${good.replace("https", "http")}
    POST ${path} ${good.replace("https://", "https://user:pass@")}
    POST ${path} ${good.replace("}", `,"connection_id":"svc_route_${"0".repeat(32)}"}`)}`)
  return all
}

/** Waits until none of the tenant's deliveries of this type is under way. */
const settled = (caller: Caller, type: string) =>
  caller.until(`/v1/webhook-deliveries?event_type=${type}&page_size=200`, (json) =>
    listAt(json, "results").every((row) => ["succeeded", "failed"].includes(String(at(row, "status"))))
  )

/** Changing subscriptions, the log of deliveries, and making deliveries again; gives a subscription. */
export const walk = async (
  { peer }: Walk,
  { main, other }: Tenants,
  all: string,
  numbers: Numbers
): Promise<string> => {
  const refuses = { target_url: `https://${peer.address}/refuses`, event_types: ["call.started"] }
  const id = textAt((await main.post(path, { ...refuses, connection_id: numbers.routeId })).json, "id")
  const one = `${path}/${id}`
  await main.gets(path, `. ?page_size=1 ?page=2&page_size=1 ?page=3 /${id} /${id}/signing-secret`)
  await other.get(one)
  await main.run(`
    PATCH ${one} {"description":"refuses"}
    PATCH ${one} {"description":null}
    PATCH ${one} {"event_types":[]}
    PATCH ${one} {"event_types":["*","call.ended"]}
    PATCH ${one} {"event_types":["call.ended"],"connection_id":null}
    PATCH ${one} {"target_url":"http://example.com/"}
    PATCH ${one} {"is_active":false}
    PATCH ${one} {}
    POST ${one}/test
    POST ${one}/redeliver
    PATCH ${one} {"is_active":true}
    POST ${one}/test`)
  await other.post(`${one}/test`)
  const tests = await settled(main, "webhook.test")
  const log = "/v1/webhook-deliveries"
  await main.get(`${log}?event_type=webhook.test`)
  for (const type of ["call.started", "call.ended", "call.bridged", "recording.completed", "number_order.completed"]) {
    await settled(main, type)
    await main.gets(
      `${log}?event_type=${type}`,
      `&page_size=3 &subscription_id=${all}&page_size=1&page=2 &status=failed &created_after=2999-01-01T00:00:00Z`
    )
  }
  await main.gets(log, "?status=what ?event_type=what ?subscription_id=what ?page=999")
  for (const caller of [main, other]) await caller.post(`${log}/${textAt(tests, "results", 0, "id")}/redeliver`)
  await settled(main, "webhook.test")
  const spare = `${path}/${textAt((await main.post(path, refuses)).json, "id")}`
  await main.run(`
    POST ${one}/redeliver {"created_before":"2001-01-01T00:00:00Z"}
    POST ${one}/redeliver {"status":"queued"}
    POST ${one}/redeliver {"created_after":"2999-01-01T00:00:00Z","created_before":"2001-01-01T00:00:00Z"}
    DELETE ${spare}
    DELETE ${spare}
    GET ${spare}
    PATCH ${one} {"is_active":false}
    PATCH ${path}/${all} {"is_active":false}`)
  await other.get(`${log}?event_type=call.ended&page_size=1`)
  return id
}
