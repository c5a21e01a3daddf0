import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Billing } from "../../../src/money/billing/Billing.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Usages } from "../../../src/money/usage/Usage.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as Features from "../../support/service/Features.ts"
import * as SimulatedService from "../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** Numbers over HTTP, through the running service and its database. */
const start = Effect.gen(function* () {
  const started = yield* SimulatedService.start("numbers")
  const sql = yield* SqlClient.SqlClient
  const numbers = Context.get(started.context, Numbers)
  const entry = {
    countryCode: "US",
    numberType: "toll_free" as const,
    nationalDestinationCode: "800",
    region: null,
    locality: null,
    rateCenter: null,
    features: ["voice"],
    upfrontCostCents: 0,
    monthlyCostCents: 200
  }
  yield* numbers.importInventory([
    { ...entry, phoneNumber: "+18005550111" },
    { ...entry, phoneNumber: "+18005550122", features: ["voice", "fax"], region: "CA", locality: "Los Angeles" },
    { ...entry, phoneNumber: "+18885550133", nationalDestinationCode: "888" }
  ])
  let last = 159
  const tenant = Effect.gen(function* () {
    const { id, plaintext: key } = yield* Effect.provide(Features.newTenant(), started.context)
    const ask = (method: string, path: string, body?: unknown) => started.ask(key, method, `/v1/numbers${path}`, body)
    const refused = (method: string, path: string, body?: unknown) =>
      Effect.map(ask(method, path, body), (answer) => [
        answer.status,
        TestServer.codeOf(answer),
        (answer.json as { readonly error?: { readonly param?: string } }).error?.param
      ])
    const order = Effect.fnUntraced(function* (phoneNumber: string) {
      const body = { phone_numbers: [phoneNumber], country_code: "US", number_type: "local" }
      const answer = yield* ask("POST", "/order", body)
      expect([answer.status, answer.text]).toEqual([201, expect.anything()])
      return (answer.json as { readonly phone_numbers: ReadonlyArray<{ readonly id: Id.NumberId }> }).phone_numbers[0]
        ?.id as Id.NumberId
    })
    const phone = `+12025550${++last}`
    const number = yield* order(phone)
    const address = (fields: object = {}) =>
      ask("POST", "/emergency-addresses", {
        name: "Acme",
        street_address: "1600 Pennsylvania Avenue NW",
        locality: "Washington",
        postal_code: "20500",
        country_code: "us",
        ...fields
      })
    const actions = (resource: string) =>
      Effect.map(
        sql<{ readonly action: string; readonly changes: ReadonlyArray<unknown> }>`
          SELECT action, changes FROM audit WHERE resource_id = ${resource} ORDER BY ordinal`,
        (rows) => rows.map(({ action, changes }) => [action, ...changes])
      )
    return { id, key, ask, refused, order, phone, number, address, actions }
  })
  return { ...started, sql, numbers, tenant }
})
class World extends Context.Service<World, Effect.Success<typeof start>>()("test/number/World") {
  static readonly layer = Layer.effect(World, start).pipe(Layer.provideMerge(TestDatabase.layer))
}

const idOf = ({ json }: TestServer.Answer): string => (json as { readonly id: string }).id
const foundIn = ({ json }: TestServer.Answer): ReadonlyArray<string> =>
  (json as { readonly results: ReadonlyArray<{ readonly phone_number: string }> }).results.map(
    ({ phone_number: phone }) => phone
  )
const unknown = (type: "did" | "addr" | "route") => Id.derive("unknown", type)

const cases: Readonly<
  Record<string, (world: World["Service"]) => Effect.Effect<unknown, unknown, SqlClient.SqlClient>>
