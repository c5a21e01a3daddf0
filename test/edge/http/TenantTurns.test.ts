import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import * as FairSemaphore from "../../../src/domain/fair/FairSemaphore.ts"
import { BodyTurns, CommandTurns } from "../../../src/domain/fair/RequestTurns.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Listening } from "../../../src/edge/http/Server.ts"
import * as FileThread from "../../../src/edge/http/thread/FileThread.ts"
import * as TestServer from "./TestServer.ts"

const world = new TestServer.World()
const good = JSON.stringify({ from: "+12025550150", to: "+12025550100" })

/** The tenants that reached the door, in order. */
const reached = () =>
  world.reached.map(({ args }) =>
    (args[0] as { readonly tenantId: string }).tenantId === TestServer.tenantA ? "loud" : "quiet"
  )

const place = (key: string) =>
  Effect.flatMap(Listening, ({ port }) =>
    Effect.promise(() => TestServer.send(port, "POST", "/v1/calls", { key, body: good }))
  )

/** A placement whose client can be disconnected by the test. */
const placeAndGo = Effect.map(Listening, ({ port }) => {
  const headers = {
    authorization: "Bearer svc_live_a",
    "content-type": "application/json",
    "content-length": good.length
  }
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/calls", agent: false, headers })
  outgoing.on("error", () => {})
  outgoing.end(good)
  return outgoing
})

const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep(5)
  })

/** The requests that the service serves at once. */
const places = 8
const turns = FairSemaphore.make({ places, capacity: 1_000 })

layer(TestServer.layer(world).pipe(Layer.provide(Layer.succeed(CommandTurns, turns))), { excludeTestServices: true })(
  "Requests of many tenants",
  (it) => {
    describe("in turn", () => {
      it.effect(
        "one tenant's flood delays another's request by one turn, and is not begun for clients that have gone",
        () =>
          Effect.gen(function* () {
            const gates: Array<Deferred.Deferred<void>> = []
            world.next = Effect.suspend(() => {
              const gate = Deferred.makeUnsafe<void>()
              gates.push(gate)
              return Deferred.await(gate)
            })
            const loud = yield* Effect.forEach(Array.from({ length: places + 30 }), () =>
              Effect.forkChild(place("svc_live_a"))
            )
            yield* until(() => gates.length === places)
            const gone = yield* Effect.forEach(Array.from({ length: 30 }), () => placeAndGo)
            yield* until(() => turns.waiting() === 60)
            const quiet = yield* Effect.forkChild(place("svc_live_b"))
            yield* until(() => turns.waiting() === 61)
            for (const outgoing of gone) outgoing.destroy()
            yield* until(() => turns.waiting() === 31)
            expect(reached()).toEqual(Array.from({ length: places }, () => "loud"))
            yield* Deferred.succeed(gates[0] ?? Deferred.makeUnsafe<void>(), undefined)
            yield* until(() => gates.length > places)
            expect(reached()[places]).toBe("quiet")
            world.next = Effect.void
            for (const gate of gates) yield* Deferred.succeed(gate, undefined)
            for (const fiber of [...loud, quiet]) expect((yield* Fiber.join(fiber)).status).toBe(201)
            expect(reached()).toHaveLength(places + 31)
          })
      )
    })
  }
)

layer(TestServer.layer(world), { excludeTestServices: true })("Requests of tenants that change something", (it) => {
  it.effect("are many at once of one alone, few while there is another, whose own begins at once", () =>
    Effect.gen(function* () {
      world.reached.length = 0
      const gate = Deferred.makeUnsafe<void>()
      world.next = Deferred.await(gate)
      const loud = yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.forkChild(place("svc_live_a")))
      yield* until(() => reached().length === 100)
      const quiet = yield* Effect.forkChild(place("svc_live_b"))
      yield* until(() => reached().includes("quiet"))
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of [...loud, quiet]) expect((yield* Fiber.join(fiber)).status).toBe(201)
      world.reached.length = 0
      const second = Deferred.makeUnsafe<void>()
      world.next = Deferred.await(second)
      const again = yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.forkChild(place("svc_live_a")))
      yield* until(() => reached().length >= 2)
      again.push(yield* Effect.forkChild(place("svc_live_b")))
      yield* until(() => reached().includes("quiet"))
      expect(reached().filter((who) => who === "loud").length).toBe(2)
      world.next = Effect.void
      yield* Deferred.succeed(second, undefined)
      for (const fiber of again) expect((yield* Fiber.join(fiber)).status).toBe(201)
    })
  )
})

