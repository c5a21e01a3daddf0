import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { ListenError, Listening } from "../../../src/edge/http/Server.ts"
import * as TestServer from "./TestServer.ts"

const good = { from: "+12025550150", to: "+12025550100" }

const start = Effect.fnUntraced(function* (world: TestServer.World, graceMs?: number) {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(TestServer.layer(world, graceMs === undefined ? {} : { graceMs }), scope)
  const { port } = yield* Effect.provide(Listening, context)
  return { port, stop: Scope.close(scope, Exit.void) }
})

const refused = (port: number) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.succeed("connected"))
    })
    socket.on("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "")))
  })

describe("Server", () => {
  it.live("fails with one line that names HTTP_PORT when the port is in use", () =>
    Effect.gen(function* () {
      const world = new TestServer.World()
      const first = yield* start(world)
      const busy = Effect.scoped(Layer.build(TestServer.layer(world, { port: first.port })))
      const error = yield* Effect.flip(busy)
      expect(error).toBeInstanceOf(ListenError)
      expect(error.message).toBe(`HTTP_PORT: 127.0.0.1:${first.port} is in use by another program`)
      yield* first.stop
    })
  )

  it.live("finishes requests in flight when it closes, and accepts no new ones", () =>
    Effect.gen(function* () {
      const world = new TestServer.World()
      const { port, stop } = yield* start(world)
      const entered = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      world.next = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(gate))
      const inFlight = yield* Effect.forkChild(
        Effect.promise(() => TestServer.send(port, "POST", "/v1/calls", { body: good }))
      )
      yield* Deferred.await(entered)
      const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
      expect(yield* refused(port)).toBe("ECONNREFUSED")
      yield* Deferred.succeed(gate, undefined)
      expect((yield* Fiber.join(inFlight)).status).toBe(201)
      yield* Fiber.join(stopping)
    })
  )

  it.live("is not held up by kept-alive connections", () =>
    Effect.gen(function* () {
      const { port, stop } = yield* start(new TestServer.World(), 60_000)
      const agent = new Agent({ keepAlive: true })
      yield* Effect.callback<void>((resume) => {
        const options = { host: "127.0.0.1", port, path: "/v1/calls", agent }
        request(options, (response) => response.resume().on("end", () => resume(Effect.void))).end()
      })
      yield* stop
      agent.destroy()
    })
  )

  it.live("keeps a connection open between requests for as long as it is told, beyond the limit of a request", () =>
    Effect.gen(function* () {
      const limits = { keepAliveMs: 600_000, idleMs: 100 }
      const context = yield* Layer.build(TestServer.layer(new TestServer.World(), { limits }))
      const { port } = yield* Effect.provide(Listening, context)
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const get = Effect.callback<{ readonly kept: unknown; readonly isReused: boolean }>((resume) => {
        const asked = request({ host: "127.0.0.1", port, path: "/v1/calls", agent }, (response) => {
          const kept = response.headers["keep-alive"]
          response.resume().on("end", () => resume(Effect.succeed({ kept, isReused: asked.reusedSocket })))
        }).end()
      })
      expect(yield* get).toEqual({ kept: "timeout=600", isReused: false })
      // A limit that has passed ends the connection, however late the next request is.
      yield* Effect.sleep("300 millis")
      expect(yield* get).toEqual({ kept: "timeout=600", isReused: true })
      agent.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("cuts what is still in flight when the grace is over", () =>
    Effect.gen(function* () {
      const world = new TestServer.World()
      const { port, stop } = yield* start(world, 50)
      const entered = yield* Deferred.make<void>()
      world.next = Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
      const read = Effect.tryPromise(() => TestServer.send(port, "POST", "/v1/calls", { body: good }))
      const inFlight = yield* Effect.forkChild(Effect.exit(read))
      yield* Deferred.await(entered)
      yield* Effect.forkDetach(stop)
      expect(Exit.isFailure(yield* Fiber.join(inFlight))).toBe(true)
    })
  )
})
