import * as CallSetup from "../../../../src/telephony/call/machine/CallSetup.ts"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import type { Caller } from "../../../../src/runtime/audit/Audit.ts"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { RouteDirectory } from "../../../../src/carrier/Carrier.ts"
import * as PeerTable from "../../../../src/carrier/peer/PeerTable.ts"
import { TrunkStates } from "../../../../src/carrier/peer/TrunkStates.ts"
import * as Id from "../../../../src/domain/Id.ts"
import { OperatorServer } from "../../../../src/edge/operator/door/OperatorServer.ts"
import * as Ids from "../../../support/Ids.ts"
import { jsonOf, layer as world, operator, signup } from "../OperatorWorld.ts"

const audits = Effect.fn(function* (resourceId: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ readonly action: string; readonly changes: ReadonlyArray<{ readonly field: string }> }>`
    SELECT action, changes FROM audit WHERE resource_id = ${resourceId} AND actor_type = 'operator'
    ORDER BY ordinal`).map(({ action, changes }) => [action, ...changes.map(({ field }) => field)].join(" "))
})

let hosts = 0

/** A trunk of a new tenant, at an address that no other trunk has. */
const added = Effect.fn(function* (...more: ReadonlyArray<string>) {
  const host = `192.0.2.${++hosts}`
  const caller = yield* signup(`routes-${hosts}`)
  const args = ["--tenant", `routes-${hosts}`, "--name", "Trunk", "--host", host, ...more]
  const { id } = jsonOf(yield* operator("route", "add", ...args, "--json"))
  return { caller, host, id: Id.RouteId.make(String(id)) }
})

const listed = Effect.fn(function* ({ tenantId }: Caller, id: string) {
  const { results } = jsonOf(yield* operator("route", "list", "--tenant", tenantId, "--json"))
  return (results as ReadonlyArray<Record<string, unknown>>).find((row) => row["id"] === id)
})

const place = Effect.fn(function* (caller: Caller, routeId: Id.RouteId | null) {
  const calls = yield* Calls
  const accounts = yield* Accounts
  yield* accounts.setQuota(caller.tenantId, { allowCallerIdForwarding: true }, { type: "operator", name: "test" })
  return yield* calls.place(
    caller,
    {
      from: "+12025550177",
      to: "+12025550100",
      routeId,
      customerReference: null,
      timeoutSecs: 60,
      timeLimitSecs: null,
      callerIdForwarding: true,
      plan: CallSetup.nothing
    },
    null
  )
})

