import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Result, Stream } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hash } from "node:crypto"
import { OperatorTarget } from "../../../../src/ports/egress/OperatorTarget.ts"
import * as NodeOperatorEgress from "../../../../src/ports/egress/node/NodeOperatorEgress.ts"
import * as S3Storage from "../../../../src/ports/storage/s3/S3Storage.ts"
import * as RequestSignature from "../../../../src/ports/storage/s3/RequestSignature.ts"
import { Storage } from "../../../../src/ports/storage/Storage.ts"

const credentials = { accessKeyId: "me", secretAccessKey: "secret", region: "here-1" }
const content = Buffer.from("The sound of a call. ".repeat(50))

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

/** A store in memory that checks signatures and hashes; `next` answers the next request instead. */
const bucket = Effect.acquireRelease(
  Effect.promise(async () => {
    const objects = new Map<string, Buffer>()
    const forged: Array<string> = []
    const state: { next: Answer | null; aheadMs: number; refused: number } = { next: null, aheadMs: 0, refused: 0 }
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("error", () => undefined)
      request.on("end", () => {
        const body = Buffer.concat(chunks)
        const path = request.url ?? ""
        const names = /SignedHeaders=([^,]*)/.exec(request.headers.authorization ?? "")?.[1]?.split(";") ?? []
        const headers = Object.fromEntries(
          names
            .filter((name) => !name.startsWith("x-amz-date") && name !== "x-amz-content-sha256")
            .map((name) => [name, String(request.headers[name])])
        )
        const stamp = String(request.headers["x-amz-date"])
        const at = Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"))
        const signed = RequestSignature.sign(credentials, {
          method: request.method ?? "",
          path,
          headers,
          bodyHash: hash("sha256", body, "hex"),
          at
        })
        if (signed["authorization"] !== request.headers.authorization) forged.push(`${request.method} ${path}`)
        const now = Date.now() + state.aheadMs
        response.setHeader("date", new Date(now).toUTCString())
        if (Math.abs(at - now) > 900_000) {
          state.refused++
          return response.writeHead(403).end("<Error><Code>RequestTimeTooSkewed</Code></Error>")
        }
        if (state.next !== null) {
          const answer = state.next
          state.next = null
          return answer(request, response, body)
        }
        const from = request.headers["x-amz-copy-source"]
        const object = objects.get(typeof from === "string" ? from : path)
        switch (request.method) {
          case "PUT":
            if (from !== undefined && object === undefined) return response.writeHead(404).end()
            objects.set(path, object ?? body)
            return response.writeHead(200).end(from === undefined ? "" : "<CopyObjectResult/>")
          case "DELETE":
            objects.delete(path)
            return response.writeHead(204).end()
          default: {
            if (object === undefined) return response.writeHead(404).end()
            const [, first, last] = /^bytes=([0-9]+)-([0-9]+)$/.exec(request.headers.range ?? "") ?? []
            if (first === undefined || last === undefined)
              return response.writeHead(200, { "content-length": object.length }).end(object)
            const part = object.subarray(Number(first), Number(last) + 1)
            return response
              .writeHead(206, {
                "content-range": `bytes ${first}-${last}/${object.length}`,
                "content-length": part.length
              })
              .end(part)
          }
        }
      })
    })
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const directory = await mkdtemp(join(tmpdir(), "s3-"))
    const path = join(directory, "file")
    await writeFile(path, content)
    return {
      objects,
      forged,
      /** Sets how far the store's clock is ahead of this machine's. */
      setAhead: (ms: number) => {
        state.aheadMs = ms
      },
      /** The number of requests that it refused for their time since the last call. */
      refused: () => {
        const { refused } = state
        state.refused = 0
        return refused
      },
      answerNext: (answer: Answer) => {
        state.next = answer
      },
      file: { path, sizeBytes: content.length, contentType: "audio/wav" },
      host: `127.0.0.1:${port}`,
      close: async () => {
        server.closeAllConnections()
        server.close()
        await rm(directory, { recursive: true })
      }
    }
  }),
  ({ close }) => Effect.promise(close)
)

const key = "recordings/ab/svc rec(1).wav"
const placeOf = (of: string) => `/bucket/some/${RequestSignature.pathOf(of)}`

const using = <A, E>(
  test: (
    storage: Storage["Service"],
    store: Effect.Success<typeof bucket>
  ) => Effect.Effect<A, E, import("effect").Scope.Scope>
) =>
  Effect.gen(function* () {
    const store = yield* bucket
    const target = Result.getOrThrow(OperatorTarget.configured(`http://${store.host}/bucket/some`, { plain: true }))
    const layer = S3Storage.layer({
      target,
      host: store.host,
      path: "/bucket/some",
      region: credentials.region,
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: Redacted.make(credentials.secretAccessKey)
    })
    return yield* Effect.flatMap(Storage, (storage) => test(storage, store)).pipe(
      Effect.provide(layer),
      Effect.provide(NodeOperatorEgress.layer())
    )
  }).pipe(Effect.scoped)

