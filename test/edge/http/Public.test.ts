import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiError } from "../../../src/domain/ApiError.ts"
import { ClientAddress } from "../../../src/edge/http/connection/ClientAddress.ts"
import { about } from "../../../src/edge/http/Endpoint.ts"
import { LimitedBy, Public, Visitor } from "../../../src/edge/http/Public.ts"
import { RateLimit } from "../../../src/edge/http/request/RateLimit.ts"
import * as JsonResponse from "../../../src/edge/http/answer/JsonResponse.ts"
import { Idempotency } from "../../../src/runtime/idempotency/Idempotency.ts"
import { sealedReceipt } from "../../../src/runtime/idempotency/Slot.ts"
import type { Receipt } from "../../../src/runtime/store/journal/Journal.ts"

const Join = Schema.Struct({ email: Schema.String, password: Schema.String })

class Door extends HttpApiGroup.make("door")
  .add(
    HttpApiEndpoint.post("join", "/v1/join", { payload: Join, success: Schema.Json })
      .annotateMerge(about({ summary: "Join", scope: null }))
      .annotate(LimitedBy, ["signup"])
  )
  .middleware(Public) {}
class Api extends HttpApi.make("test").add(Door).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" }) {}

const receipts: Array<Receipt> = []
let joined = 0

const handlers = HttpApiBuilder.group(Api, "door", (handlers) =>
  handlers.handle("join", ({ payload }) =>
    Effect.flatMap(
      Effect.flatMap(Visitor, ({ admit }) => admit),
      (visitor) =>
        visitor.once(`email:${payload.email.toLowerCase()}`, (slot) =>
          Effect.suspend(() => {
            if (payload.password === "taken") return Effect.fail(ApiError.of("conflict", "this e-mail is used"))
            const rendered = { status: 201, body: JSON.stringify({ number: ++joined, secret: "svc_live_x" }) }
            const receipt = sealedReceipt(slot, rendered, Date.now(), new Uint8Array(12))
            if (receipt !== null) receipts.push(receipt)
            return Effect.succeed(JsonResponse.respond(rendered))
          })
        )
    )
  )
)

class Web extends Context.Service<Web, { readonly handle: (request: Request) => Promise<Response> }>()("test/Web") {
  static readonly layer = Layer.effect(
    Web,
    Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(
          HttpApiBuilder.layer(Api).pipe(
            Layer.provide(handlers),
            Layer.provide(Public.layer),
            Layer.provide([
              ClientAddress.layer("none"),
              RateLimit.layer({ signupPerHour: 6 }),
              Idempotency.layerMemory(receipts),
              NodeHttpServer.layerHttpServices
            ])
          ),
          { disableLogger: true }
        )
      ),
      ({ dispose }) => Effect.promise(dispose)
    ).pipe(Effect.map(({ handler }) => ({ handle: (request: Request) => handler(request) })))
  )
}

const join = (body: unknown, key?: string) =>
  Effect.flatMap(Web, ({ handle }) =>
    Effect.promise(async () => {
      const response = await handle(
        new Request("http://a/v1/join", {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) }
        })
      )
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  )

const ada = { email: "Ada@example.com", password: "lovelace" }

layer(Web.layer)("a public endpoint", (it) => {
  describe("with an Idempotency-Key", () => {
    it.effect("replays by e-mail, with what was sealed, and only to who knows the body", () =>
      Effect.gen(function* () {
        const first = yield* join(ada, "k")
        const second = yield* join(ada, "k")
        expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
        expect(second.headers.get("idempotent-replayed")).toBe("true")
        expect(JSON.stringify(receipts)).not.toContain("svc_live_x")
        expect((yield* join({ ...ada, password: "guess" }, "k")).status).toBe(409)
        expect((yield* join({ ...ada, email: "grace@example.com" }, "k")).text).toBe(
          '{"number":2,"secret":"svc_live_x"}'
        )
      })
    )

    it.effect("stores a refusal", () =>
      Effect.gen(function* () {
        const first = yield* join({ ...ada, password: "taken" }, "t")
        const second = yield* join({ ...ada, password: "taken" }, "t")
        expect([first.status, second.status, second.headers.get("idempotent-replayed")]).toEqual([409, 409, "true"])
      })
    )
  })

  it.effect("answers 429 with Retry-After beyond its limit, towards which a bad body, a 400, does not count", () =>
    Effect.gen(function* () {
      for (let times = 0; times < 10; times++) expect((yield* join({ email: "a" })).status).toBe(400)
      expect((yield* join({ ...ada, colour: 1 })).status).toBe(400)
      const limited = yield* join(ada)
      expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3600"])
      expect(limited.text).toMatch(/^\{"error":\{"code":"rate_limited","message":"/)
    })
  )
})
