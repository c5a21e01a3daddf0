import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Queue, Scope, Stream } from "effect"
import type { EgressError, EgressStreamRequest } from "../../../../src/ports/egress/Egress.ts"
import { egressOf, listen, serve } from "./Egresses.ts"

const asked = (url: string, more: Partial<EgressStreamRequest> = {}): EgressStreamRequest => ({
  url,
  method: "GET",
  headers: {},
  timeoutMs: 60_000,
  idleMs: 60_000,
  maxResponseBytes: 1_000_000,
  ...more
})

const textOf = <E>(body: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(body))

/** The failure of the head or of the body, whichever comes. */
const failure = (request: EgressStreamRequest) =>
  Effect.gen(function* () {
    const egress = yield* egressOf()
    return yield* Effect.flip(Effect.flatMap(egress.stream(request), ({ body }) => Stream.runDrain(body)))
  })

/** `count` chunks of 16 KiB, one at a time; `made` counts those that were pulled. */
const chunks = (count: number) => {
  const made = { count: 0 }
  const stream = Stream.range(1, count, 1).pipe(
    Stream.rechunk(1),
    Stream.map(() => {
      made.count++
      return new Uint8Array(16_384)
    })
  )
  return { made, stream }
}

const counting = (request: IncomingMessage, response: ServerResponse) => {
  let length = 0
  request.on("data", (chunk: Buffer) => (length += chunk.length))
  request.on("end", () => {
    const { "content-length": announced = "-", "transfer-encoding": encoding = "-" } = request.headers
    response.end(`${request.method} ${announced} ${encoding} ${length}`)
  })
}

const pour = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    if (!response.destroyed) response.once("drain", more)
  }
  more()
}

describe("streamed uploads", () => {
  it.live.each([
    [3_276_800, "PUT 3276800 - 3276800"],
    [undefined, "PUT - chunked 3276800"]
  ] as const)("sends a stream whose length is %s", ([length, expected]) =>
    Effect.gen(function* () {
      const server = yield* serve(counting)
      const { stream } = chunks(200)
      const body = length === undefined ? { stream } : { stream, length }
      const answer = yield* (yield* egressOf()).stream(asked(server.at(), { method: "PUT", body }))
      expect([answer.status, yield* textOf(answer.body)]).toStrictEqual([200, expected])
    })
  )

  it.live(
    "asks for no more of the stream than the other side takes, and fails when it takes nothing for too long",
    () =>
      Effect.gen(function* () {
        let received: IncomingMessage | undefined
        const server = yield* serve((request) => {
          received = request.pause().on("error", () => undefined)
        })
        const { made, stream } = chunks(100_000)
        const error = yield* failure(asked(server.at(), { method: "PUT", body: { stream }, idleMs: 300 }))
        expect(error).toMatchObject({ reason: "timeout", detail: "the other side reads nothing" })
        // The kernel and TLS buffer this much of 1.6 GB at most.
        expect(made.count).toBeLessThan(2_000)
        received?.resume()
        yield* server.closed(1)
      })
  )

  it.live("goes on while the other side is slow but takes something now and then", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        counting(request, response)
        const stutter = setInterval(() => (request.isPaused() ? request.resume() : request.pause()), 40)
        response.once("close", () => clearInterval(stutter))
      })
      const { stream } = chunks(600)
      const answer = yield* (yield* egressOf()).stream(
        asked(server.at(), { method: "PUT", body: { stream }, idleMs: 400 })
      )
      expect(yield* textOf(answer.body)).toBe("PUT - chunked 9830400")
    })
  )

  it.live.each([
    [99, "wrong_length"],
    [101, "wrong_length"]
  ] as const)("breaks off an upload of 100 bytes that was announced with %s", ([length, reason]) =>
    Effect.gen(function* () {
      let complete = false
      const server = yield* serve((request) => {
        request.on("error", () => undefined)
        request.resume().on("end", () => (complete = true))
      })
      const stream = Stream.make(new Uint8Array(50), new Uint8Array(50))
      expect((yield* failure(asked(server.at(), { method: "PUT", body: { length, stream } }))).reason).toBe(reason)
      yield* server.closed(1)
      expect(complete).toBe(false)
    })
  )

  it.live("fails with what the stream failed with, and the other side does not take what came for all", () =>
    Effect.gen(function* () {
      let complete = false
      const began = yield* Deferred.make<void>()
      const server = yield* serve((request) => {
        request.on("error", () => undefined)
        request.once("data", () => Deferred.doneUnsafe(began, Effect.void))
        request.on("end", () => (complete = true))
      })
      const stream = Stream.concat(
        Stream.make(new Uint8Array(100)),
        Stream.fromEffect(Effect.andThen(Deferred.await(began), Effect.fail("the disk is gone" as const)))
      )
      const egress = yield* egressOf()
      const error = yield* Effect.flip(
        egress.stream<"the disk is gone">({ ...asked(server.at()), method: "PUT", body: { stream } })
      )
      expect(error).toBe("the disk is gone")
      yield* server.closed(1)
      expect(complete).toBe(false)
    })
  )

  it.live("gives an answer that comes before the upload is over, and both directions flow", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        response.writeHead(200)
        response.flushHeaders()
        request.pipe(response)
      })
      const queue = yield* Queue.unbounded<string, Cause.Done>()
      const stream = Stream.map(Stream.fromQueue(queue), (text) => new TextEncoder().encode(text))
      const answer = yield* (yield* egressOf()).stream(asked(server.at(), { method: "POST", body: { stream } }))
      const heard: Array<string> = []
      yield* Queue.offer(queue, "one")
      yield* Stream.runForEach(Stream.decodeText(answer.body), (text) => {
        heard.push(text)
        return heard.length === 1 ? Queue.offer(queue, "two") : Queue.end(queue)
      })
      expect(heard).toStrictEqual(["one", "two"])
    })
  )
})

