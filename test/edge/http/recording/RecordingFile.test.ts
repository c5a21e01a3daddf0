import { describe, expect, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Id from "../../../../src/domain/Id.ts"
import * as ByteRange from "../../../../src/edge/http/recording/ByteRange.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import { fileKey, type RecordingRow } from "../../../../src/telephony/recording/Recording.ts"
import { it } from "@effect/vitest"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()
const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251)
const row: RecordingRow = {
  id: Id.derive("r", "rec"),
  tenantId: TestServer.tenantA,
  callId: TestServer.callOfA,
  conferenceId: null,
  channels: "dual",
  format: "wav",
  status: "available",
  durationSeconds: 1,
  sizeBytes: bytes.length,
  createdAt: 0
}
world.linked = ({ file }) => (file === `${row.id}.wav` ? row : null)
world.storage.files.set(fileKey(row), bytes)
const path = `/recordings/${row.id}.wav?expires=1&signature=2`

const ask = (headers: Readonly<Record<string, string>> = {}, at = path, method = "GET") =>
  Effect.flatMap(Listening, ({ port }) =>
    Effect.promise(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${at}`, { method, headers })
      return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) }
    })
  )

layer(TestServer.layer(world))("The file of a recording, guide/recordings.md#downloading", (it) => {
  it.effect("comes whole to whoever has a link, as an attachment of its type", () =>
    Effect.gen(function* () {
      const { body, headers, status } = yield* ask()
      expect(status).toBe(200)
      expect(body).toStrictEqual(bytes)
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "audio/wav",
        "content-length": "1000",
        "accept-ranges": "bytes",
        "content-disposition": `attachment; filename="${row.id}.wav"`,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-store"
      })
    })
  )

  it.effect("comes in ranges", () =>
    Effect.gen(function* () {
      for (const [range, from, to] of [
        ["bytes=0-9", 0, 9],
        ["bytes=990-", 990, 999],
        ["bytes=-10", 990, 999],
        ["bytes=500-5000", 500, 999]
      ] as const) {
        const { body, headers, status } = yield* ask({ range })
        expect([range, status, headers.get("content-range")]).toStrictEqual([range, 206, `bytes ${from}-${to}/1000`])
        expect(body).toStrictEqual(bytes.slice(from, to + 1))
      }
      const beyond = yield* ask({ range: "bytes=1000-" })
      expect([beyond.status, beyond.headers.get("content-range")]).toStrictEqual([416, "bytes */1000"])
      expect((yield* ask({ range: "bytes=0-9", "if-range": '"another"' })).status).toBe(200)
    })
  )

  it.effect("answers HEAD without a body", () =>
    Effect.gen(function* () {
      const { body, headers, status } = yield* ask({}, path, "HEAD")
      expect([status, headers.get("content-length"), body.length]).toStrictEqual([200, "1000", 0])
    })
  )

  it.effect("is a 404 without a link that leads there, and there is no list", () =>
    Effect.gen(function* () {
      for (const at of [
        `/recordings/${Id.derive("other", "rec")}.wav`,
        "/recordings/",
        "/recordings",
        "/recordings/..%2f..%2fvault.key"
      ])
        expect([at, (yield* ask({}, at)).status]).toStrictEqual([at, 404])
    })
  )

  it.effect("is a 503 while the store is away, and a 404 that is remembered when the store has lost it", () =>
    Effect.gen(function* () {
      world.storage.failNext(1)
      expect((yield* ask()).status).toBe(503)
      world.storage.files.delete(fileKey(row))
      expect((yield* ask()).status).toBe(404)
      expect(world.reached.at(-1)).toStrictEqual({ door: "recordings.gone", args: [row.id] })
    })
  )
})

describe("A Range header, RFC 9110 section 14.2", () => {
  it.prop(
    "asks for a part that is there, or for none",
    {
      first: Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 50 })),
      last: Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 50 })),
      size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
    },
    ({ first, last, size }) => {
      const text = (n: number) => (n < 0 ? "" : String(n))
      const asked = ByteRange.of(`bytes=${text(first)}-${text(last)}`, size)
      if (asked.type !== "part") return
      expect(asked.from).toBeGreaterThanOrEqual(0)
      expect(asked.to).toBeGreaterThanOrEqual(asked.from)
      expect(asked.to).toBeLessThan(size)
    }
  )

  it.each(["bytes=", "bytes=-", "bytes=9-3", "bytes=0-1,3-4", "items=0-1", "bytes=a-b", ""])("%s is none", (header) => {
    expect(ByteRange.of(header, 10)).toStrictEqual({ type: "whole" })
  })
})
