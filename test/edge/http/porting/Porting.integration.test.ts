import { expect, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { BodyTurns } from "../../../../src/domain/fair/RequestTurns.ts"
import type * as Id from "../../../../src/domain/Id.ts"
import { type News, Porting } from "../../../../src/numbers/porting/Porting.ts"
import type { PortingDocumentView, PortingOrderView } from "../../../../src/numbers/porting/PortingView.ts"
import * as Features from "../../../support/service/Features.ts"
import * as PortingSample from "../../../support/fake/PortingSample.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("porting"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")
const loa = { document_type: "loa", filename: "loa.pdf", content_base64: base64(PortingSample.pdf) } as const
const invoice = { document_type: "invoice", filename: "bill.png", content_base64: base64(PortingSample.png) } as const
const orders = "/v1/porting/orders"

let used = 0
/** A number that no other test has. */
const fresh = () => `+1215555${String(2_000 + ++used)}`

layer(running, { timeout: "60 seconds", excludeTestServices: true })("/v1/porting (guide/porting.md)", (it) => {
  const open = Effect.gen(function* () {
    const { ask, context } = yield* Running
    const tenant = yield* Effect.provide(Features.newTenant(), context)
    const porting = Context.get(context, Porting)
    const send = (method: string, path: string, body?: unknown) => ask(tenant.plaintext, method, path, body)
    const refused = (method: string, path: string, body?: unknown) =>
      Effect.map(send(method, path, body), (answer) => [answer.status, TestServer.codeOf(answer)])
    const order = (method: string, path: string, body?: unknown) =>
      Effect.map(send(method, path, body), ({ json, status }) => {
        expect([path, status, json]).toEqual([path, method === "POST" && path === orders ? 201 : 200, json])
        return json as PortingOrderView
      })
    const draft = (phoneNumbers: ReadonlyArray<string> = [fresh()]) =>
      order("POST", orders, { phone_numbers: phoneNumbers, end_user: PortingSample.endUser, customer_reference: "m" })
    const complete = Effect.fnUntraced(function* (phoneNumbers?: ReadonlyArray<string>) {
      const { id } = yield* draft(phoneNumbers)
      for (const document of [loa, invoice]) yield* send("POST", `${orders}/${id}/documents`, document)
      return id
    })
    const submitted = Effect.fnUntraced(function* (phoneNumbers?: ReadonlyArray<string>) {
      const id = yield* complete(phoneNumbers)
      yield* order("POST", `${orders}/${id}/submit`)
      return id
    })
    const told = (id: Id.PortingOrderId, news: News) => porting.told(id, news)
    const numbers = Effect.map(send("GET", "/v1/numbers"), ({ json }) =>
      (json as { readonly results: ReadonlyArray<Record<string, unknown>> }).results.map((number) => ({
        phone_number: number["phone_number"],
        status: number["status"],
        source: number["source"],
        porting_order_id: number["porting_order_id"]
      }))
    )
    const actions = (id: string) =>
      Effect.map(send("GET", `/v1/audit?resource_id=${id}`), ({ json }) =>
        (
          json as {
            readonly results: ReadonlyArray<{ readonly action: string; readonly actor: { readonly type: string } }>
          }
        ).results
          .map(({ action, actor }) => `${actor.type} ${action}`)
          .toReversed()
      )
    return { ...tenant, porting, send, refused, order, draft, complete, submitted, told, numbers, actions, ask }
  })

  it.effect("a number moves: draft, documents, submission, date, and then it is active and rings its tenant", () =>
    Effect.gen(function* () {
      const t = yield* open
      const number = fresh()
      const draft = yield* t.draft([number])
      expect(draft).toMatchObject({
        status: "draft",
        phone_numbers: [{ phone_number: number, status: "pending", activation_status: null }],
        customer_reference: "m",
        documents: [],
        parent_id: null,
        submitted_at: null
      })
      expect(JSON.stringify(draft)).not.toContain("A-1234")
      expect(yield* t.refused("POST", `${orders}/${draft.id}/submit`)).toEqual([422, "documents_required"])
      const added = yield* t.send("POST", `${orders}/${draft.id}/documents`, loa)
      expect(added.status).toBe(201)
      expect(added.json).toMatchObject({
        porting_order_id: draft.id,
        document_type: "loa",
        filename: "loa.pdf",
        content_type: "application/pdf",
        size_bytes: PortingSample.pdf.length,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        status: "pending"
      })
      yield* t.send("POST", `${orders}/${draft.id}/documents`, invoice)
      const submitted = yield* t.order("POST", `${orders}/${draft.id}/submit`)
      expect(submitted).toMatchObject({
        status: "submitted",
        phone_numbers: [{ status: "port_pending", activation_status: "pending" }]
      })
      expect(yield* t.numbers).toEqual([
        { phone_number: number, status: "port_pending", source: "port", porting_order_id: draft.id }
      ])
      const { id } = draft
      yield* t.told(id, { type: "foc", at: Date.UTC(2030, 0, 1), losingCarrier: "Other Tel" })
      expect(yield* t.order("GET", `${orders}/${id}`)).toMatchObject({
        status: "foc_confirmed",
        foc_at: "2030-01-01T00:00:00.000Z",
        losing_carrier: "Other Tel"
      })
      yield* t.told(id, { type: "complete" })
      expect(yield* t.order("GET", `${orders}/${id}`)).toMatchObject({
        status: "ported",
        ported_at: expect.any(String),
        phone_numbers: [{ status: "ported", activation_status: "active" }]
      })
      expect(yield* t.numbers).toMatchObject([{ phone_number: number, status: "active" }])
      expect(yield* t.actions(id)).toEqual([
        "api_key porting_order.created",
        "api_key porting_order.document_added",
        "api_key porting_order.document_added",
        "api_key porting_order.status_changed",
        "operator porting_order.status_changed",
        "operator porting_order.status_changed"
      ])
      expect(yield* t.refused("POST", `${orders}/${id}/cancel`)).toEqual([409, "conflict"])
    })
  )

  it.effect("a check says of each number whether it would be taken, and an order refuses what would not", () =>
    Effect.gen(function* () {
      const t = yield* open
      const mine = fresh()
      const onItsWay = fresh()
      yield* t.submitted([onItsWay])
      const asked = [mine, "+10000000", "+442079460958", "+12025550151", onItsWay]
      const { json } = yield* t.send("POST", "/v1/porting/check", { phone_numbers: asked })
      const { results } = json as { readonly results: ReadonlyArray<Record<string, unknown>> }
      expect(results.map((each) => [each["phone_number"], each["portable"], each["not_portable_reason"]])).toEqual([
        [mine, true, null],
        ["+10000000", false, "invalid_number"],
        ["+442079460958", false, "not_supported"],
        ["+12025550151", false, "already_here"],
        [onItsWay, false, "porting_in_progress"]
      ])
      const create = (numbers: ReadonlyArray<string>) => t.refused("POST", orders, { phone_numbers: numbers })
      expect(yield* create(["+10000000"])).toEqual([422, "porting_not_supported"])
      expect(yield* create(["+442079460958"])).toEqual([422, "porting_not_supported"])
      expect(yield* create(["+12025550151"])).toEqual([422, "porting_not_supported"])
      expect(yield* create([onItsWay])).toEqual([409, "porting_in_progress"])
      expect(yield* create([mine, mine])).toEqual([422, "unprocessable"])
      expect(yield* create([])).toEqual([400, "invalid_request"])
    })
  )

  it.effect("of two tenants that submit one number, at once or not, one has it", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* open, yield* open]
      const number = fresh()
      const ids = [yield* a.complete([number]), yield* b.complete([number])] as const
      const answers = yield* Effect.all(
        [a, b].map((tenant, index) => tenant.refused("POST", `${orders}/${ids[index]}/submit`)),
        { concurrency: 2 }
      )
      expect(answers.toSorted(([one], [other]) => Number(one) - Number(other))).toEqual([
        [200, undefined],
        [409, "porting_in_progress"]
      ])
      const loser = answers[0]?.[0] === 200 ? b : a
      expect(yield* loser.numbers).toEqual([])
    })
  )

  it.effect("a cancellation waits for the losing carrier, and gives the numbers back", () =>
    Effect.gen(function* () {
      const t = yield* open
      const number = fresh()
      const id = yield* t.submitted([number])
      expect((yield* t.order("POST", `${orders}/${id}/cancel`)).status).toBe("cancel_pending")
      expect(yield* t.refused("POST", `${orders}/${id}/cancel`)).toEqual([409, "conflict"])
      yield* t.told(id, { type: "cancel_refused" })
      expect((yield* t.order("GET", `${orders}/${id}`)).status).toBe("submitted")
      yield* t.order("POST", `${orders}/${id}/cancel`)
      yield* t.told(id, { type: "carrier_cancelled" })
      expect(yield* t.order("GET", `${orders}/${id}`)).toMatchObject({
        status: "cancelled",
        cancelled_at: expect.any(String),
        phone_numbers: [{ status: "cancelled", activation_status: null }]
      })
      expect(yield* t.numbers).toMatchObject([{ phone_number: number, status: "failed" }])
      // The number can be submitted again.
      yield* t.submitted([number])
    })
  )

  it.effect("an exception says what is wrong, and what it disputes has to change", () =>
    Effect.gen(function* () {
      const t = yield* open
      const id = yield* t.submitted()
      const detail = { code: "account_number_mismatch", description: "the account is another one" } as const
      yield* t.told(id, { type: "exception", details: [detail] })
      expect(yield* t.order("GET", `${orders}/${id}`)).toMatchObject({ status: "exception", status_details: [detail] })
      expect(yield* t.refused("POST", `${orders}/${id}/submit`)).toEqual([422, "csr_mismatch"])
      expect(yield* t.refused("PATCH", `${orders}/${id}`, { phone_numbers: [fresh()] })).toEqual([409, "conflict"])
      const changed = yield* t.order("PATCH", `${orders}/${id}`, { end_user: { account_number: "B-1" } })
      expect(changed.end_user).toMatchObject({ entity_name: "Acme Inc." })
      expect(yield* t.order("POST", `${orders}/${id}/submit`)).toMatchObject({
        status: "submitted",
        status_details: []
      })
      expect((yield* t.porting.inspect(id)).accountNumber).toBe("B-1")
      yield* t.told(id, { type: "exception", details: [{ code: "other", description: "something" }] })
      yield* t.order("PATCH", `${orders}/${id}`, { customer_reference: "changed" })
      yield* t.order("POST", `${orders}/${id}/submit`)
      yield* t.told(id, { type: "foc", at: Date.UTC(2030, 0, 1), losingCarrier: null })
      yield* t.told(id, { type: "complete" })
      const { json } = yield* t.send("GET", "/v1/numbers")
      expect(json).toMatchObject({ results: [{ status: "active", customer_reference: "changed" }] })
    })
  )

  it.effect("an exception that nobody answers for 14 days is cancelled, and one that was answered is not", () =>
    Effect.gen(function* () {
      const t = yield* open
      const sql = yield* SqlClient.SqlClient
      const [old, young] = [yield* t.submitted(), yield* t.submitted()]
      for (const id of [old, young])
        yield* t.told(id, { type: "exception", details: [{ code: "other", description: "something" }] })
      yield* sql`UPDATE porting_order SET exception_at = exception_at - interval '14 days' WHERE id = ${old}`
      yield* t.porting.sweep
      expect((yield* t.order("GET", `${orders}/${old}`)).status).toBe("cancelled")
      expect((yield* t.order("GET", `${orders}/${young}`)).status).toBe("exception")
      expect((yield* t.actions(old)).at(-1)).toBe("system porting_order.status_changed")
    })
  )

  it.effect("each change is told field by field, and of what is sealed only that it changed", () =>
    Effect.gen(function* () {
      const t = yield* open
      const id = yield* t.complete()
      yield* t.order("PATCH", `${orders}/${id}`, {
        customer_reference: "n",
        end_user: { entity_name: "Acme Ltd.", account_number: "B-77", pin_passcode: "7531" }
      })
      yield* t.order("POST", `${orders}/${id}/submit`)
      for (const day of [1, 2])
        yield* t.told(id, { type: "foc", at: Date.UTC(2031, 0, day), losingCarrier: "Other Tel" })
      const { json, text } = yield* t.send("GET", `/v1/audit?resource_id=${id}&page_size=5`)
      const { results } = json as { readonly results: ReadonlyArray<{ readonly changes: unknown }> }
      expect(results.slice(0, 4).map(({ changes }) => changes)).toEqual([
        [{ field: "foc_at", from: "2031-01-01T00:00:00.000Z", to: "2031-01-02T00:00:00.000Z" }],
        [
          { field: "status", from: "submitted", to: "foc_confirmed" },
          { field: "foc_at", from: null, to: "2031-01-01T00:00:00.000Z" },
          { field: "losing_carrier", from: null, to: "Other Tel" }
        ],
        [{ field: "status", from: "draft", to: "submitted" }],
        [
          { field: "customer_reference", from: "m", to: "n" },
          { field: "end_user.entity_name", from: "Acme Inc.", to: "Acme Ltd." },
          { field: "end_user.account_number", from: null, to: null },
          { field: "end_user.pin_passcode", from: null, to: null }
        ]
      ])
      expect(text).not.toMatch(/B-77|7531/)
    })
  )

  it.effect("a draft changes and is deleted with its documents; what was submitted is not", () =>
    Effect.gen(function* () {
      const t = yield* open
      const sql = yield* SqlClient.SqlClient
      const id = yield* t.complete()
      const number = fresh()
      const changed = yield* t.order("PATCH", `${orders}/${id}`, {
        phone_numbers: [number],
        requested_foc_at: "2031-01-01T00:00:00Z",
        customer_reference: null
      })
      expect(changed).toMatchObject({
        phone_numbers: [{ phone_number: number }],
        requested_foc_at: "2031-01-01T00:00:00.000Z",
        customer_reference: null
      })
      expect(yield* t.refused("PATCH", `${orders}/${id}`, { requested_foc_at: "2001-01-01T00:00:00Z" })).toEqual([
        422,
        "unprocessable"
      ])
      expect((yield* t.send("DELETE", `${orders}/${id}`)).status).toBe(204)
      expect(yield* t.refused("GET", `${orders}/${id}`)).toEqual([404, "not_found"])
      const left = yield* sql`
        SELECT 1 FROM porting_document d LEFT JOIN porting_document_part p ON p.document_id = d.id WHERE porting_order_id = ${id}`
      expect(left).toEqual([])
      const gone = yield* t.submitted()
      expect(yield* t.refused("DELETE", `${orders}/${gone}`)).toEqual([409, "conflict"])
      yield* t.told(gone, { type: "exception", details: [{ code: "other", description: "something" }] })
      expect((yield* t.send("DELETE", `${orders}/${gone}`)).status).toBe(204)
      expect((yield* t.order("GET", `${orders}/${gone}`)).status).toBe("cancelled")
    })
  )

  it.effect("documents are what their bytes say, come back as they went as attachments, and have limits", () =>
    Effect.gen(function* () {
      const t = yield* open
      const { port } = yield* Running
      const { id } = yield* t.draft()
      const add = (body: object) => t.refused("POST", `${orders}/${id}/documents`, body)
      const html = base64(Buffer.from(`%PDF-1.4\n<html>${" ".repeat(200)}</html>`))
      expect(yield* add({ ...loa, content_base64: html })).toEqual([422, "unprocessable"])
      expect(yield* add({ ...loa, content_base64: "not base64!" })).toEqual([400, "invalid_request"])
      expect(yield* add({ ...loa, filename: "../../etc/passwd" })).toEqual([400, "invalid_request"])
      expect(yield* add({ ...loa, filename: 'a"\r\nX: y.pdf' })).toEqual([400, "invalid_request"])
      expect(yield* add({ document_type: "loa", filename: "loa.pdf" })).toEqual([400, "invalid_request"])
      expect(yield* add({ ...loa, url: "https://example.com/loa.pdf" })).toEqual([400, "invalid_request"])
      expect(yield* add({ document_type: "loa", filename: "l.pdf", url: "https://127.0.0.1/" })).toEqual([
        400,
        "invalid_target_url"
      ])
      // The document is longer than any part, and has the largest size allowed.
      const tail = Buffer.from("\nstartxref\n9\n%%EOF\n")
      const sized = (bytes: number) =>
        base64(Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(bytes - 9 - tail.length, 0x20), tail]))
      const largest = yield* t.send("POST", `${orders}/${id}/documents`, {
        ...loa,
        filename: "Größe (1).pdf",
        content_base64: sized(10 * 1024 * 1024)
      })
      expect(largest.status).toBe(201)
      expect(yield* add({ ...loa, content_base64: sized(10 * 1024 * 1024 + 1) })).toEqual([400, "invalid_request"])
      const document = largest.json as PortingDocumentView
      const answer = yield* Effect.promise(async () =>
        fetch(`http://127.0.0.1:${port}/v1/porting/documents/${document.id}`, {
          headers: { authorization: `Bearer ${t.plaintext}` }
        })
      )
      expect(answer.headers.get("content-type")).toBe("application/pdf")
      expect(answer.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20(1).pdf")
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
      const body = Buffer.from(yield* Effect.promise(async () => answer.arrayBuffer()))
      expect(body.equals(Buffer.from(sized(10 * 1024 * 1024), "base64"))).toBe(true)
      const other = yield* open
      expect(yield* other.refused("GET", `/v1/porting/documents/${document.id}`)).toEqual([404, "not_found"])
      expect(yield* other.refused("GET", `${orders}/${id}/documents`)).toEqual([404, "not_found"])
      expect(yield* other.refused("POST", `${orders}/${id}/documents`, loa)).toEqual([404, "not_found"])
      for (let count = 2; count <= 20; count++) yield* t.send("POST", `${orders}/${id}/documents`, invoice)
      expect(yield* add(loa)).toEqual([409, "conflict"])
      const { json } = yield* t.send("GET", `${orders}/${id}/documents`)
      expect(json).toMatchObject({ count: 20, next: null })
      yield* t.porting.judge(document.id, "rejected")
      expect(yield* t.refused("POST", `${orders}/${id}/submit`)).toEqual([422, "documents_required"])
    })
  )

  it.effect("a workspace has at most 1 GiB of documents, of all its orders together", () =>
    Effect.gen(function* () {
      const t = yield* open
      const sql = yield* SqlClient.SqlClient
      const first = yield* t.draft()
      const second = yield* t.draft()
      const { json } = yield* t.send("POST", `${orders}/${first.id}/documents`, loa)
      yield* sql`
        UPDATE porting_document SET size_bytes = ${1024 ** 3 - PortingSample.png.length}
        WHERE id = ${(json as PortingDocumentView).id}`
      expect(yield* t.refused("POST", `${orders}/${second.id}/documents`, invoice)).toEqual([201, undefined])
      expect(yield* t.refused("POST", `${orders}/${second.id}/documents`, invoice)).toEqual([409, "conflict"])
      yield* t.send("DELETE", `${orders}/${first.id}`)
      expect(yield* t.refused("POST", `${orders}/${second.id}/documents`, invoice)).toEqual([201, undefined])
    })
  )

  it.effect("a file that is fetched waits for a place among the long bodies", () =>
    Effect.gen(function* () {
      const t = yield* open
      const turns = yield* BodyTurns
      const { id } = yield* t.draft()
      const holders = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        Effect.forkChild(turns.within(t.id)(Effect.never))
      )
      const fetched = { document_type: "loa", filename: "loa.pdf", url: "https://127.0.0.1/loa.pdf" }
      const asked = yield* Effect.forkChild(t.refused("POST", `${orders}/${id}/documents`, fetched))
      while (turns.waiting() === 0) yield* Effect.sleep(5)
      yield* Fiber.interruptAll(holders)
      expect(yield* Fiber.join(asked)).toEqual([400, "invalid_target_url"])
    })
  )

  it.effect("lists its own orders by status, and asks for the scopes of numbers", () =>
    Effect.gen(function* () {
      const t = yield* open
      const [draft, submitted] = [yield* t.complete(), yield* t.submitted()]
      const ids = (query: string) =>
        Effect.map(t.send("GET", `${orders}${query}`), ({ json }) =>
          (json as { readonly results: ReadonlyArray<PortingOrderView> }).results.map((order) => order.id)
        )
      expect(yield* ids("")).toEqual([submitted, draft])
      expect(yield* ids("?status=draft")).toEqual([draft])
      expect(yield* t.refused("GET", `${orders}?status=lost`)).toEqual([400, "invalid_request"])
      expect(yield* ids("?status=ported")).toEqual([])
      const { json } = yield* t.send("POST", "/v1/api-keys", { name: "reader", scopes: ["numbers:read"] })
      const reader = (json as { readonly api_key_plaintext: string }).api_key_plaintext
      const status = (method: string, path: string, body?: unknown) =>
        Effect.map(t.ask(reader, method, path, body), (answer) => answer.status)
      expect(yield* status("GET", `${orders}/${draft}`)).toBe(200)
      expect(yield* status("POST", "/v1/porting/check", { phone_numbers: [fresh()] })).toBe(200)
      for (const [method, path] of [
        ["POST", orders],
        ["PATCH", `${orders}/${draft}`],
        ["DELETE", `${orders}/${draft}`],
        ["POST", `${orders}/${draft}/submit`],
        ["POST", `${orders}/${draft}/cancel`],
        ["POST", `${orders}/${draft}/documents`]
      ] as const)
        expect([path, yield* status(method, path, {})]).toEqual([path, 403])
    })
  )
})