describe("a server that answers early and hangs up", () => {
  it.live("has its whole answer read, although the upload can go nowhere", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        request.on("error", () => undefined)
        const answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large"
        request.once("data", () => response.socket?.write(answer, () => setTimeout(() => request.socket.destroy(), 50)))
      })
      const { stream } = chunks(100_000)
      const slowly = Stream.mapEffect(stream, (chunk) => Effect.delay(Effect.succeed(chunk), 20))
      const egress = yield* egressOf()
      const answer = yield* egress.stream(asked(server.at(), { method: "PUT", idleMs: 100, body: { stream: slowly } }))
      yield* Effect.sleep(300)
      expect([answer.status, yield* textOf(answer.body)]).toStrictEqual([413, "too large"])
    })
  )
})

describe("streamed answers", () => {
  it.live("reads only what is pulled", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => pour(response))
      const egress = yield* egressOf()
      const { body } = yield* egress.stream(asked(server.at(), { maxResponseBytes: 1e12 }))
      yield* Stream.runDrain(Stream.take(body, 1))
      yield* Effect.sleep(300)
      const written = server.connections[0]?.bytesWritten ?? 0
      expect(written).toBeGreaterThan(0)
      // The kernel and TLS buffer this much of an endless answer at most.
      expect(written).toBeLessThan(16_000_000)
    })
  )

  it.live("waits for a slow reader as long as it likes, idle deadline or not", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end(Buffer.alloc(200_000)))
      const { body } = yield* (yield* egressOf()).stream(asked(server.at(), { idleMs: 100 }))
      let length = 0
      yield* Stream.runForEach(body, (chunk) => {
        length += chunk.length
        return length === chunk.length ? Effect.sleep(300) : Effect.void
      })
      expect(length).toBe(200_000)
    })
  )

  it.live("is the 3xx itself where it redirects", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.writeHead(302, { location: "/two" }).end())
      const answer = yield* (yield* egressOf()).stream(asked(server.at()))
      expect([answer.status, answer.headers["location"]]).toStrictEqual([302, "/two"])
    })
  )

  it.live.each<readonly [string, (request: IncomingMessage, response: ServerResponse) => void, EgressError["reason"]]>([
    ["never answers", () => undefined, "timeout"],
    ["drips its head", (request) => drip(request, "HTTP/1.1 200 OK\r\nX: "), "timeout"],
    ["stops in its body", (_request, response) => void response.write("half"), "timeout"],
    ["closes in its body", (_request, response) => response.write("half", () => response.destroy()), "reset"],
    [
      "announces too much",
      (_request, response) => void response.writeHead(200, { "content-length": 1_001 }).end(),
      "too_large"
    ],
    ["ends too late", (_request, response) => void response.end(Buffer.alloc(1_001)), "too_large"],
    ["never ends", (_request, response) => pour(response), "too_large"],
    ["speaks no HTTP", (request) => void request.socket.end("hello\r\n\r\n"), "reset"],
    ["hangs up", (request) => request.socket.destroy(), "reset"]
  ])("fails when the other side %s, and closes", ([, handler, reason]) =>
    Effect.gen(function* () {
      const server = yield* serve(handler)
      expect((yield* failure(asked(server.at(), { idleMs: 200, maxResponseBytes: 1_000 }))).reason).toBe(reason)
      yield* server.closed(1)
    })
  )

  it.live("gives what came before the break", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.write("half", () => response.destroy()))
      const { body } = yield* (yield* egressOf()).stream(asked(server.at()))
      const heard: Array<string> = []
      const error = yield* Effect.flip(
        Stream.runForEach(Stream.decodeText(body), (text) => Effect.sync(() => heard.push(text)))
      )
      expect([heard, error.reason]).toStrictEqual([["half"], "reset"])
    })
  )

  it.live("ends by the whole deadline although bytes come now and then", () =>
    Effect.gen(function* () {
      const server = yield* serve((request) => drip(request, "HTTP/1.1 200 OK\r\n\r\n"))
      const error = yield* failure(asked(server.at(), { timeoutMs: 300, idleMs: 5_000 }))
      expect(error).toMatchObject({ reason: "timeout", detail: "no complete answer in time" })
      yield* server.closed(1)
    })
  )

  it.live("counts a TLS handshake that never completes", () =>
    Effect.gen(function* () {
      const { port } = yield* listen()
      expect((yield* failure(asked(`https://hook.example:${port}/`, { idleMs: 100 }))).reason).toBe("timeout")
    })
  )
})

