import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { request } from "node:http"
import { ApiError } from "../../../../src/domain/ApiError.ts"
import * as Id from "../../../../src/domain/Id.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as Slot from "../../../../src/runtime/idempotency/Slot.ts"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()

const good = { from: "+12025550150", to: "+12025550100" }

const place = (key: string, asked: TestServer.Asked = {}, path = "/v1/calls") =>
  Effect.flatMap(Listening, ({ port }) =>
    Effect.promise(() =>
      TestServer.send(port, "POST", path, {
        body: good,
        ...asked,
        headers: { "idempotency-key": key, ...asked.headers }
      })
    )
  )

const replayed = (answer: TestServer.Answer) => answer.headers["idempotent-replayed"]

const failing = <A, E, R>(next: Effect.Effect<void, ApiError>, run: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    world.next = next
    return Effect.ensuring(
      run,
      Effect.sync(() => (world.next = Effect.void))
    )
  })

layer(TestServer.layer(world))("Idempotency-Key, guide/idempotency.md#what-a-repetition-gets", (it) => {
  describe("a repetition", () => {
    it.effect("gets the first response, byte for byte, and has no effect", () =>
      Effect.gen(function* () {
        const first = yield* place("again")
        const before = world.reached.length
        const second = yield* place("again", {}, "/v1/calls/")
        expect([first.status, replayed(first)]).toEqual([201, undefined])
        expect([second.status, replayed(second), second.text]).toEqual([201, "true", first.text])
        expect(world.reached).toHaveLength(before)
      })
    )

    it.effect("is the same request in every spelling of its path", () =>
      Effect.gen(function* () {
        const path = (id: string) => `/v1/calls/${id}/actions/hangup`
        const spellings = [
          [TestServer.callOfA, TestServer.callOfA.replace("a", "%61"), TestServer.callOfA.replace("_", "%5f")],
          ["svc_call_+1", "svc_call_%2B1", "svc_call_%2b%31"],
          ["svc_call_@:!", "svc_call_%40%3A%21"]
        ]
        for (const [first = "", ...others] of spellings) {
          const answer = yield* place("spelled", {}, path(first))
          expect(replayed(answer)).toBeUndefined()
          for (const other of others) {
            const again = yield* place("spelled", {}, `${path(other)}/`)
            expect([other, replayed(again), again.text]).toEqual([other, "true", answer.text])
          }
        }
      })
    )

    it.effect("finds the receipt that is stored for the canonical path", () =>
      Effect.gen(function* () {
        const path = `/v1/calls/${TestServer.callOfA}/actions/hangup`
        const { body, receipts } = { body: Buffer.from(JSON.stringify(good)), receipts: world.receipts }
        const owner = Id.deriveUuid("svc_live_a", "api_key")
        const slot = Slot.make({ owner, credential: "svc_live_a", idempotencyKey: "old", method: "POST", path, body })
        const stored = Slot.receipt(slot, { status: 200, body: '{"old":true}' }, Date.now())
        if (stored !== null) receipts.push(stored)
        const answer = yield* place("old", { undocumented: true }, path.replace("calls", "c%61lls"))
        expect([answer.text, replayed(answer)]).toEqual(['{"old":true}', "true"])
      })
    )

    it.effect("is another request under another key, path, method or API key", () =>
      Effect.gen(function* () {
        yield* place("separate")
        const answers = [
          yield* place("separate too"),
          yield* place("separate", {}, `/v1/calls/${TestServer.callOfA}/actions/hangup`),
          yield* place("separate", { key: "svc_live_b" })
        ]
        expect(answers.map(replayed)).toEqual([undefined, undefined, undefined])
      })
    )

    it.effect("with another body is a conflict (409 idempotency_conflict)", () =>
      Effect.gen(function* () {
        yield* place("other body")
        const answer = yield* place("other body", { body: { ...good, timeout_secs: 5 } })
        expect([answer.status, TestServer.codeOf(answer)]).toEqual([409, "idempotency_conflict"])
      })
    )

    it.effect("while the first runs is a conflict (409 conflict)", () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const entered = yield* Deferred.make<void>()
        world.next = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(gate))
        const first = yield* Effect.forkChild(place("slow"))
        yield* Deferred.await(entered)
        const second = yield* place("slow")
        world.next = Effect.void
        yield* Deferred.succeed(gate, undefined)
        expect([second.status, TestServer.codeOf(second)]).toEqual([409, "conflict"])
        expect((yield* Fiber.join(first)).status).toBe(201)
        expect(replayed(yield* place("slow"))).toBe("true")
      })
    )
  })

  describe("a refusal", () => {
    it.effect("is stored: the door's and the schema's", () =>
      Effect.gen(function* () {
        const broke = Effect.fail(ApiError.of("balance_insufficient", "no money"))
        const first = yield* failing(broke, place("402"))
        const second = yield* place("402")
        expect([second.status, replayed(second), second.text]).toEqual([402, "true", first.text])
        for (const body of ["{", "{}", '{"colour":1}']) {
          const bad = yield* place(`bad ${body}`, { body })
          const again = yield* place(`bad ${body}`, { body })
          expect([bad.status, replayed(bad), again.status, replayed(again), again.text]).toEqual([
            400,
            undefined,
            400,
            "true",
            bad.text
          ])
        }
      })
    )

    it.effect("is stored when scope or tenant refuse", () =>
      Effect.gen(function* () {
        expect((yield* place("scope", { key: "svc_live_reader" })).status).toBe(403)
        expect(replayed(yield* place("scope", { key: "svc_live_reader" }))).toBe("true")
      })
    )

    it.effect("is not stored for 401, 5xx and defects", () =>
      Effect.gen(function* () {
        const count = world.receipts.length
        yield* place("no key", { key: "nobody" })
        yield* failing(Effect.fail(ApiError.of("service_unavailable", "busy")), place("503"))
        yield* failing(Effect.die(new Error("x")), place("500"))
        expect(world.receipts).toHaveLength(count)
        for (const key of ["no key", "503", "500"]) {
          const answer = yield* place(key)
          expect([answer.status, replayed(answer)]).toEqual([201, undefined])
        }
      })
    )
  })

  describe("the key", () => {
    it.effect("has at most 128 characters", () =>
      Effect.gen(function* () {
        const answer = yield* place("k".repeat(129))
        expect([answer.status, TestServer.codeOf(answer)]).toEqual([400, "idempotency_key_too_long"])
        expect((yield* place("k".repeat(128))).status).toBe(201)
        // Node reads a header as Latin-1, so these are the bytes of UTF-8.
        const bytes = (text: string) => Buffer.from(text).toString("latin1")
        expect((yield* place(bytes("\u00fc".repeat(128)))).status).toBe(201)
        expect((yield* place(bytes("\u00fc".repeat(129)))).status).toBe(400)
      })
    )

    it.effect.each(["", " ", "\t "])("is refused when empty: %j", (key) =>
      Effect.gen(function* () {
        const before = world.reached.length
        const answer = yield* place(key)
        expect([answer.status, TestServer.codeOf(answer)]).toEqual([400, "invalid_request"])
        expect(answer.text).toContain("Idempotency-Key")
        expect(world.reached).toHaveLength(before)
      })
    )

    it.effect.each(["", "k".repeat(129)])("is looked at after the scope", (key) =>
      Effect.gen(function* () {
        const answer = yield* place(key, { key: "svc_live_reader" })
        expect([answer.status, TestServer.codeOf(answer)]).toEqual([403, "forbidden"])
      })
    )

    it.effect("is ignored on GET", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        for (const key of ["", "k".repeat(129)]) {
          const get = () => TestServer.send(port, "GET", "/v1/calls", { headers: { "idempotency-key": key } })
          expect((yield* Effect.promise(get)).status).toBe(200)
        }
      })
    )
  })

  it.effect("finishes what began when the client goes away, for its repetition to find", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const gate = yield* Deferred.make<void>()
      const entered = yield* Deferred.make<void>()
      const finished = yield* Deferred.make<void>()
      world.next = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(gate)).pipe(
        Effect.onExit(() => Deferred.succeed(finished, undefined))
      )
      const body = JSON.stringify(good)
      const outgoing = request({
        host: "127.0.0.1",
        port,
        method: "POST",
        path: "/v1/calls",
        agent: false,
        headers: {
          authorization: "Bearer svc_live_a",
          "idempotency-key": "gone",
          "content-type": "application/json",
          "content-length": body.length
        }
      })
      const gone = Effect.callback<void>((resume) => {
        outgoing.on("error", () => {})
        outgoing.on("close", () => resume(Effect.void))
        outgoing.destroy()
      })
      outgoing.end(body)
      yield* Deferred.await(entered)
      world.next = Effect.void
      yield* gone
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(finished)
      const again = yield* place("gone")
      expect([again.status, replayed(again)]).toEqual([201, "true"])
    })
  )
})
