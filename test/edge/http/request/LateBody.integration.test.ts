import { expect, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Latch, Layer } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { type ClientRequest, request } from "node:http"
import { Accounts } from "../../../../src/money/account/Account.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as Role from "../../../../src/domain/Role.ts"
import { Api } from "../../../../src/edge/http/Api.ts"
import * as Document from "../../../../src/edge/http/document/Document.ts"
import { RequiredScope, ServesSuspended } from "../../../../src/edge/http/Endpoint.ts"
import { ApiKeys } from "../../../../src/tenancy/apikey/ApiKey.ts"
import type { Caller } from "../../../../src/runtime/audit/Audit.ts"
import { Team } from "../../../../src/tenancy/team/Team.ts"
import { StatementLimit } from "../../../../src/runtime/store/StatementLimit.ts"
import * as Doors from "../../../support/service/Doors.ts"
import * as SimulatedService from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

/**
 * The head of a request is judged when it has come, and its body may come much later. Every changing operation of the
 * document is asked with a body that comes after the caller has lost its rights.
 */

interface Operation {
  readonly method: string
  /** As the document spells it, for example `/v1/calls/{id}`. */
  readonly path: string
  readonly scope: string
  readonly servesSuspended: boolean
  /** The example of the document. */
  readonly body: unknown
}

const document = Document.make() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>
}

const bodyOf = ({ method, path }: Pick<Operation, "method" | "path">): unknown => {
  const declared = document.paths[path]?.[method.toLowerCase()]?.requestBody as
    | { readonly content: Readonly<Record<string, { readonly example: unknown }>> }
    | undefined
  const { content_base64, url, ...body } = (declared?.content["application/json"]?.example ?? {}) as Record<
    string,
    unknown
  >
  return { ...body, ...(content_base64 === undefined ? (url === undefined ? {} : { url }) : { content_base64 }) }
}

const operationOf = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<Operation> => {
  const scope = Context.getOrUndefined(endpoint.annotations, RequiredScope)
  if (scope === undefined || scope === null || endpoint.method === "GET") return []
  const { method } = endpoint
  const path = endpoint.path.replaceAll(/:([a-z_]+)/g, "{$1}")
  const servesSuspended = Context.get(endpoint.annotations, ServesSuspended)
  return [{ method, path, scope, servesSuspended, body: bodyOf({ method, path }) }]
}

/** Every operation that needs a key and has a body, or may have one. */
const operations: ReadonlyArray<Operation> = (() => {
  const found: Array<Operation> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => void found.push(...operationOf(endpoint))
  })
  return found
})()

type Answer = readonly [status: number, code: string | null]

/** The head of a request has come, and the service waits for its body. */
interface Begun {
  readonly operation: Operation
  /** Sends the body, and gives the status and the code of the answer. */
  readonly finish: () => Promise<Answer>
}

/** Sends the head. The service answers it with 100 in the turn of the event loop in which it judges it. */
const begin = (
  port: number,
  operation: Operation,
  { body, headers, path }: { readonly path: string; readonly body: string; readonly headers: Record<string, string> }
): Promise<Begun> =>
  new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request({
      host: "127.0.0.1",
      port,
      method: operation.method,
      path,
      agent: false,
      headers: {
        ...headers,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        expect: "100-continue"
      }
    })
    const answered = new Promise<Answer>((answer, fail) => {
      outgoing.on("error", fail)
      outgoing.on("response", (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", fail)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          const error = text === "" ? undefined : (JSON.parse(text) as { error?: { code: string } }).error
          answer([response.statusCode ?? 0, error?.code ?? null])
        })
      })
    })
    answered.catch(reject)
    outgoing.on("continue", () =>
      resolve({
        operation,
        finish: () => {
          outgoing.end(body)
          return answered
        }
      })
    )
    outgoing.flushHeaders()
  })

type Started = Effect.Success<ReturnType<typeof SimulatedService.start>>

let workspaces = 0

