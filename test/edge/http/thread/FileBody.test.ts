import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash, createHmac } from "node:crypto"
import * as FileBody from "../../../../src/edge/http/thread/FileBody.ts"
import * as FileThread from "../../../../src/edge/http/thread/FileThread.ts"

const packed = (text: string, idempotencyKey: string | null = null): FileBody.Packed => ({
  chunks: [new Uint8Array(Buffer.from(text))],
  field: "content",
  idempotencyKey
})
const unpack = (text: string) => FileBody.unpack(packed(text))

describe("A body with a file", () => {
  it("becomes the file and a body without it", () => {
    expect(unpack('{"a":1,"content":"aGVsbG8=","b":"x"}')).toEqual({
      type: "unpacked",
      text: '{"a":1,"content":"","b":"x"}',
      file: { bytes: Buffer.from("hello"), sha256: createHash("sha256").update("hello").digest("hex") },
      bodyHash: null
    })
    // Some JSON encoders write it so.
    expect(unpack('{"content":"\\/\\/8\\u003d"}')).toMatchObject({ file: { bytes: Buffer.from([255, 255]) } })
  })

  it("is hashed as it came", () => {
    const text = '{ "content": "aGVsbG8=" }'
    expect(FileBody.unpack(packed(text, "k"))).toMatchObject({
      bodyHash: createHmac("sha256", "k").update(text).digest("hex")
    })
  })

  it("base64 has its alphabet and its padding, and nothing else", () => {
    for (const wrong of ["", "aGVsbG8", "aGVs bG8=", "aGVs-bG8=", "====", "data:application/pdf;base64,aGVsbG8="])
      expect(unpack(JSON.stringify({ content: wrong }))).toMatchObject({ text: '{"content":""}', file: null })
  })

  it("without one, or of another shape, stays what it was for the decoder", () => {
    for (const text of ["", '{"url":"x"}', '{"content":7}', '{"b":{"content":"aGVsbG8="}}', "[1]", '"a"'])
      expect(unpack(text)).toMatchObject({ type: "unpacked", text, file: null })
    const { text } = unpack('{"content": ') as { readonly text: string }
    expect(() => JSON.parse(text)).toThrow()
  })

  it("is refused like any other body, and when more than 64 KiB stand beside the file", () => {
    expect(unpack('{"name":"\\u0000","content":"aGVsbG8="}')).toMatchObject({ type: "refused", param: "name" })
    expect(unpack("null")).toMatchObject({ type: "refused", param: null })
    expect(unpack(JSON.stringify({ content: "aGVsbG8=", name: "a".repeat(65_000) }))).toMatchObject({
      type: "unpacked"
    })
    expect(unpack(JSON.stringify({ content: "aGVsbG8=", name: "a".repeat(65_536) }))).toMatchObject({ type: "refused" })
  })

  it.live("is unpacked beside the event loop, in order, and its bytes move there and back", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const thread = yield* FileThread.make
        const long = packed(JSON.stringify({ content: Buffer.alloc(10 * 1024 * 1024, 1).toString("base64") }))
        const order: Array<string> = []
        const one = Effect.map(thread.unpack(long), (unpacked) => {
          order.push("long")
          return unpacked
        })
        const next = Effect.map(thread.unpack(packed('{"content":"aGVsbG8="}')), () => order.push("short"))
        const turn = Effect.sync(() => {
          order.push("another's turn")
        })
        const [unpacked] = yield* Effect.all([one, next, turn], { concurrency: "unbounded" })
        expect(order).toEqual(["another's turn", "long", "short"])
        expect(unpacked).toMatchObject({ type: "unpacked", text: '{"content":""}' })
        expect(unpacked.type === "unpacked" && unpacked.file?.bytes.length).toBe(10 * 1024 * 1024)
        // Nothing of it was copied.
        expect(long.chunks.map(({ length }) => length)).toEqual([0])
      })
    )
  )
})