const drip = (request: IncomingMessage, head: string): void => {
  request.socket.write(head)
  const timer = setInterval(() => request.socket.write("x"), 20)
  request.socket.once("close", () => clearInterval(timer))
}

describe("a streamed request", () => {
  it.live("goes nowhere that a whole one may not go", () =>
    Effect.gen(function* () {
      expect((yield* failure(asked("https://127.0.0.2/"))).reason).toBe("blocked")
      expect((yield* failure(asked("http://hook.example/"))).reason).toBe("invalid_url")
      const inside = yield* egressOf({ resolve: async () => ["10.0.0.1"] })
      expect((yield* Effect.flip(inside.stream(asked("https://hook.example/")))).reason).toBe("blocked")
    })
  )

  it.live("is one connection, which ends with its scope and when it is interrupted", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => pour(response))
      const egress = yield* egressOf()
      const scope = yield* Scope.make()
      yield* Scope.provide(egress.stream(asked(server.at())), scope)
      const [first] = server.connections
      expect(first?.destroyed).toBe(false)
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      yield* server.closed(1)
      const silent = yield* serve(() => undefined)
      const fiber = yield* Effect.forkChild(Effect.scoped(egress.stream(asked(silent.at()))), {
        startImmediately: true
      })
      while (silent.connections.length === 0) yield* Effect.sleep(5)
      yield* Fiber.interrupt(fiber)
      yield* silent.closed(1)
    })
  )

  it.live("counts as under way until its scope ends", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const egress = yield* egressOf({ maxInFlight: 1 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* egress.stream(asked(server.at()))
          expect((yield* Effect.flip(egress.stream(asked(server.at())))).reason).toBe("connect")
        })
      )
      yield* egress.stream(asked(server.at()))
    })
  )
})