/** A workspace that owns something of what the operations act on, with a key of its own and one of an administrator. */
const workspace = Effect.fnUntraced(function* (started: Started, lifeMs: number | null = null) {
  const { ask, context, port } = started
  const sql = yield* SqlClient.SqlClient
  const keys = Context.get(context, ApiKeys)
  const tenant = yield* SimulatedService.tenant(started)
  yield* tenant.paid
  const { id, number } = tenant
  const caller = yield* keys.authenticate(tenant.key, "127.0.0.1")
  const nth = ++workspaces
  const made = (path: string, body: unknown) =>
    Effect.map(ask(tenant.key, "POST", path, body), ({ json, text }) => {
      const resource = (json as { readonly id?: string }).id
      if (resource === undefined) throw new Error(`${path} made nothing: ${text}`)
      return resource
    })
  const member = (role: Role.Role) => {
    const row = { id: Id.deriveUuid(`${role} ${nth}`, "member"), email: `${role}${nth}@example.org` }
    return sql`
      INSERT INTO member (id, tenant_id, email, email_verified_at, role, password_hash, first_name, last_name, created_at)
      VALUES (${row.id}, ${id}, ${row.email}, now(), ${role}, '', 'Grace', 'Hopper', now())`.pipe(Effect.as(row))
  }
  const admin = yield* member("admin")
  const developer = yield* member("developer")
  const callId = yield* tenant.answered("+12025550100")
  const legId = (yield* tenant.find(callId)).legs[0]?.id ?? ""
  const conference = yield* made("/v1/conferences/", { name: "Weekly", host_call_id: callId })
  const joined = sql`SELECT FROM conference_participant WHERE conference_id = ${conference} AND joined_at IS NOT NULL`
  while ((yield* joined).length === 0) yield* Effect.sleep("10 millis")
  const owned = yield* sql<{ readonly id: string }>`SELECT id FROM phone_number WHERE phone_number = ${number}`
  const address = { name: "Acme", street_address: "1600 Pennsylvania Avenue NW", locality: "Washington" }
  const hook = { target_url: "https://hook.example/", event_types: ["call.started"] }
  const owns: Readonly<Record<string, string | undefined>> = {
    members: developer.id,
    invitations: yield* made("/v1/team/invitations", { email: `new${nth}@example.org`, role: "viewer" }),
    "api-keys": (yield* keys.issue(id, { name: "spare", scopes: ["calls:read"], expiresAtMs: null })).id,
    "payment-methods": yield* made("/v1/billing/payment-methods", { processor_payment_method_id: "pm_card_visa" }),
    numbers: owned[0]?.id,
    "emergency-addresses": yield* made("/v1/numbers/emergency-addresses", {
      ...address,
      postal_code: "20500",
      country_code: "US"
    }),
    calls: callId,
    conferences: conference,
    participants: callId,
    "webhook-subscriptions": yield* made("/v1/webhook-subscriptions", hook),
    // There are none of these, so without the refusal the answer would be 404.
    "webhook-deliveries": Id.deriveUuid(`${nth}`, "event"),
    recordings: Id.derive(`${nth}`, "rec"),
    orders: Id.derive(`${nth}`, "port")
  }
  const pathOf = ({ path }: Operation): string =>
    path.replaceAll(/([a-z-]+)\/\{[a-z_]+\}/g, (_, kind: string) => {
      const resource = owns[kind]
      if (resource === undefined) throw new Error(`the test has nothing for ${path}`)
      return `${kind}/${resource}`
    })
  const textOf = ({ body }: Operation): string =>
    JSON.stringify(body)
      .replaceAll("+12025550150", number)
      .replaceAll(/svc_call_[0-9a-f]+/g, callId)
      .replaceAll(/svc_leg_[0-9a-f]+/g, legId)

  const expiresAtMs = lifeMs === null ? null : (yield* Clock.currentTimeMillis) + lifeMs
  /** The service knows the key, and has noted its use. */
  const keyOf = Effect.fnUntraced(function* (by: Caller) {
    const rendered = yield* keys.create(by, { name: "asked", scopes: ["*"], expiresAtMs }, null)
    const key = (JSON.parse(rendered.body ?? "") as { readonly api_key_plaintext: string }).api_key_plaintext
    const { keyId } = yield* keys.authenticate(key, "127.0.0.1")
    const noted = sql`SELECT FROM api_key WHERE id = ${keyId} AND last_used_at IS NOT NULL`
    while ((yield* noted).length === 0) yield* Effect.sleep("5 millis")
    return { key, keyId }
  })
  const acting = { id: admin.id, name: "Grace Hopper", role: "admin", isLogin: false }
  return {
    id,
    caller,
    admin,
    expiresAtMs,
    own: yield* keyOf(caller),
    members: yield* keyOf({ ...caller, member: acting }),
    /** `keyed`: which of the requests have an Idempotency-Key. */
    begin: (key: string, chosen: ReadonlyArray<Operation>, keyed: (operation: Operation, at: number) => boolean) =>
      Effect.promise(() =>
        Promise.all(
          chosen.map((operation, at) =>
            begin(port, operation, {
              path: pathOf(operation),
              body: textOf(operation),
              headers: {
                authorization: `Bearer ${key}`,
                ...(keyed(operation, at) ? { "idempotency-key": `late ${at}` } : {})
              }
            })
          )
        )
      )
  }
})
type Workspace = Effect.Success<ReturnType<typeof workspace>>