const bodies = FairSemaphore.make({ places: 2, capacity: 8 })
const onlyBody = FairSemaphore.make({ places: 1, capacity: 8 })

/** Unpacks nothing, and dies of a body that asks for it. */
const dies = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.on("message", ({ id, question }) => {
    const text = Buffer.concat(question.chunks).toString()
    if (text.includes("poison")) process.exit(1)
    const file = { bytes: new Uint8Array(1), sha256: "" }
    parentPort.postMessage({ id, type: "answer", answer: { type: "unpacked", text, file, bodyHash: null } })
  })`)}`
)
const documents = `/v1/porting/orders/${Id.derive("order", "port")}/documents`
const document = (bytes: number) =>
  JSON.stringify({ document_type: "loa", filename: "loa.pdf", content_base64: "A".repeat(bytes) })

/** A document whose last byte is sent on the test's command. */
const slowly = (port: number, body: string) => {
  const headers = {
    authorization: "Bearer svc_live_a",
    "content-type": "application/json",
    "content-length": body.length
  }
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: documents, agent: false, headers })
  outgoing.on("error", () => {})
  outgoing.write(body.slice(0, -1))
  return outgoing
}

layer(TestServer.layer(world).pipe(Layer.provide(Layer.succeed(BodyTurns, bodies))), { excludeTestServices: true })(
  "Long bodies",
  (it) => {
    it.effect("have few places from their first byte to their answer; short ones need none", () =>
      Effect.gen(function* () {
        world.reached.length = 0
        world.next = Effect.void
        const { port } = yield* Listening
        const long = document(1_048_576)
        const slow = [slowly(port, long), slowly(port, long)]
        yield* until(() => bodies.running() === 2)
        const third = yield* Effect.forkChild(
          Effect.promise(() => TestServer.send(port, "POST", documents, { body: long }))
        )
        yield* until(() => bodies.waiting() === 1)
        yield* Effect.promise(() => TestServer.send(port, "POST", documents, { body: document(1_024) }))
        expect(world.reached).toHaveLength(1)
        slow[0]?.end(long.slice(-1))
        yield* Fiber.join(third)
        expect(world.reached).toHaveLength(3)
        slow[1]?.destroy()
        yield* until(() => bodies.running() === 0)
      })
    )
  }
)

const oneBody = FairSemaphore.make({ places: 1, capacity: 8, patienceMs: 60_000 })

layer(TestServer.layer(world).pipe(Layer.provide(Layer.succeed(BodyTurns, oneBody))), { excludeTestServices: true })(
  "A long body that trickles",
  (it) => {
    it.effect("loses its place to another tenant's, and is answered that it came too slowly", () =>
      Effect.gen(function* () {
        world.reached.length = 0
        world.next = Effect.void
        const { port } = yield* Listening
        const long = document(1_048_576)
        const headers = { authorization: "Bearer svc_live_a", "content-type": "application/json" }
        const trickling = request({
          host: "127.0.0.1",
          port,
          method: "POST",
          path: documents,
          agent: false,
          headers: { ...headers, "content-length": long.length }
        })
        trickling.on("error", () => {})
        const refused = new Promise<string>((resolve, reject) => {
          trickling.on("response", (response) => text(response).then(resolve, reject))
        })
        const drip = setInterval(() => trickling.write("A"), 100)
        trickling.write(long.slice(0, 1_000))
        yield* until(() => oneBody.running() === 1)
        const other = yield* Effect.promise(() =>
          TestServer.send(port, "POST", documents, { key: "svc_live_b", body: long })
        )
        clearInterval(drip)
        trickling.destroy()
        expect(other.status).toBeLessThan(500)
        expect(reached()).toEqual(["quiet"])
        expect(yield* Effect.promise(() => refused)).toContain("came too slowly")
      })
    )
  }
)