> = {
  "toll-free numbers are searched with each filter of the others": Effect.fnUntraced(function* ({ tenant }) {
    const { ask, refused } = yield* tenant
    const free = "/toll-free/available?country_code=US"
    const all = ["+18005550111", "+18005550122", "+18885550133"]
    for (const [filter, expected] of [
      ["", all],
      ["&limit=2", all.slice(0, 2)],
      ["&national_destination_code=800", all.slice(0, 2)],
      ["&contains=5550122", [all[1]]],
      ["&starts_with=888", [all[2]]],
      ["&ends_with=11", [all[0]]],
      ["&locality=los%20angeles", [all[1]]],
      ["&region=ca", [all[1]]],
      ["&features=fax,voice", [all[1]]]
    ] as const) {
      expect([filter, foundIn(yield* ask("GET", `${free}${filter}`))]).toEqual([filter, expected])
      const alias = `/available?number_type=toll_free&country_code=US${filter}`
      expect([filter, foundIn(yield* ask("GET", alias))]).toEqual([filter, expected])
    }
    expect(yield* refused("GET", "/toll-free/available?country_code=DE")).toEqual([
      422,
      "no_pricing_tier_configured",
      "number_type"
    ])
    for (const wrong of [
      "",
      "?country_code=USA",
      "?country_code=US&limit=0",
      "?country_code=US&limit=101",
      "?country_code=US&contains=x",
      "?country_code=US&number_type=local"
    ])
      expect((yield* refused("GET", `/toll-free/available${wrong}`)).slice(0, 2)).toEqual([400, "invalid_request"])
  }),

  "a number shows every field, and each is configured": Effect.fnUntraced(function* ({ sql, tenant }) {
    const { actions, address, ask, id, number, phone } = yield* tenant
    const before = (yield* ask("GET", `/${number}`)).json as Record<string, unknown>
    expect(before).toEqual({
      id: number,
      phone_number: phone,
      country_code: "US",
      number_type: "local",
      status: "active",
      name: null,
      route_id: null,
      features: ["voice"],
      messaging_enabled: false,
      caller_id_name: null,
      inbound_recording: { enabled: false, format: "mp3", channels: "single" },
      emergency_enabled: false,
      emergency_address_id: null,
      customer_reference: null,
      tags: [],
      source: "order",
      order_id: expect.stringMatching(/^svc_order_/),
      porting_order_id: null,
      upfront_cost_cents: 0,
      monthly_cost_cents: 100,
      next_renewal_at: expect.any(String),
      suspended_at: null,
      activated_at: expect.any(String),
      released_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String)
    })
    const [route] = yield* sql<{ readonly id: string }>`SELECT id FROM route WHERE tenant_id = ${id}`
    const emergency = idOf(yield* address())
    const fields = {
      route_id: route?.id,
      name: "Front desk",
      customer_reference: "order 7",
      tags: ["sales", "EU"],
      caller_id_name: "ACME INC 7",
      inbound_recording: { enabled: true, format: "wav", channels: "dual" },
      emergency_address_id: emergency
    }
    for (const [field, value] of Object.entries(fields)) {
      const changed = yield* ask("PATCH", `/${number}`, { [field]: value })
      expect([changed.status, changed.json]).toEqual([200, expect.objectContaining({ [field]: value })])
    }
    const after = (yield* ask("GET", `/${number}`)).json as Record<string, unknown>
    expect(after).toEqual({ ...before, ...fields, updated_at: after["updated_at"] })
    expect(Date.parse(String(after["updated_at"]))).toBeGreaterThan(Date.parse(String(before["updated_at"])))
    expect((yield* actions(number)).slice(-7)).toEqual(
      Object.entries(fields).map(([field, to]) => ["number.updated", { field, from: before[field], to }])
    )
    // Absent fields stay unchanged, within a field too, and an unchanged value leaves no line.
    expect((yield* ask("PATCH", `/${number}`, {})).json).toEqual(after)
    expect((yield* ask("PATCH", `/${number}`, { inbound_recording: { enabled: false } })).json).toMatchObject({
      inbound_recording: { enabled: false, format: "wav", channels: "dual" }
    })
    const none = { route_id: null, name: null, customer_reference: null, tags: [], caller_id_name: null }
    const off = { ...none, messaging_enabled: false, emergency_address_id: null }
    expect((yield* ask("PATCH", `/${number}`, off)).json).toMatchObject(off)
    const lines = yield* actions(number)
    yield* ask("PATCH", `/${number}`, off)
    expect(yield* actions(number)).toEqual(lines)
  }),

  "what cannot be configured is refused, and nothing of it stays": Effect.fnUntraced(function* ({ sql, tenant }) {
    const { ask, number, refused } = yield* tenant
    const other = yield* tenant
    const before = (yield* ask("GET", `/${number}`)).json
    const patch = (body: object) => refused("PATCH", `/${number}`, body)
    expect(yield* patch({ name: "x", messaging_enabled: true })).toEqual([
      409,
      "messaging_profile_not_provisioned",
      "messaging_enabled"
    ])
    expect(yield* patch({ name: "x", route_id: unknown("route") })).toEqual([404, "not_found", "route_id"])
    for (const missing of [unknown("addr"), idOf(yield* other.address())])
      expect(yield* patch({ name: "x", emergency_address_id: missing })).toEqual([
        404,
        "not_found",
        "emergency_address_id"
      ])
    for (const wrong of [
      { name: "" },
      { name: "x".repeat(121) },
      { name: 1 },
      { route_id: "x" },
      { customer_reference: "x".repeat(129) },
      { tags: ["a", "a"] },
      { tags: [""] },
      { tags: ["x".repeat(65)] },
      { tags: Array.from({ length: 51 }, (_, n) => `${n}`) },
      { messaging_enabled: "yes" },
      { caller_id_name: "" },
      { caller_id_name: "Acme" },
      { caller_id_name: "ACME & CO" },
      { caller_id_name: "ACME\r\nTO" },
      { caller_id_name: "A".repeat(16) },
      { inbound_recording: true },
      { inbound_recording: { format: "ogg" } },
      { inbound_recording: { channels: "both" } },
      { inbound_recording: { on: true } },
      { emergency_address_id: "x" },
      { emergency_enabled: true },
      { status: "released" }
    ])
      expect([wrong, (yield* patch(wrong)).slice(0, 2)]).toEqual([wrong, [400, "invalid_request"]])
    for (const id of [unknown("did"), other.number])
      expect((yield* refused("PATCH", `/${id}`, { name: "x" })).slice(0, 2)).toEqual([404, "number_not_found"])
    expect((yield* ask("GET", `/${number}`)).json).toEqual(before)
    for (const [status, code] of [
      ["pending", "number_not_yet_active"],
      ["port_pending", "number_not_yet_active"],
      ["failed", "conflict"],
      ["released", "conflict"],
      ["ported_out", "conflict"]
    ] as const) {
      yield* sql`UPDATE phone_number SET status = ${status} WHERE id = ${number}`
      expect([status, (yield* patch({ messaging_enabled: true })).slice(0, 2)]).toEqual([status, [409, code]])
    }
  }),

  "a released number is its owner's to order for 14 days, and then nobody's for 14": Effect.fnUntraced(function* ({
    numbers,
    sql,
    tenant
  }) {
    const { actions, ask, number, order, phone, refused } = yield* tenant
    const other = yield* tenant
    const find = `/available?country_code=US&contains=${phone.slice(1)}`
    expect((yield* ask("DELETE", `/${number}`)).status).toBe(204)
    expect((yield* ask("GET", `/${number}`)).json).toMatchObject({
      status: "released",
      next_renewal_at: null,
      released_at: expect.any(String)
    })
    expect(yield* numbers.byDialled(phone)).toBeNull()
    expect((yield* actions(number)).at(-1)).toEqual([
      "number.released",
      { field: "status", from: "active", to: "released" }
    ])
    // A repeated release succeeds, and is recorded once.
    expect((yield* ask("DELETE", `/${number}`)).status).toBe(204)
    expect((yield* actions(number)).filter(([action]) => action === "number.released").length).toBe(1)
    const wanted = { phone_numbers: [phone], country_code: "US", number_type: "local" }
    expect(foundIn(yield* other.ask("GET", find))).toEqual([])
    expect((yield* other.refused("POST", "/order", wanted)).slice(0, 2)).toEqual([400, "order_invalid"])
    expect(foundIn(yield* ask("GET", find))).toEqual([phone])
    const again = yield* order(phone)
    expect(again).not.toBe(number)
    expect((yield* ask("DELETE", `/${again}`)).status).toBe(204)
    const passed = (days: number) => sql`
      UPDATE phone_number SET held_until = held_until - ${days} * interval '1 day',
        aged_until = aged_until - ${days} * interval '1 day' WHERE phone_number = ${phone}`
    yield* passed(13.99)
    expect(foundIn(yield* ask("GET", find))).toEqual([phone])
    yield* passed(0.02)
    expect(foundIn(yield* ask("GET", find))).toEqual([])
    expect((yield* refused("POST", "/order", wanted)).slice(0, 2)).toEqual([400, "order_invalid"])
    yield* passed(13.98)
    expect(foundIn(yield* other.ask("GET", find))).toEqual([])
    yield* passed(0.02)
    expect(foundIn(yield* other.ask("GET", find))).toEqual([phone])
    expect(foundIn(yield* ask("GET", find))).toEqual([phone])
    yield* other.order(phone)
  }),

  "a number that rests places no calls, is busy for those who call it, and is configured all the same":
    Effect.fnUntraced(function* ({ ask: request, numbers, tenant }) {
      const { ask, key, number, phone } = yield* tenant
      const caller = yield* tenant
      const place = (from: string, to: string, by = key) => request(by, "POST", "/v1/calls", { from, to })
      yield* numbers.suspend(phone, null)
      expect((yield* ask("GET", `/${number}`)).json).toMatchObject({
        status: "active",
        suspended_at: expect.any(String)
      })
      const refused = yield* place(phone, "+12025550100")
      expect([refused.status, TestServer.codeOf(refused)]).toEqual([403, "from_number_not_owned"])
      const calling = yield* place(caller.phone, phone, caller.key)
      const over = yield* Effect.repeat(
        Effect.map(
          Effect.delay(request(caller.key, "GET", `/v1/calls/${idOf(calling)}`), "20 millis"),
          ({ json }) => json as { readonly status: string; readonly end_reason: string | null }
        ),
        { until: ({ end_reason: reason }) => reason !== null, times: 200 }
      )
      expect(over).toMatchObject({ status: "failed", end_reason: "user_busy" })
      expect((yield* ask("PATCH", `/${number}`, { name: "Resting" })).status).toBe(200)
      yield* numbers.resume(phone, null)
      expect((yield* place(phone, "+12025550100")).status).toBe(201)
    }),

  "a lookup says what numbering plans know, and is charged once it is answered": Effect.fnUntraced(function* ({
    context,
    sql,
    tenant
  }) {
    const { ask, id, refused } = yield* tenant
    const other = yield* tenant
    const billing = Context.get(context, Billing)
    const found = {
      phone_number: "+18005550111",
      valid: true,
      national_format: "(800) 555-0111",
      country_code: "US",
      carrier: { name: null, type: "toll_free", mobile_country_code: null, mobile_network_code: null },
      caller_name: null,
      portability: { ported: null, ported_at: null, lrn: null, ocn: null, spid_carrier_name: null },
      cost_cents: 0
    }
    const path = "/lookup/+18005550111"
    for (const query of ["", "?type=carrier", "?type=caller_name"])
      expect((yield* ask("GET", `${path}${query}`)).json).toEqual(found)
    expect((yield* ask("GET", "/lookup/+999123456")).json).toMatchObject({
      valid: false,
      national_format: null,
      country_code: null
    })
    for (const wrong of ["/lookup/18005550111", "/lookup/+1", "/lookup/x", `${path}?type=owner`, `${path}?color=blue`])
      expect([wrong, (yield* refused("GET", wrong)).slice(0, 2)]).toEqual([wrong, [400, "invalid_request"]])
    const charges = sql`
      SELECT amount_cents::int AS cents, reference_type AS type, reference_id AS id FROM ledger
      WHERE tenant_id = ${id} AND type = 'lookup_charge'`
    expect(yield* charges).toEqual([])
    yield* billing.setPrice("lookup", 15_000)
    expect((yield* ask("GET", path)).json).toEqual({ ...found, cost_cents: 2 })
    expect(yield* charges).toEqual([{ cents: -2, type: "lookup", id: "+18005550111" }])
    // Usage counts answered lookups, including free ones.
    const { totals } = yield* Context.get(context, Usages).report(id, {})
    expect(totals.lookups).toBe(5)
    // The money limits the number of lookups, however many run at once.
    yield* billing.setPrice("lookup", 1_000_000)
    const answers = yield* Effect.all(
      Array.from({ length: 10 }, () => other.ask("GET", path)),
      { concurrency: "unbounded" }
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(4).fill(200),
      ...Array<number>(6).fill(402)
    ])
    expect((yield* other.refused("GET", path)).slice(0, 2)).toEqual([402, "insufficient_balance"])
    expect((yield* billing.balance(other.id)).balance_cents).toBe(0)
    yield* billing.setPrice("lookup", 0)
    expect((yield* other.ask("GET", path)).status).toBe(200)
    expect(yield* Features.ledgerAddsUp).toBe(true)
  }),

  "a number of the version before, released there, is available at once": Effect.fnUntraced(function* ({
    sql,
    tenant
  }) {
    const { id } = yield* tenant
    const other = yield* tenant
    yield* sql`INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
      upfront_cost_cents, monthly_cost_cents, activated_at, released_at, created_at, updated_at)
      VALUES (${Id.derive("old", "did")}, ${id}, '+12025550199', 'US', 'local', 'released', '{voice}', 100, 100, now(), now(),
        now(), now())`
    expect(foundIn(yield* other.ask("GET", "/available?country_code=US&ends_with=0199"))).toEqual(["+12025550199"])
    expect((yield* other.ask("GET", "?phone_number=%2B12025550199")).json).toMatchObject({ count: 0 })
  }),

  "what may not be released is not": Effect.fnUntraced(function* ({ sql, tenant }) {
    const { address, ask, number, refused } = yield* tenant
    const other = yield* tenant
    for (const id of [unknown("did"), other.number])
      expect((yield* refused("DELETE", `/${id}`)).slice(0, 2)).toEqual([404, "number_not_found"])
    expect((yield* refused("DELETE", "/x")).slice(0, 2)).toEqual([400, "invalid_request"])
    const anchor = idOf(yield* address())
    yield* ask("PATCH", `/${number}`, { emergency_address_id: anchor })
    expect((yield* refused("DELETE", `/${number}`)).slice(0, 2)).toEqual([409, "release_not_permitted"])
    for (const status of ["pending", "port_pending", "failed", "ported_out"]) {
      yield* sql`UPDATE phone_number SET status = ${status} WHERE id = ${number}`
      expect((yield* refused("DELETE", `/${number}`)).slice(0, 2)).toEqual([409, "release_not_permitted"])
    }
    yield* sql`UPDATE phone_number SET status = 'active' WHERE id = ${number}`
    yield* ask("PATCH", `/${number}`, { emergency_address_id: null })
    const all = yield* Effect.all(
      Array.from({ length: 10 }, () => ask("DELETE", `/${number}`)),
      { concurrency: "unbounded" }
    )
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(204))
    const lines = yield* sql`SELECT FROM audit WHERE resource_id = ${number} AND action = 'number.released'`
    expect(lines.length).toBe(1)
  }),

  "emergency addresses are added, listed, shown, and deleted while no number anchors them": Effect.fnUntraced(
    function* ({ sql, tenant }) {
      const { actions, address, ask, id, number, refused } = yield* tenant
      const other = yield* tenant
      const first = yield* address({
        extended_address: "Suite 4",
        administrative_area: "DC",
        customer_reference: "office 7"
      })
      expect([first.status, first.json]).toEqual([
        201,
        {
          id: expect.stringMatching(/^svc_addr_[0-9a-f]{32}$/),
          name: "Acme",
          street_address: "1600 Pennsylvania Avenue NW",
          extended_address: "Suite 4",
          locality: "Washington",
          administrative_area: "DC",
          postal_code: "20500",
          country_code: "US",
          customer_reference: "office 7",
          created_at: expect.any(String)
        }
      ])
      const second = yield* address()
      expect(second.json).toMatchObject({ extended_address: null, administrative_area: null, customer_reference: null })
      const one = `/emergency-addresses/${idOf(first)}`
      expect((yield* ask("GET", one)).json).toEqual(first.json)
      expect((yield* ask("GET", "/emergency-addresses")).json).toMatchObject({
        count: 2,
        results: [second.json, first.json]
      })
      expect((yield* ask("GET", "/emergency-addresses?page_size=1")).json).toMatchObject({
        count: 2,
        next: expect.any(String),
        results: [second.json]
      })
      expect((yield* other.ask("GET", "/emergency-addresses")).json).toMatchObject({ count: 0, results: [] })
      for (const method of ["GET", "DELETE"]) {
        expect((yield* other.refused(method, one)).slice(0, 2)).toEqual([404, "not_found"])
        expect((yield* refused(method, `/emergency-addresses/${unknown("addr")}`)).slice(0, 2)).toEqual([
          404,
          "not_found"
        ])
      }
      for (const wrong of [
        { name: "" },
        { name: "x".repeat(121) },
        { street_address: "" },
        { street_address: "x".repeat(201) },
        { extended_address: "x".repeat(201) },
        { locality: "" },
        { administrative_area: "x".repeat(121) },
        { postal_code: "" },
        { postal_code: "2050#" },
        { postal_code: "1".repeat(17) },
        { country_code: "USA" },
        { customer_reference: "x".repeat(129) },
        { city: "x" }
      ])
        expect([wrong, (yield* address(wrong)).status]).toEqual([wrong, 400])
      for (const field of ["name", "street_address", "locality", "postal_code", "country_code"])
        expect((yield* address({ [field]: undefined })).status).toBe(400)
      yield* ask("PATCH", `/${number}`, { emergency_address_id: idOf(first) })
      expect((yield* refused("DELETE", one)).slice(0, 2)).toEqual([409, "conflict"])
      yield* ask("PATCH", `/${number}`, { emergency_address_id: idOf(second) })
      expect((yield* ask("DELETE", one)).status).toBe(204)
      expect((yield* refused("GET", one)).slice(0, 2)).toEqual([404, "not_found"])
      expect((yield* actions(idOf(first))).map(([action]) => String(action)).toSorted()).toEqual([
        "emergency_address.created",
        "emergency_address.deleted"
      ])
      yield* sql`INSERT INTO emergency_address (id, tenant_id, name, street_address, locality, postal_code, country_code, created_at)
        SELECT 'svc_addr_' || md5(n::text), ${id}, 'x', 'x', 'x', '1', 'US', now() FROM generate_series(1, 999) n`
      const full = yield* address()
      expect([full.status, TestServer.codeOf(full)]).toEqual([409, "conflict"])
    }
  ),

  "an address is not deleted under a number that takes it at the same moment": Effect.fnUntraced(function* ({
    tenant
  }) {
    const { address, ask, number } = yield* tenant
    for (let round = 0; round < 10; round++) {
      const anchor = idOf(yield* address())
      const [taken, deleted] = yield* Effect.all(
        [ask("PATCH", `/${number}`, { emergency_address_id: anchor }), ask("DELETE", `/emergency-addresses/${anchor}`)],
        { concurrency: 2 }
      )
      expect([
        [200, 409],
        [404, 204]
      ]).toContainEqual([taken.status, deleted.status])
      if (taken.status === 200) yield* ask("PATCH", `/${number}`, { emergency_address_id: null })
    }
  })
}

layer(World.layer, { excludeTestServices: true, timeout: 60_000 })("numbers over HTTP (guide/numbers.md)", (it) => {
  for (const [name, run] of Object.entries(cases)) it.effect(name, () => Effect.flatMap(World, run))
})