interface Loss {
  readonly name: string
  readonly by: (of: Workspace, context: Started["context"]) => Effect.Effect<unknown, unknown, SqlClient.SqlClient>
  readonly whose: "own" | "members"
  readonly lifeMs?: number
  /** The answer of the operation afterwards; null: it is allowed as before. */
  readonly refuses: (operation: Operation) => Answer | null
}

const unknown = [401, "invalid_credentials"] as const
const suspended = [403, "tenant_suspended"] as const
const operator = { type: "operator", name: "test" } as const
const change =
  (to: { readonly role: "viewer" } | { readonly status: "disabled" }) => (of: Workspace, context: Started["context"]) =>
    Context.get(context, Team).changeMember(of.caller, of.admin.id, to, null)

const isBusy = (answer: Answer | null | undefined): boolean => answer?.[0] === 503

/** On a busy machine a key may not be looked up in time: then the request is refused with 503, and nothing happens. */
const expectedOf = (refusal: Answer | null, answer: Answer | undefined): Answer | null =>
  isBusy(answer) ? [503, "service_unavailable"] : refusal

const losses: ReadonlyArray<Loss> = [
  {
    name: "the key was revoked",
    whose: "own",
    by: (of, context) => Context.get(context, ApiKeys).revokeByOperator(of.id, of.own.keyId),
    refuses: () => unknown
  },
  {
    name: "the key expired",
    whose: "own",
    lifeMs: 2_000,
    by: (of) =>
      Effect.gen(function* () {
        while ((yield* Clock.currentTimeMillis) < (of.expiresAtMs ?? 0)) yield* Effect.sleep("20 millis")
      }),
    refuses: () => unknown
  },
  {
    name: "the member was removed",
    whose: "members",
    by: (of, context) => Context.get(context, Team).removeMember(of.caller, of.admin.id, null),
    refuses: () => unknown
  },
  { name: "the member was disabled", whose: "members", by: change({ status: "disabled" }), refuses: () => unknown },
  {
    name: "the member was demoted",
    whose: "members",
    by: change({ role: "viewer" }),
    refuses: ({ scope }) => (Role.scopesOf("viewer").includes(scope) ? null : [403, "forbidden"])
  },
  {
    name: "the workspace was suspended",
    whose: "own",
    by: (of, context) => Context.get(context, Accounts).suspend(of.id, "operator", operator),
    refuses: ({ servesSuspended }) => (servesSuspended ? null : suspended)
  },
  {
    name: "the workspace was closed",
    whose: "own",
    by: (of, context) => Context.get(context, Accounts).close(of.id, operator),
    refuses: () => suspended
  }
]

/** One service for all of these tests. */
class Running extends Context.Service<Running, Started>()("test/Running") {
  static readonly layer = Layer.effect(Running, SimulatedService.start("late")).pipe(
    // A statement is held for as long as a test needs on a busy machine.
    Layer.provide(Layer.succeed(StatementLimit, 60_000)),
    Layer.provideMerge(Layer.unwrap(Effect.map(TestDatabase.migrated, TestDatabase.processLayer)))
  )
}

/** A transaction that inserts a receipt waits from now on, until the effect that this gives. */
const holdReceipts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [isHeld, isOver] = [yield* Latch.make(), yield* Latch.make()]
  const holding = sql`LOCK TABLE idempotency IN SHARE MODE`.pipe(
    Effect.andThen(Latch.open(isHeld)),
    Effect.andThen(Latch.await(isOver)),
    sql.withTransaction
  )
  const fiber = yield* Effect.forkChild(holding)
  yield* Latch.await(isHeld)
  return Effect.andThen(Latch.open(isOver), Fiber.join(fiber))
})

/** How many connections to this database wait for a lock. */
const waiting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return rows.length
})

/** Receipts are left out, because a refusal is kept under its Idempotency-Key. */
const contents = Effect.map(Doors.contents, (tables) => ({ ...tables, idempotency: null }))