layer(
  TestServer.layer(world).pipe(
    Layer.provide(Layer.merge(Layer.succeed(BodyTurns, onlyBody), Layer.succeed(FileThread.Program, dies)))
  ),
  { excludeTestServices: true }
)("Long bodies whose thread dies", (it) => {
  it.effect(
    "are answered 503, which says what to do, give their turn back, and the next is unpacked by a new one",
    () =>
      Effect.gen(function* () {
        world.reached.length = 0
        world.next = Effect.void
        const { port } = yield* Listening
        const send = (body: string) => Effect.promise(() => TestServer.send(port, "POST", documents, { body }))
        for (let round = 0; round < 2; round++) {
          const refused = yield* send(document(1_048_576).replace("loa.pdf", "poison"))
          expect([refused.status, refused.json]).toEqual([
            503,
            {
              error: {
                code: "service_unavailable",
                message: "the file was lost before it was read; send it again"
              }
            }
          ])
          expect([onlyBody.running(), world.reached.length]).toEqual([0, round])
          yield* send(document(1_048_576))
          expect(world.reached.length).toBe(round + 1)
        }
      })
  )
})

layer(TestServer.layer(world), { excludeTestServices: true })("A long body in chunks of unknown length", (it) => {
  it.effect("is refused when it is too long, and left when it breaks off", () =>
    Effect.gen(function* () {
      world.reached.length = 0
      const { port } = yield* Listening
      const refused = yield* Effect.promise(() => inChunks(port, document(15 * 1_048_576)))
      expect(refused).toContain("the body is longer than")
      const broken = slowly(port, document(1_048_576))
      yield* Effect.sleep(20)
      broken.destroy()
      const whole = yield* Effect.promise(() => inChunks(port, document(10 * 1_048_576)))
      expect([whole, world.reached.length]).toEqual([expect.stringContaining("{"), 1])
    })
  )
})

layer(TestServer.layer(world, { limits: { lingerMs: 20_000 } }), { excludeTestServices: true })(
  "A long body that is a little too long",
  (it) => {
    it.effect("is refused in words, also to a client that reads nothing before it has sent all", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        const told = yield* Effect.promise(() => unread(port, document(15 * 1_048_576)))
        expect(told).toMatch(/^HTTP\/1.1 400 [^]*the body is longer than/)
        const short = "x".repeat(100_000)
        expect(yield* Effect.promise(() => unread(port, short, "/v1/calls"))).toMatch(/^HTTP\/1.1 400 /)
      })
    )
  }
)

/** The bytes that such a client reads in the end. */
const unread = async (port: number, body: string, path = documents): Promise<string> => {
  const socket = connect(port, "127.0.0.1").pause()
  const headers = `Host: a\r\nAuthorization: Bearer svc_live_a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject)
    socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`, () => resolve())
  })
  const [first] = (await once(socket.resume(), "data")) as [Buffer]
  socket.destroy()
  return first.toString()
}

/** The answer to a document without a declared length. */
const inChunks = (port: number, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer svc_live_a", "content-type": "application/json" }
    const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: documents, agent: false, headers })
    outgoing.on("response", (response) => text(response).then(resolve, reject))
    // The service may close before it has everything.
    outgoing.on("error", () => undefined)
    for (let at = 0; at < body.length; at += 1_048_576) outgoing.write(body.slice(at, at + 1_048_576))
    outgoing.end()
  })