const read = (storage: Storage["Service"], range: { readonly from: number; readonly to: number } | null) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { body, sizeBytes } = yield* storage.open(key, range)
      const chunks = yield* Stream.runCollect(body)
      return { sizeBytes, bytes: Buffer.concat([...chunks]) }
    })
  )
const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly reason: string }, R>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ reason }) => reason })

describe("A bucket of an S3-compatible store", () => {
  it.live("takes, gives, moves and removes files although our clock is wrong, and when it is right again", () =>
    using(
      Effect.fnUntraced(function* (storage, { file, forged, objects, refused, setAhead }) {
        // Each of these steps may be the first request to a store.
        const all = [
          storage.put(key, file),
          Effect.map(read(storage, null), ({ bytes }) => expect(bytes).toStrictEqual(content)),
          storage.move(key, "archive/one.wav"),
          storage.move("archive/one.wav", key),
          storage.remove(key)
        ]
        for (const ahead of [3_600_000, 0, -1_200_000, 86_400_000, 0]) {
          setAhead(ahead)
          for (const act of all) yield* act
          expect([ahead, refused()]).toEqual([ahead, 1])
        }
        yield* storage.put(key, file)
        for (const act of all.slice(1)) {
          setAhead(3_600_000)
          yield* act
          expect(refused()).toBe(1)
          setAhead(0)
          yield* storage.put(key, file)
          refused()
        }
        // A small difference is not refused.
        setAhead(120_000)
        yield* storage.remove(key)
        expect([refused(), objects.size, forged]).toEqual([0, 0, []])
      })
    )
  )

  it.live("takes a file whole, gives it whole and in parts, moves and removes it, every request signed", () =>
    using(
      Effect.fnUntraced(function* (storage, { file, forged, objects }) {
        yield* storage.put(key, file)
        expect([...objects]).toStrictEqual([[placeOf(key), content]])
        expect(yield* read(storage, null)).toStrictEqual({ sizeBytes: content.length, bytes: content })
        expect(yield* read(storage, { from: 5, to: 9 })).toStrictEqual({
          sizeBytes: content.length,
          bytes: content.subarray(5, 10)
        })
        yield* storage.move(key, "archive/x")
        expect([...objects.keys()]).toStrictEqual([placeOf("archive/x")])
        // A step whose answer was lost is repeated.
        yield* storage.move(key, "archive/x")
        yield* storage.remove("archive/x")
        yield* storage.remove("archive/x")
        expect([objects.size, forged]).toStrictEqual([0, []])
      })
    )
  )

  it.live("says what is missing", () =>
    using(
      Effect.fnUntraced(function* (storage) {
        expect(yield* reasonOf(read(storage, null))).toBe("missing")
        expect(yield* reasonOf(storage.move(key, "archive/x"))).toBe("missing")
      })
    )
  )

  it.live("is away when it refuses, breaks off, or answers what makes no sense", () =>
    using(
      Effect.fnUntraced(function* (storage, { answerNext, file, objects }) {
        const answers: ReadonlyArray<Answer> = [
          (_, response) => response.writeHead(403).end("<Error/>"),
          (_, response) => response.writeHead(500).end(),
          (_, response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
          (request) => request.socket.destroy(),
          (request) => request.socket.end("what?\r\n\r\n"),
          (_, response) => response.writeHead(200).end("x".repeat(100_000))
        ]
        for (const [index, answer] of answers.entries()) {
          answerNext(answer)
          expect([index, yield* reasonOf(storage.put(key, file))]).toStrictEqual([index, "unavailable"])
        }
        expect(objects.size).toBe(0)
        yield* storage.put(key, file)
        const wrong: ReadonlyArray<Answer> = [
          // The answers have another range, the whole object instead of a range, and a body that breaks off.
          (_, response) => response.writeHead(206, { "content-range": "bytes 0-4/10" }).end("12345"),
          (_, response) => response.writeHead(200, { "content-length": 5 }).end("12345"),
          (request, response) => {
            response.writeHead(206, { "content-range": "bytes 5-9/10", "content-length": 5 }).write("12")
            setTimeout(() => request.socket.destroy(), 20)
          }
        ]
        for (const [index, answer] of wrong.entries()) {
          answerNext(answer)
          expect([index, yield* reasonOf(read(storage, { from: 5, to: 9 }))]).toStrictEqual([index, "unavailable"])
        }
        answerNext((_, response) => response.writeHead(200).end("<Error><Code>InternalError</Code></Error>"))
        expect(yield* reasonOf(storage.move(key, "archive/x"))).toBe("unavailable")
        expect(objects.has(placeOf(key))).toBe(true)
      })
    )
  )
})