layer(Running.layer, { excludeTestServices: true })(
  "no operation does anything for a body that comes after (guide/authentication.md#order-of-checks)",
  (it) => {
    for (const { by, lifeMs, name, refuses, whose } of losses)
      it.effect(name, () =>
        Effect.gen(function* () {
          const started = yield* Running
          const of = yield* workspace(started, lifeMs)
          const chosen = operations.filter((operation) => refuses(operation) !== null)
          expect(chosen.length).toBeGreaterThan(50)
          // A refusal is kept under its Idempotency-Key, unless it is a 401.
          const keyed = (operation: Operation, at: number) => at % 2 === 1 && refuses(operation)?.[0] === 401
          const begun = yield* of.begin(of[whose].key, chosen, keyed)
          yield* by(of, started.context)
          const before = yield* Doors.contents
          // A few at a time: on a busy machine, the turns of so many at once do not come in time, which is a 503.
          const answers = yield* Effect.forEach(begun, ({ finish }) => Effect.promise(finish), { concurrency: 4 })
          const seen = begun.map(({ operation: { method, path } }, at) => [`${method} ${path}`, answers[at]])
          expect(seen).toStrictEqual(
            begun.map(({ operation }, at) => [
              `${operation.method} ${operation.path}`,
              expectedOf(refuses(operation), answers[at])
            ])
          )
          expect(answers.filter(isBusy).length).toBeLessThan(answers.length / 4)
          expect(yield* Doors.contents).toStrictEqual(before)
        })
      )

    const chosenOf = (method: string, path: string) =>
      operations.filter((one) => one.method === method && one.path === path)
    const changes = chosenOf("PATCH", "/v1/webhook-subscriptions/{id}")
    const makesKey = chosenOf("POST", "/v1/api-keys/")
    /** Starts one operation, and gives its answer to come when it waits in its transaction for `release`. */
    const held = Effect.fnUntraced(function* (of: Workspace, whose: Loss["whose"], chosen: ReadonlyArray<Operation>) {
      const release = yield* holdReceipts
      const [begun] = yield* of.begin(of[whose].key, chosen, () => true)
      if (begun === undefined) throw new Error("the document has no such operation")
      const answer = yield* Effect.forkChild(Effect.promise(begun.finish))
      while (answer.pollUnsafe() === undefined && (yield* waiting) === 0) yield* Effect.sleep("10 millis")
      return { release, operation: begun.operation, answer }
    })

    // A key that expires may not make the key of the document's example, which does not.
    for (const { by, name, refuses, whose } of losses.filter(({ lifeMs }) => lifeMs === undefined)) {
      it.effect(`nothing is changed where ${name} while the request is in its transaction`, () =>
        Effect.gen(function* () {
          const started = yield* Running
          const of = yield* workspace(started)
          const { answer, operation, release } = yield* held(of, whose, changes)
          yield* by(of, started.context)
          const before = yield* contents
          yield* release
          const answered = yield* Fiber.join(answer)
          expect(answered).toStrictEqual(expectedOf(refuses(operation), answered))
          expect(yield* contents).toStrictEqual(before)
        })
      )

      // Otherwise a revocation of all keys of a member would not see the key that is being made.
      it.effect(`a key that is being made comes first where ${name} meanwhile, and ends with its member`, () =>
        Effect.gen(function* () {
          const started = yield* Running
          const of = yield* workspace(started)
          const { answer, operation, release } = yield* held(of, whose, makesKey)
          const loss = yield* Effect.forkChild(by(of, started.context))
          while (loss.pollUnsafe() === undefined && (yield* waiting) < 2) yield* Effect.sleep("10 millis")
          expect(loss.pollUnsafe()).toBeUndefined()
          yield* release
          yield* Fiber.join(loss)
          const answered = yield* Fiber.join(answer)
          expect(answered).toStrictEqual(expectedOf([201, null], answered))
          const sql = yield* SqlClient.SqlClient
          const { name: asked } = operation.body as { readonly name: string }
          const live = yield* sql`
            SELECT FROM api_key WHERE tenant_id = ${of.id} AND name = ${asked} AND revoked_at IS NULL`
          // Each request checks the workspace and the role, so only a member that is gone ends the key itself.
          const endsKeys = whose === "members" && refuses(operation)?.[0] === 401
          expect(live.length).toBe(endsKeys || isBusy(answered) ? 0 : 1)
        })
      )
    }
  }
)