layer(world, { timeout: "60 seconds", excludeTestServices: true })("the operator's routes", (it) => {
  it.effect("are asked by OPTIONS from the first moment, or never, as they are added", () =>
    Effect.gen(function* () {
      const { qualified } = yield* RouteDirectory
      const asked = Effect.map(qualified("", 1000), (trunks) => trunks.map(({ routeId }) => routeId))
      const { id } = yield* added()
      const silent = yield* added("--options", "off")
      expect(yield* asked).toContain(id)
      expect(yield* asked).not.toContain(silent.id)
      yield* operator("route", "limits", silent.id, "--options", "on")
      expect(yield* asked).toContain(silent.id)
    })
  )

  it.effect("are disabled and enabled, at once for the API and for the table of known peers, each with a line", () =>
    Effect.gen(function* () {
      const { caller, host, id } = yield* added()
      const peers = PeerTable.make()
      yield* (yield* RouteDirectory).knownPeers((update) => Effect.sync(() => peers.take(update)))
      expect(peers.has(host)).toBe(true)
      expect(jsonOf(yield* operator("route", "disable", id, "--json"))).toMatchObject({ id, status: "disabled" })
      expect(peers.has(host)).toBe(false)
      expect((yield* Effect.flip(place(caller, id))).code).toBe("unprocessable")
      // The second command changes nothing.
      yield* operator("route", "disable", id)
      yield* operator("route", "enable", id)
      expect(peers.has(host)).toBe(true)
      expect(yield* listed(caller, id)).toMatchObject({ status: "active" })
      expect(yield* audits(id)).toEqual([
        "connection.created is_default",
        "connection.disabled status",
        "connection.enabled status"
      ])
    })
  )

  it.effect("get another password, which no answer and no line shows, for calls from then on", () =>
    Effect.gen(function* () {
      const directory = yield* RouteDirectory
      const { id } = yield* added("--user", "ann", "--password", "first secret")
      const outcome = yield* operator("route", "password", id, "--password", "second secret")
      expect(outcome.stdout).not.toContain("secret")
      expect(yield* directory.sipTrunk(id)).toMatchObject({ username: "ann", password: "second secret" })
      yield* operator("route", "password", id, "--user", "bob", "--password", "third secret")
      expect(yield* directory.sipTrunk(id)).toMatchObject({ username: "bob", password: "third secret" })
      yield* operator("route", "password", id, "--none")
      expect(yield* directory.sipTrunk(id)).toMatchObject({ password: null })
      expect((yield* operator("route", "password", id)).code).toBe(2)
      const bare = yield* added()
      expect((yield* operator("route", "password", bare.id, "--password", "x")).stderr).toContain("needs a user name")
      expect(yield* audits(id)).toEqual([
        "connection.created is_default",
        "connection.password_changed",
        "connection.password_changed username",
        "connection.password_changed"
      ])
    })
  )

  it.effect("get a number plan, field by field, with a line; `route try` shows what it does in both directions", () =>
    Effect.gen(function* () {
      const { host, id } = yield* added()
      const tried = (...args: ReadonlyArray<string>) =>
        Effect.map(operator("route", "try", id, ...args, "--json"), jsonOf)
      expect(yield* tried("0414674199")).toEqual({
        sent: null,
        received: { called: "0414674199", caller: "0414674199", to: null, from: "0414674199" }
      })
      yield* operator("route", "numbers", id, "--country", "AU", "--send", "national", "--tech-prefix", "77#")
      const set = jsonOf(
        yield* operator("route", "numbers", id, "--from-user", "account7", "--from-domain", "sip.example.com", "--json")
      )
      expect(set).toMatchObject({
        number_plan: {
          country: "AU",
          national_prefix: "0",
          international_prefix: "0011",
          tech_prefix: "77#",
          sends: "national",
          caller: "from",
          from_user: "account7",
          asserted_user: null,
          from_domain: "sip.example.com"
        }
      })
      expect(yield* tried("0414674199")).toMatchObject({ received: { to: "+61414674199", from: "+61414674199" } })
      expect(yield* tried("+61414674199", "--from", "+12025550123")).toEqual({
        sent: {
          request_uri: `sip:77%230414674199@${host}:5060`,
          from: "sip:account7@sip.example.com",
          p_asserted_identity: "sip:001112025550123@sip.example.com"
        },
        received: {
          called: "77#0414674199",
          caller: "001112025550123",
          to: "+61414674199",
          from: "+12025550123"
        }
      })
      yield* operator(
        "route",
        "numbers",
        id,
        "--national-prefix",
        "none",
        "--tech-prefix",
        "none",
        "--from-user",
        "none"
      )
      expect(yield* tried("+61414674199")).toMatchObject({
        sent: { request_uri: `sip:414674199@${host}:5060`, from: "sip:414674199@sip.example.com" }
      })
      for (const [flag, value] of [
        ["--country", "XX"],
        ["--country", "none"],
        ["--tech-prefix", "a"],
        ["--from-domain", "a b"],
        ["--send", "other"]
      ] as const)
        expect((yield* operator("route", "numbers", id, flag, value)).code, `${flag} ${value}`).not.toBe(0)
      expect((yield* operator("route", "numbers", id, "--none", "--country", "AU")).stderr).toContain("--none")
      expect(jsonOf(yield* operator("route", "numbers", id, "--none", "--json"))).toMatchObject({ number_plan: null })
      expect((yield* audits(id)).slice(1)).toEqual([
        "connection.updated number_plan.country number_plan.tech_prefix number_plan.sends",
        "connection.updated number_plan.from_user number_plan.from_domain",
        "connection.updated number_plan.national_prefix number_plan.tech_prefix number_plan.from_user",
        "connection.updated number_plan.country number_plan.national_prefix number_plan.sends number_plan.from_domain"
      ])
    })
  )

  it.effect("are removed when nothing names them; otherwise it says what does", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, host, id } = yield* added("--default")
      const peers = PeerTable.make()
      yield* (yield* RouteDirectory).knownPeers((update) => Effect.sync(() => peers.take(update)))
      yield* sql`
        INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, route_id, features,
          upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
        VALUES ('svc_did_removed', ${caller.tenantId}, '+12025559901', 'US', 'local', 'active', ${id}, '{}', 0, 0, now(),
          now())`
      const refused = yield* operator("route", "remove", id)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain("default route; numbers name it: +12025559901")
      const { results } = jsonOf(yield* operator("route", "list", "--tenant", caller.tenantId, "--json"))
      const simulator = (results as ReadonlyArray<Record<string, unknown>>).find(
        ({ adapter }) => adapter === "simulator"
      )
      yield* operator("route", "default", String(simulator?.["id"]))
      yield* sql`UPDATE phone_number SET route_id = NULL WHERE id = 'svc_did_removed'`
      expect((yield* operator("route", "remove", id)).code).toBe(0)
      expect(peers.has(host)).toBe(false)
      expect(yield* listed(caller, id)).toBe(undefined)
      expect((yield* Effect.flip(place(caller, id))).code).toBe("not_found")
      expect((yield* operator("route", "remove", id)).stderr).toContain("not_found")
      expect(yield* audits(id)).toEqual(["connection.created is_default", "connection.deleted name"])
    })
  )

  it.effect("have limits, of calls at once and of new calls a second, that refuse a call before it begins", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* added()
      // The recording carrier of this world is registered as the simulator.
      yield* sql`UPDATE route SET adapter = 'simulator' WHERE id = ${id}`
      expect((yield* operator("route", "limits", id, "--calls", "2")).stderr).toContain("only a SIP trunk")
      yield* sql`UPDATE route SET adapter = 'sip' WHERE id = ${id}`
      const limits = ["--calls", "2", "--outbound-cps", "3", "--inbound-cps", "default"]
      expect(jsonOf(yield* operator("route", "limits", id, ...limits, "--json"))).toMatchObject({
        max_calls: 2,
        outbound_cps: 3,
        inbound_cps: null
      })
      yield* sql`UPDATE route SET adapter = 'simulator' WHERE id = ${id}`
      yield* Effect.sleep(2_500)
      yield* place(caller, id)
      yield* place(caller, id)
      expect(yield* listed(caller, id)).toMatchObject({ live_calls: 2 })
      expect(yield* Effect.flip(place(caller, id))).toMatchObject({
        code: "concurrent_call_cap_exceeded",
        param: "route_id"
      })
      // Another route of the tenant has its own limit.
      yield* place(caller, null)
      yield* (yield* Calls).endAll(caller.tenantId, "hung_up")
      yield* sql`UPDATE route SET max_calls = NULL, outbound_cps = 1 WHERE id = ${id}`
      expect((yield* operator("route", "limits", id, "--calls", "100001")).code).toBe(1)
      expect(yield* audits(id)).toEqual(["connection.created is_default", "connection.updated max_calls outbound_cps"])
    })
  )

  it.effect("show whether they answer, and refuse calls while they do not where the operator asked for it", () =>
    Effect.gen(function* () {
      const states = yield* TrunkStates
      const { caller, id } = yield* added()
      expect(yield* listed(caller, id)).toMatchObject({ state: "unknown", rtt_ms: null, last_status: null })
      states.report(id, { state: "reachable", since: 0, rttMs: 12.34, lastStatus: 200 })
      expect(yield* listed(caller, id)).toMatchObject({
        state: "reachable",
        state_since: "1970-01-01T00:00:00.000Z",
        rtt_ms: 12.3,
        last_status: 200
      })
      states.report(id, { state: "unreachable", since: 0, rttMs: null, lastStatus: null })
      // This world has no SIP, so the call fails only at its carrier.
      const tried = yield* Effect.flip(place(caller, id))
      expect(tried.message).toContain("the carrier of this route")
      yield* operator("route", "limits", id, "--unreachable", "refuse")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE route SET adapter = 'simulator' WHERE id = ${id}`
      yield* Effect.sleep(2_500)
      expect(yield* Effect.flip(place(caller, id))).toMatchObject({
        code: "service_unavailable",
        message: "the trunk of this connection does not answer; try again"
      })
      states.report(id, null)
      yield* place(caller, id)
    })
  )

  it.effect(
    "are in the metrics: reachable, round trip, answers, live calls; and gone when they are not asked any more",
    () =>
      Effect.gen(function* () {
        const states = yield* TrunkStates
        const { id } = yield* added()
        const scraped = Effect.gen(function* () {
          const { port } = yield* OperatorServer
          const text = yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
          return text.split("\n").filter((line) => line.includes(id))
        })
        states.report(id, { state: "unreachable", since: 0, rttMs: null, lastStatus: 503 })
        states.count(id, "2xx")
        states.count(id, "2xx")
        states.count(id, "none")
        expect(yield* scraped).toEqual([
          `sip_trunk_reachable{route="${id}"} 0`,
          `sip_trunk_answers_total{route="${id}",class="2xx"} 2`,
          `sip_trunk_answers_total{route="${id}",class="none"} 1`
        ])
        states.report(id, { state: "reachable", since: 0, rttMs: 25, lastStatus: 200 })
        expect((yield* scraped).slice(0, 2)).toEqual([
          `sip_trunk_reachable{route="${id}"} 1`,
          `sip_trunk_rtt_seconds{route="${id}"} 0.025`
        ])
        states.report(id, null)
        expect((yield* scraped).filter((line) => line.includes("reachable"))).toEqual([])
      })
  )

  it.effect("are named by their ids only", () =>
    Effect.gen(function* () {
      for (const id of ["x", Ids.route(`svc_route_${"0".repeat(32)}`)])
        for (const verb of ["disable", "enable", "default", "remove"])
          expect((yield* operator("route", verb, id)).stderr).toContain(`no route ${id}`)
    })
  )
})
