import * as CallSetup from "../../../../src/telephony/call/machine/CallSetup.ts"
import { expect, layer } from "@effect/vitest"
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect, Exit, Layer } from "effect"
import { request } from "node:http"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import type { Caller } from "../../../../src/runtime/audit/Audit.ts"
import { Calls } from "../../../../src/telephony/call/Call.ts"
import { type CallAction, decodeAction } from "../../../../src/telephony/call/verb/CallVerbs.ts"
import { CarrierSink, type LegReport } from "../../../../src/carrier/Carrier.ts"
import type { CallId, LegId, TenantId } from "../../../../src/domain/Id.ts"
import { run } from "../../../../src/edge/operator/cli.ts"
import * as Command from "../../../../src/edge/operator/command/Command.ts"
import * as Commands from "../../../../src/edge/operator/command/Commands.ts"
import * as Sample from "../../../support/fake/CarrierSample.ts"
import { OperatorServer } from "../../../../src/edge/operator/door/OperatorServer.ts"
import * as Ids from "../../../support/Ids.ts"
import { jsonOf, layer as world, operator, Recorded, signup } from "../OperatorWorld.ts"

/** The increments that a row of a deck shows where its file names none. */
const byTheMinute = { first_secs: 60, step_secs: 60, connection_fee_micro_usd: 0, minimum_micro_usd: 0 }

const get = Effect.fn(function* (path: string) {
  const { port } = yield* OperatorServer
  return yield* Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  })
})

const audits = Effect.fn(function* (tenantId: TenantId) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ readonly action: string }>`
    SELECT action FROM audit WHERE tenant_id = ${tenantId} AND actor_type = 'operator' ORDER BY ordinal`).map(
    ({ action }) => action
  )
})

/** A live call of this tenant that rings a phone of the recording carrier; `tell` passes a report of the carrier on. */
const placed = Effect.fn(function* (caller: Caller) {
  const calls = yield* Calls
  const sink = yield* CarrierSink
  const accounts = yield* Accounts
  yield* accounts.setQuota(caller.tenantId, { allowCallerIdForwarding: true }, { type: "operator", name: "test" })
  const rendered = yield* calls.place(
    caller,
    {
      from: "+12025550177",
      to: "+12025550100",
      routeId: null,
      customerReference: "order 7",
      timeoutSecs: 60,
      timeLimitSecs: null,
      callerIdForwarding: true,
      plan: CallSetup.nothing
    },
    null
  )
  const call = JSON.parse(rendered.body ?? "") as { id: CallId; legs: ReadonlyArray<{ id: LegId }> }
  const legId = call.legs[0]?.id ?? Ids.leg("")
  const event = Sample.numbered()
  const tell = (report: LegReport) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => sink.tell(call.id, event(legId, at, report)))
  return { id: call.id, tell, act: (action: CallAction) => calls.act(caller, call.id, action, null) }
})

