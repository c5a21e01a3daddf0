import { describe, expect, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { about, BodyLimit } from "../../../../src/edge/http/Endpoint.ts"
import * as RequestBody from "../../../../src/edge/http/request/RequestBody.ts"

/** The limit of an endpoint that declares this one, or none. */
const limit = (bodyBytes?: number) =>
  Context.get(about({ summary: "Upload", scope: null, ...(bodyBytes === undefined ? {} : { bodyBytes }) }), BodyLimit)

const kib = 1024
const text = (bytes: number) => `"${"a".repeat(bytes - 2)}"`

/** The outcome of a body of this many bytes, with or without a declared length. */
const read = (bytes: number, allowed: number, isSaid: boolean) => {
  const body = isSaid ? text(bytes) : new Blob([text(bytes)]).stream()
  const type = { "content-type": "application/json" }
  const headers = isSaid ? { ...type, "content-length": String(bytes) } : type
  const request = new Request("http://a/v1/upload", { method: "POST", body, headers, duplex: "half" })
  return RequestBody.read(HttpServerRequest.fromWeb(request), allowed).pipe(
    Effect.match({ onSuccess: ({ length }) => length, onFailure: ({ message }) => message })
  )
}

describe("A body", () => {
  for (const isSaid of [true, false])
    it.effect(`is read up to the limit of its endpoint, ${isSaid ? "whose length is said" : "in chunks"}`, () =>
      Effect.gen(function* () {
        expect(yield* read(64 * kib, limit(), isSaid)).toBe(64 * kib)
        expect(yield* read(64 * kib + 1, limit(), isSaid)).toBe("the body is longer than 64 KiB")
        expect(yield* read(200 * kib, limit(200 * kib), isSaid)).toBe(200 * kib)
        expect(yield* read(200 * kib + 1, limit(200 * kib), isSaid)).toBe("the body is longer than 200 KiB")
      })
    )
})