layer(world, { timeout: "60 seconds", excludeTestServices: true })(
  "the operator's port (issue: OPERATOR_PORT)",
  (it) => {
    it.effect("says that the process lives", () =>
      Effect.gen(function* () {
        expect(yield* get("/healthz")).toStrictEqual({ status: 200, text: '{"status":"ok"}' })
      })
    )

    it.effect("is ready, until something stands in the way, which it names", () =>
      Effect.gen(function* () {
        const { reasons } = yield* Recorded
        expect(yield* get("/readyz")).toStrictEqual({ status: 200, text: '{"ready":true,"reasons":[]}' })
        reasons.push("draining")
        expect(yield* get("/readyz")).toStrictEqual({ status: 503, text: '{"ready":false,"reasons":["draining"]}' })
        reasons.pop()
      })
    )

    it.effect("answers no page whose name was made to lead here (DNS rebinding)", () =>
      Effect.gen(function* () {
        const { port } = yield* OperatorServer
        const asked = (method: string, path: string, host: string) =>
          Effect.callback<number>((resume) => {
            request({ port, host: "127.0.0.1", method, path, headers: { host } }, (response) => {
              response.resume()
              resume(Effect.succeed(response.statusCode ?? 0))
            }).end()
          })
        for (const path of ["/metrics", "/healthz", "/readyz", "/elsewhere"])
          expect([path, yield* asked("GET", path, `evil.example:${port}`)]).toEqual([path, 421])
        expect(yield* asked("POST", "/operator/tenant/list", "evil.example")).toBe(421)
        for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, "[::1]", "metrics.lan"])
          expect([host, yield* asked("GET", "/metrics", host)]).toEqual([host, 200])
      })
    )

    it.effect("shows metrics that Prometheus reads", () =>
      Effect.gen(function* () {
        const { status, text } = yield* get("/metrics")
        for (const name of ["balances_owed_cents", "balances_reserved_cents", "tenants_suspended"])
          expect(text).toMatch(new RegExp(`^${name} 0$`, "m"))
        expect(status).toBe(200)
        for (const line of [
          "# TYPE calls_live gauge",
          "calls_live 0",
          "webhook_deliveries_due 0",
          `jobs_due{kind="number_order.activation"} 0`,
          `jobs_failed{kind="number_order.activation"} 0`,
          "journal_unavailable_seconds 0"
        ])
          expect(text.split("\n")).toContain(line)
        for (const name of [
          "process_resident_memory_bytes",
          "nodejs_eventloop_lag_p99_seconds",
          "process_cpu_seconds_total"
        ])
          expect(text).toMatch(new RegExp(`^${name} [0-9.e+-]+$`, "m"))
      })
    )

    it.effect("shows jobs that have failed for good, and tries one again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          INSERT INTO job (kind, key, partition, tenant_id, attempt, last_error, failed_at, created_at)
          VALUES ('number_order.activation', 'svc_order_1', 0, gen_random_uuid(), 100, 'no luck', now(), now())`
        const kind = "number_order.activation"
        const counted = (yield* operator("job", "list")).stdout.split("\n").find((line) => line.startsWith(kind))
        expect(counted ?? "").toMatch(/^number_order\.activation +0 +0 +1 +0$/)
        expect((yield* operator("job", "failed")).stdout).toMatch(/svc_order_1 .* 100 .* no luck/)
        expect((yield* operator("job", "retry", kind, "svc_order_1")).code).toBe(0)
        expect((yield* operator("job", "failed")).stdout.trim()).toBe("none")
        expect((yield* operator("job", "retry", kind, "svc_order_1")).code).toBe(1)
        yield* sql`DELETE FROM job`
      })
    )

    it.effect("keeps its token where only the owner reads it, and opens to nobody without it", () =>
      Effect.gen(function* () {
        const { tokenFile } = yield* Recorded
        const { port } = yield* OperatorServer
        expect((yield* Effect.promise(() => stat(tokenFile))).mode & 0o777).toBe(0o600)
        for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "" }]) {
          const response = yield* Effect.promise(() =>
            fetch(`http://127.0.0.1:${port}/operator/tenant/list`, { method: "POST", headers, body: "{}" })
          )
          expect(response.status).toBe(401)
        }
        const outcome = yield* Effect.promise(() =>
          run(["tenant", "list"], {
            OPERATOR_PORT: String(port),
            OPERATOR_TOKEN: "x"
          })
        )
        expect([outcome.code, outcome.stderr]).toStrictEqual([
          1,
          "the operator's token is missing or wrong (invalid_credentials)"
        ])
      })
    )

    const post = Effect.fn(function* (operation: string, body: string) {
      const { port } = yield* OperatorServer
      const { tokenFile } = yield* Recorded
      const token = (yield* Effect.promise(() => readFile(tokenFile, "utf8"))).trim()
      return yield* Effect.promise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/operator/${operation}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body
        })
        const { error } = (await response.json()) as { error: { code: string; message: string } }
        return { answer: `${response.status} ${error.code}`, message: error.message }
      })
    })

    it.effect("has an operation behind every command, and a command for every operation", () =>
      Effect.gen(function* () {
        const commands = yield* Effect.promise(Commands.all)
        const { message } = yield* post("tenant/fire", "{}")
        const offered = message.replace(/^.*there are: /, "").split(", ")
        expect(commands.map(Command.route).sort()).toStrictEqual(offered.sort())
        for (const command of commands) {
          const [first = ""] = command.words.split(" ")
          const family = yield* Effect.promise(() => Commands.startingWith(first))
          expect(family).toContain(command)
          expect((yield* post(Command.route(command), '{"no such field":1}')).answer).toBe("400 invalid_request")
        }
      })
    )

    it.effect("refuses a field that it does not know, and an operation that there is not", () =>
      Effect.gen(function* () {
        expect((yield* post("tenant/list", '{"x":1}')).answer).toBe("400 invalid_request")
        expect((yield* post("tenant/list", "{")).answer).toBe("400 invalid_request")
        expect((yield* post("rates/import", `{"csv":"${"x".repeat(33 * 2 ** 20)}"}`)).answer).toBe(
          "400 invalid_request"
        )
        expect((yield* post("tenant/fire", "{}")).answer).toBe("404 not_found")
      })
    )

    it.effect("does not start on a port that is taken, and says which", () =>
      Effect.gen(function* () {
        const { port } = yield* OperatorServer
        const { tokenFile } = yield* Recorded
        const exit = yield* Effect.exit(
          Effect.scoped(Layer.build(OperatorServer.layer({ port, hosts: [], tokenFile, ready: () => [] })))
        )
        expect(Exit.isFailure(exit)).toBe(true)
        expect(String(Exit.isFailure(exit) ? exit.cause : "")).toContain(
          `OPERATOR_PORT ${port} cannot be used: another program`
        )
      })
    )

    it.effect("gives and takes credit: a ledger entry, an audit line, and the account knows", () =>
      Effect.gen(function* () {
        const { tenantId: id } = yield* signup("credit")
        const given = jsonOf(
          yield* operator("tenant", "credit", "credit", "--cents", "250", "--reason", "goodwill", "--json")
        )
        expect(given["balance"]).toMatchObject({ balance_cents: 750 })
        const taken = jsonOf(yield* operator("tenant", "credit", id, "--cents", "-50", "--reason", "mistake", "--json"))
        expect(taken["balance"]).toMatchObject({ balance_cents: 700 })
        // A correction is not spending, so the use of the caps stays the same.
        expect(taken["usage"]).toMatchObject({ daily_spend_cents: 0, monthly_spend_cents: 0 })
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* sql`SELECT amount_cents::int AS amount, type, description FROM ledger
        WHERE tenant_id = ${id} ORDER BY ordinal`
        expect(ledger).toStrictEqual([
          { amount: 500, type: "adjustment", description: "Trial credit" },
          { amount: 250, type: "adjustment", description: "goodwill" },
          { amount: -50, type: "adjustment", description: "mistake" }
        ])
        expect(yield* audits(id)).toStrictEqual(["balance.adjusted", "balance.adjusted"])
        const refused = yield* operator("tenant", "credit", "nobody", "--cents", "1", "--reason", "x")
        expect([refused.code, refused.stderr]).toStrictEqual([1, "no such tenant (not_found)"])
      })
    )

    it.effect("sets caps, limits and flags, each by itself", () =>
      Effect.gen(function* () {
        yield* signup("quota")
        const set = (...args: ReadonlyArray<string>) =>
          Effect.map(operator("tenant", "quota", "quota", ...args, "--json"), (outcome) => jsonOf(outcome))
        const all = yield* set("--daily", "none", "--concurrent", "50", "--forwarding", "on", "--credit-limit", "1000")
        expect(all["quota"]).toStrictEqual({
          daily_spend_cap_cents: null,
          monthly_spend_cap_cents: 100_000,
          concurrent_call_limit: 50,
          allow_caller_id_forwarding: true,
          webhook_subscription_limit: 50
        })
        expect(all["balance"]).toMatchObject({ credit_limit_cents: 1000 })
        const one = yield* set("--daily", "100")
        expect(one["quota"]).toMatchObject({ daily_spend_cap_cents: 100, concurrent_call_limit: 50 })
        const subscriptions = yield* set("--subscriptions", "7")
        expect(subscriptions["quota"]).toMatchObject({ daily_spend_cap_cents: 100, webhook_subscription_limit: 7 })
      })
    )

    it.effect("suspends, reactivates, and closes with the live calls", () =>
      Effect.gen(function* () {
        const { commands } = yield* Recorded
        const caller = yield* signup("status")
        const id = caller.tenantId
        const call = yield* placed(caller)
        const sent = () => commands.filter((command) => command.callId === call.id).map(({ type }) => type)
        const status = (...args: ReadonlyArray<string>) =>
          Effect.map(operator("tenant", ...args, "--json"), (outcome) => {
            const { status, suspension_reason } = jsonOf(outcome)
            return [status, suspension_reason]
          })
        expect(yield* status("suspend", "status", "--reason", "fraud_review")).toStrictEqual([
          "suspended",
          "fraud_review"
        ])
        expect(sent()).toStrictEqual(["dial"])
        expect(yield* status("reactivate", "status")).toStrictEqual(["active", null])
        expect(yield* status("close", "status")).toStrictEqual(["closed", null])
        const late = yield* operator("tenant", "reactivate", "status")
        expect([late.code, late.stderr]).toStrictEqual([1, "the tenant is closed (conflict)"])
        expect(sent()).toStrictEqual(["dial", "hangup"])
        const { end_initiator, end_reason, status: ended } = yield* (yield* Calls).find(id, call.id)
        expect([ended, end_reason, end_initiator]).toStrictEqual(["failed", "tenant_suspended", "system"])
        expect(yield* audits(id)).toStrictEqual([
          "quota.updated",
          "tenant.suspended",
          "tenant.reactivated",
          "tenant.closed",
          "call.status_changed"
        ])
        const list = yield* operator("tenant", "list")
        expect(list.stdout).toMatch(new RegExp(`${id} +status +closed`))
      })
    )

    it.effect(
      "hangs up a call, once; a tenant's calls, at once; and those of one that it suspends, with audit lines",
      () =>
        Effect.gen(function* () {
          const caller = yield* signup("hangup")
          const id = caller.tenantId
          const ending = Effect.fnUntraced(function* (callId: CallId) {
            const { end_initiator, end_reason, status } = yield* (yield* Calls).find(id, callId)
            return [status, end_reason, end_initiator]
          })
          const single = yield* placed(caller)
          yield* single.tell({ type: "answered", resume: null })
          const first = yield* operator("call", "hangup", single.id)
          expect([first.code, first.stdout]).toStrictEqual([
            0,
            `id: ${single.id}\nstatus: ended\nend_reason: normal_clearing\nend_initiator: system`
          ])
          const again = yield* operator("call", "hangup", single.id)
          expect([again.code, again.stderr]).toStrictEqual([1, "the call has already ended (call_already_ended)"])
          const unknown = yield* operator("call", "hangup", `svc_call_${"0".repeat(32)}`)
          expect(unknown.stderr).toBe("no such call (not_found)")
          expect((yield* operator("call", "hangup")).code).toBe(2)
          expect((yield* operator("call", "hangup", single.id, "--tenant", "hangup")).code).toBe(2)

          const ten = yield* Effect.forEach(Array.from({ length: 10 }), () => placed(caller), { concurrency: 10 })
          // Five calls are hung up one by one while all ten are hung up together; each ends once.
          const outcomes = yield* Effect.all(
            [
              ...ten.slice(0, 5).map((call) => operator("call", "hangup", call.id)),
              operator("call", "hangup", "--tenant", "hangup", "--json")
            ],
            { concurrency: "unbounded" }
          )
          const all = jsonOf(outcomes[5] ?? { code: 1, stdout: "{}", stderr: "" })
          expect(all["calls_that_go_on"]).toStrictEqual([])
          const alone = outcomes.slice(0, 5).filter(({ code }) => code === 0).length
          expect(alone + Number(all["ended_calls"])).toBe(10)
          for (const call of ten) expect(yield* ending(call.id)).toStrictEqual(["ended", "cancelled", "system"])

          const talking = yield* placed(caller)
          yield* talking.tell({ type: "answered", resume: null })
          const goesOn = yield* operator("tenant", "suspend", "hangup", "--json")
          expect(jsonOf(goesOn)["ended_calls"]).toBeUndefined()
          expect(yield* ending(talking.id)).toStrictEqual(["answered", null, null])
          const suspended = yield* operator("tenant", "suspend", "hangup", "--end-calls", "--json")
          expect([suspended.code, jsonOf(suspended)["ended_calls"]]).toStrictEqual([0, 1])
          expect(yield* ending(talking.id)).toStrictEqual(["ended", "tenant_suspended", "system"])
          const lines = yield* audits(id)
          expect(lines.filter((action) => action === "call.status_changed")).toHaveLength(12)
          expect(lines).toContain("tenant.suspended")
        })
    )

    it.effect("adds a SIP trunk and makes it the default; its password is never shown", () =>
      Effect.gen(function* () {
        const { tenantId: id } = yield* signup("routes")
        const added = yield* operator(
          "route",
          "add",
          "--tenant",
          "routes",
          "--name",
          "Trunk",
          "--host",
          "192.0.2.7",
          "--user",
          "u",
          "--password",
          "hush",
          "--default"
        )
        expect(added.code, added.stderr).toBe(0)
        const listed = yield* operator("route", "list", "--tenant", "routes", "--json")
        expect(listed.stdout + added.stdout).not.toContain("hush")
        const rows = jsonOf(listed)["results"] as ReadonlyArray<Record<string, unknown>>
        expect(
          rows.map((row) => [
            row["adapter"],
            row["host"],
            row["port"],
            row["username"],
            row["has_password"],
            row["is_default"]
          ])
        ).toStrictEqual([
          ["simulator", null, null, null, false, false],
          ["sip", "192.0.2.7", 5060, "u", true, true]
        ])
        expect(yield* audits(id)).toStrictEqual(["connection.created"])
        const wrong = yield* operator("route", "add", "--tenant", "routes", "--name", "T", "--host", "a b")
        expect([wrong.code, wrong.stderr]).toStrictEqual([
          1,
          'host must be an IP address or a DNS name, not "a b" (invalid_request)'
        ])
      })
    )

    it.effect("replaces the rate deck from a CSV file, all or nothing", () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Recorded
        const load = (name: string, text: string) =>
          Effect.andThen(
            Effect.promise(() => writeFile(join(dataDir, name), text)),
            operator("rates", "import", join(dataDir, name))
          )
        const header = "direction,prefix,micro_usd_per_minute\n"
        expect((yield* load("good.csv", `${header}outbound,+44,9000\ninbound,,5\n`)).stdout).toBe("rates: 2")
        const bad = yield* load("bad.csv", `${header}outbound,1,1\noutbound,1x,1\n`)
        expect([bad.code, bad.stderr]).toStrictEqual([
          1,
          'line 3: prefix must be at most 15 digits that begin a country code, not "1x" (invalid_request)'
        ])
        const listed = jsonOf(yield* operator("rates", "list", "--json"))["results"] as ReadonlyArray<unknown>
        expect([...listed]).to.have.deep.members([
          { direction: "outbound", prefix: "44", micro_usd_per_minute: 9000, ...byTheMinute },
          { direction: "inbound", prefix: "", micro_usd_per_minute: 5, ...byTheMinute }
        ])
        // A change for all tenants is in the audit log of the service and not in that of a tenant.
        const sql = yield* SqlClient.SqlClient
        expect(
          yield* sql`SELECT action, actor_type, changes FROM audit
            WHERE tenant_id IS NULL AND resource_type <> 'job' ORDER BY ordinal`.withoutTransform
        ).toStrictEqual([
          {
            action: "rates.replaced",
            actor_type: "operator",
            changes: [
              { field: "rows", from: 0, to: 2 },
              { field: "changed_rows", from: null, to: 2 },
              { field: "outbound 44", from: null, to: 9000 },
              { field: "inbound ", from: null, to: 5 }
            ]
          }
        ])
        // A deck with increments is listed in the columns of its file.
        const rows = [
          "direction,prefix,micro_usd_per_minute,first_secs,step_secs,connection_fee_micro_usd,minimum_micro_usd",
          "outbound,44,9000,30,6,500,0",
          "outbound,49,9000,,,,20000"
        ]
        expect((yield* load("increments.csv", rows.join("\n"))).stdout).toBe("rates: 2")
        expect(jsonOf(yield* operator("rates", "list", "--json"))["results"]).toEqual([
          {
            direction: "outbound",
            prefix: "44",
            micro_usd_per_minute: 9000,
            first_secs: 30,
            step_secs: 6,
            connection_fee_micro_usd: 500,
            minimum_micro_usd: 0
          },
          { direction: "outbound", prefix: "49", micro_usd_per_minute: 9000, ...byTheMinute, minimum_micro_usd: 20000 }
        ])
        // An empty deck has the default prices again.
        expect((yield* load("empty.csv", header)).stdout).toBe("rates: 0")
      })
    )

    it.effect("gives one tenant a rate deck of its own, or a discount, and shows both", () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Recorded
        const { tenantId } = yield* signup("rates")
        const path = join(dataDir, "own.csv")
        const write = (row: string) =>
          Effect.promise(() => writeFile(path, `direction,prefix,micro_usd_per_minute,first_secs,step_secs\n${row}\n`))
        const own = { direction: "outbound", prefix: "44", micro_usd_per_minute: 8, ...byTheMinute, step_secs: 1 }
        const results = Effect.fn(function* (...args: ReadonlyArray<string>) {
          return jsonOf(yield* operator(...args, "--json"))["results"]
        })
        yield* write("outbound,44,8,60,1")
        expect((yield* operator("rates", "import", path, "--tenant", "rates")).stdout).toBe("rates: 1")
        expect(yield* results("rates", "list", "--tenant", "rates")).toEqual([own])
        expect(yield* results("rates", "list")).toEqual([])
        const [deck] = (yield* results("rates", "history", "--tenant", "rates")) as ReadonlyArray<{ deck: number }>
        expect(yield* results("rates", "list", "--deck", String(deck?.deck))).toEqual([own])
        yield* write("outbound,44,9,,")
        expect(yield* results("rates", "diff", path, "--tenant", "rates")).toEqual([
          { direction: "outbound", prefix: "44", from: "8 60/1", to: 9 }
        ])
        expect((yield* operator("rates", "import", path, "--tenant", "nobody")).code).toBe(1)

        expect((yield* operator("rates", "discount", "rates", "12.5")).stdout).toContain("12.50")
        expect(yield* results("rates", "discounts")).toEqual([{ tenant_id: tenantId, percent: "12.50" }])
        for (const wrong of ["100.01", "-1", "1.234", "ten"])
          expect((yield* operator("rates", "discount", "rates", wrong)).code).not.toBe(0)
        yield* operator("rates", "discount", "rates", "0")
        expect(yield* results("rates", "discounts")).toEqual([])
        expect(yield* audits(tenantId)).toEqual(["rates.replaced", "discount.changed", "discount.changed"])
      })
    )

    it.effect("a rate deck may hold from a moment on: it is shown and compared before, and can be taken back", () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Recorded
        const path = join(dataDir, "dated.csv")
        const rates = (...args: ReadonlyArray<string>) => operator("rates", ...args)
        const rows = (outcome: Parameters<typeof jsonOf>[0]) =>
          jsonOf(outcome)["results"] as ReadonlyArray<Readonly<Record<string, unknown>>>
        const write = (...lines: ReadonlyArray<string>) =>
          Effect.promise(() => writeFile(path, ["direction,prefix,micro_usd_per_minute", ...lines, ""].join("\n")))
        yield* write("outbound,1,100", "outbound,44,200")
        expect((yield* rates("import", path)).code).toBe(0)
        yield* write("outbound,1,150", "inbound,,5")
        const effective = "2999-01-01T00:00:00Z"
        expect((yield* rates("diff", path, "--effective", effective, "--json")).stdout).toBe(
          (yield* rates("diff", path, "--json")).stdout
        )
        expect([...rows(yield* rates("diff", path, "--json"))]).to.have.deep.members([
          { direction: "outbound", prefix: "1", from: 100, to: 150 },
          { direction: "outbound", prefix: "44", from: 200, to: null },
          { direction: "inbound", prefix: "", from: null, to: 5 }
        ])
        const before = rows(yield* rates("history", "--json")).length
        expect((yield* rates("import", path, "--dry-run")).stdout).toBe("rates: 2\nchanged_rows: 3")
        expect(rows(yield* rates("history", "--json")).length).toBe(before)
        expect((yield* rates("import", path, "--effective", effective)).code).toBe(0)
        const [scheduled, holds] = rows(yield* rates("history", "--json"))
        expect([scheduled?.["status"], scheduled?.["effective_at"]]).toEqual(["scheduled", "2999-01-01T00:00:00.000Z"])
        expect([holds?.["status"], holds?.["rows"]]).toEqual(["holds", 2])
        const deck = String(scheduled?.["deck"])
        expect(rows(yield* rates("list", "--json")).map((row) => row["micro_usd_per_minute"])).toEqual([100, 200])
        expect(rows(yield* rates("list", "--deck", deck, "--json")).length).toBe(2)
        // The file is compared with the deck that holds at that moment.
        expect(rows(yield* rates("diff", path, "--effective", "2999-01-02T00:00:00Z", "--json"))).toEqual([])
        expect((yield* rates("cancel", deck)).code).toBe(0)
        expect((yield* rates("list", "--deck", deck)).stderr).toContain("(not_found)")
        expect((yield* rates("cancel", String(holds?.["deck"]))).stderr).toContain("(conflict)")
        expect((yield* rates("import", path, "--effective", "2020-01-01T00:00:00Z")).stderr).toContain(
          "(invalid_request)"
        )
        const sql = yield* SqlClient.SqlClient
        expect(
          (yield* sql<{ readonly action: string }>`
            SELECT action FROM audit WHERE tenant_id IS NULL ORDER BY ordinal DESC LIMIT 2`).map(({ action }) => action)
        ).toEqual(["rates.cancelled", "rates.scheduled"])
        yield* write()
        yield* rates("import", path)
      })
    )

    it.effect("shows what trunks cost beside what calls were charged, and says where it is not known", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* signup("margin")
        const { dataDir } = yield* Recorded
        const sql = yield* SqlClient.SqlClient
        const path = join(dataDir, "cost.csv")
        const load = (trunk: string, row: string, ...args: ReadonlyArray<string>) =>
          Effect.andThen(
            Effect.promise(() => writeFile(path, `direction,prefix,micro_usd_per_minute\n${row}\n`)),
            operator("cost", "import", trunk, path, ...args)
          )
        const add = (name: string, host: string) =>
          Effect.map(
            operator("route", "add", "--tenant", "margin", "--name", name, "--host", host, "--json"),
            (outcome) => String(jsonOf(outcome)["id"])
          )
        const [own, shared] = [yield* add("own", "192.0.2.71"), yield* add("shared", "192.0.2.72")]
        expect((yield* load("192.0.2.99", "outbound,1,1")).stderr).toContain("(not_found)")
        expect((yield* load(own, "outbound,1x,1")).stderr).toContain("(invalid_request)")
        // A deck may hold from a moment in the past. A route's own deck goes before that of its host.
        const early = ["--effective", "2025-01-01T00:00:00Z"]
        expect((yield* load("192.0.2.71", "outbound,1,1", ...early)).code).toBe(0)
        expect((yield* load(own, "outbound,1,7001", ...early)).code).toBe(0)
        expect((yield* load(own, "outbound,1,9000", "--effective", "2026-03-02T00:00:00Z")).code).toBe(0)
        expect((yield* load("192.0.2.72", "outbound,44,3000", ...early)).code).toBe(0)
        const put = (name: string, route: string, country: string, to: string, day: number, cents: number) => {
          const started = Date.UTC(2026, 2, day)
          const leg = { direction: "outbound", digits: to.slice(1), started_at: started, minutes: 2 }
          const carried = { route_id: route, debited_cents: cents, legs: [leg] }
          const entry = { id: Ids.call(name), at: started + 90_000, destination: country, outbound_calls: 1, carried }
          return sql`INSERT INTO usage_tail (tenant_id, entries)
            VALUES (${tenantId}, ${JSON.stringify([entry])}::text::jsonb)`
        }
        yield* put("first", own, "US", "+12025550100", 1, 2)
        yield* put("second", own, "US", "+12025550100", 2, 2)
        yield* put("third", shared, "GB", "+442079460000", 1, 4)
        yield* put("nobody knows", shared, "US", "+12025550100", 1, 3)
        yield* put("outside", own, "US", "+12025550100", 4, 2)
        const margin = (...args: ReadonlyArray<string>) =>
          Effect.map(
            operator("margin", "--from", "2026-03-01T00:00:00Z", "--to", "2026-03-03T00:00:00Z", ...args, "--json"),
            (outcome) => jsonOf(outcome)["results"]
          )
        const all = {
          calls: 4,
          minutes: 8,
          debited_micro_usd: 110_000,
          cost_micro_usd: 2 * (7_001 + 9_000 + 3_000),
          margin_micro_usd: 80_000 - 2 * (7_001 + 9_000 + 3_000),
          unknown_calls: 1,
          unknown_debited_micro_usd: 30_000
        }
        expect(yield* margin()).toEqual([{ group: null, name: null, ...all }])
        expect(yield* margin("--by", "tenant")).toEqual([{ group: tenantId, name: "margin", ...all }])
        expect(yield* margin("--by", "trunk")).toMatchObject([
          { group: shared, name: "192.0.2.72", debited_micro_usd: 70_000, cost_micro_usd: 6_000, unknown_calls: 1 },
          { group: own, name: "192.0.2.71", debited_micro_usd: 40_000, cost_micro_usd: 32_002, unknown_calls: 0 }
        ])
        expect(yield* margin("--by", "destination")).toMatchObject([
          { group: "US", calls: 3 },
          { group: "GB", calls: 1, margin_micro_usd: 34_000 }
        ])
        // Where no cost is known, none is shown.
        yield* sql`DELETE FROM trunk_leg WHERE call_id IN (${Ids.call("first")}, ${Ids.call("second")}, ${Ids.call("third")})`
        expect(yield* margin()).toMatchObject([{ cost_micro_usd: null, margin_micro_usd: null, unknown_calls: 1 }])
        const text = yield* operator("margin", "--from", "2026-03-01T00:00:00Z", "--to", "2026-03-03T00:00:00Z")
        expect(text.stdout).toContain("unknown")
        const wrong = ["--from", "2026-03-03T00:00:00Z", "--to", "2026-03-03T00:00:00Z"]
        expect((yield* operator("margin", ...wrong)).stderr).toContain("(invalid_request)")
        const decks = jsonOf(yield* operator("cost", "list", "--json"))["results"] as ReadonlyArray<{ deck: number }>
        expect(decks.length).toBe(4)
        const one = jsonOf(yield* operator("cost", "list", "--deck", String(decks[0]?.deck), "--json"))
        expect(one["results"]).toEqual([
          { direction: "outbound", prefix: "1", micro_usd_per_minute: 9_000, ...byTheMinute }
        ])
        expect(
          yield* sql`SELECT count(*)::int AS n FROM audit
            WHERE tenant_id IS NULL AND action = 'costs.imported' AND actor_type = 'operator'`
        ).toEqual([{ n: 4 }])
      })
    )

    it.effect("adds numbers to the inventory from standard CSV, all or none", () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Recorded
        const sql = yield* SqlClient.SqlClient
        const load = (text: string) =>
          Effect.andThen(
            Effect.promise(() => writeFile(join(dataDir, "numbers.csv"), text)),
            operator("numbers", "import", join(dataDir, "numbers.csv"))
          )
        const header = "phone_number,country_code,number_type,locality,upfront_cost_cents,monthly_cost_cents\r\n"
        const bad = yield* load(`${header}+442079460001,GB,local,London,0,50\r\n442079460002,GB,local,London,0,50\r\n`)
        expect([bad.code, bad.stderr]).toStrictEqual([
          1,
          'line 3: phone_number must be E.164 (+, a country code and a number of its plan), not "442079460002" (invalid_request)'
        ])
        const inGreatBritain = sql`
        SELECT phone_number, locality FROM inventory WHERE country_code = 'GB' ORDER BY 1`.withoutTransform
        expect(yield* inGreatBritain).toStrictEqual([])
        const good = yield* load(`${header}+442079460001,GB,local,"London, City",0,50\r\n`)
        expect([good.code, good.stdout]).toStrictEqual([0, "numbers: 1"])
        expect(yield* inGreatBritain).toStrictEqual([{ phone_number: "+442079460001", locality: "London, City" }])
        expect(
          yield* sql`SELECT tenant_id, actor_type, changes FROM audit WHERE action = 'inventory.imported'`
            .withoutTransform
        ).toStrictEqual([
          {
            tenant_id: null,
            actor_type: "operator",
            changes: [
              { field: "count", from: null, to: 1 },
              { field: "phone_numbers", from: null, to: ["+442079460001"] },
              {
                field: "prices",
                from: null,
                to: [{ upfront_cost_cents: 0, monthly_cost_cents: 50, numbers: 1 }]
              }
            ]
          }
        ])
      })
    )

    it.effect("sets dialing permissions, for all and for one", () =>
      Effect.gen(function* () {
        const { tenantId: id } = yield* signup("rules")
        const rule = (...args: ReadonlyArray<string>) => Effect.map(operator("destinations", ...args, "--json"), jsonOf)
        const everywhere = yield* rule("block-country", "kp")
        const mine = yield* rule("block-prefix", "+1900", "--tenant", "rules")
        expect(everywhere).toMatchObject({ kind: "country_block", value: "KP", tenant_id: null })
        expect(mine).toMatchObject({ kind: "prefix_block", value: "+1900", tenant_id: id })
        // A rule that is added again is not a second rule.
        expect((yield* rule("block-prefix", "+1900", "--tenant", id))["id"]).toBe(mine["id"])
        expect((yield* rule("list", "--tenant", "rules"))["results"] as ReadonlyArray<unknown>).toHaveLength(2)
        yield* rule("remove", String(mine["id"]))
        expect((yield* rule("list"))["results"] as ReadonlyArray<unknown>).toHaveLength(1)
        expect(yield* audits(id)).toStrictEqual(["destination_rule.added", "destination_rule.removed"])
        const sql = yield* SqlClient.SqlClient
        expect(
          yield* sql`SELECT changes FROM audit WHERE tenant_id IS NULL AND action = 'destination_rule.added'`
        ).toStrictEqual([{ changes: [{ field: "country_block", from: null, to: "KP" }] }])
        expect((yield* rule("block-class", "satellite"))["value"]).toBe("satellite")
        expect((yield* operator("destinations", "block-class", "moon")).code).toBe(1)
      })
    )

    it.effect("lets a simulated phone call; one that is not taken in is a refusal", () =>
      Effect.gen(function* () {
        const { inbound } = yield* Recorded
        const taken = yield* operator("simulate-inbound", "--from", "+12025550100", "--to", "+12025550150")
        expect([taken.code, taken.stdout]).toStrictEqual([0, "admitted: true\ncall_id: svc_call_1"])
        const refused = yield* operator("simulate-inbound", "--from", "+12025550100", "--to", "+12025550199")
        expect([refused.code, refused.stdout]).toStrictEqual([1, "admitted: false\ncause: not_found"])
        expect(inbound.splice(0)).toStrictEqual([
          { from: "+12025550100", to: "+12025550150" },
          { from: "+12025550100", to: "+12025550199" }
        ])
      })
    )

    it.effect("tells a simulated phone what to say, to press, and when to hang up", () =>
      Effect.gen(function* () {
        const { inbound } = yield* Recorded
        const call = ["simulate-inbound", "--from", "+12025550100", "--to", "+12025550150"] as const
        const acting = yield* operator(...call, "--say", "My order, please.", "--press", "1w2#", "--hangup-after", "30")
        expect(acting.code).toBe(0)
        expect(inbound.splice(0)).toMatchObject([
          { acts: { speech: { rate: 8_000 }, digits: "1w2#", hangUpAfterMs: 30_000 } }
        ])
        yield* operator(...call, "--press", "5")
        yield* operator(...call, "--hangup-after", "0")
        expect(inbound.splice(0).map(({ acts }) => acts)).toStrictEqual([
          { speech: null, digits: "5", hangUpAfterMs: null },
          { speech: null, digits: "", hangUpAfterMs: 0 }
        ])
        for (const wrong of [
          ["--press", "x"],
          ["--press", ""],
          ["--hangup-after", "-1"],
          ["--hangup-after", "3601"],
          ["--say", "failing text"]
        ])
          expect([wrong, (yield* operator(...call, ...wrong)).code]).not.toStrictEqual([wrong, 0])
        expect(inbound).toStrictEqual([])
      })
    )

    it.effect("tells a call's timeline from the journal, and exits with 1 when its replay is not what is stored", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const call = yield* placed(yield* signup("timeline"))
        yield* call.tell({ type: "ringing", resume: null })
        yield* call.tell({ type: "answered", resume: { dialog: ["a", 1, null] } })
        yield* call.act(decodeAction("play", { url: "https://a.example/hello.wav", loop: 2 }))
        yield* call.tell({ type: "media", event: { type: "dtmf", digit: "7", at: 0 } })
        yield* call.tell({ type: "ended", cause: "hangup", sipStatus: null, by: "far" })
        const shown = yield* operator("call", "show", call.id)
        expect(shown.code, shown.stdout + shown.stderr).toBe(0)
        for (const part of [
          "#1  place",
          "-> dial",
          "*  event 1 call.started",
          "#5  carrier media dtmf digit=•••",
          "$  charge 1 cents"
        ])
          expect(shown.stdout).toContain(part)
        expect(shown.stdout).toContain("Replaying the journal gives the stored state and events.")
        const listed = yield* operator("call", "list", "--tenant", "timeline", "--status", "ended")
        expect(listed.stdout).toMatch(new RegExp(`${call.id} +outbound .* ended +normal_clearing`))
        yield* sql`UPDATE entity SET state = jsonb_set(state, '{costCents}', '77') WHERE id = ${call.id}`
        const forged = yield* operator("call", "show", call.id)
        expect(forged.code).toBe(1)
        expect(forged.stdout).toContain("!! costCents: replayed 1, stored 77")
        const nobody = yield* operator("call", "show", `svc_call_${"0".repeat(32)}`)
        expect([nobody.code, nobody.stderr]).toStrictEqual([1, `no call svc_call_${"0".repeat(32)} (not_found)`])
      })
    )
  }
)
