import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Id from "../../../src/domain/Id.ts"
import { Egress, EgressError, type EgressResponse } from "../../../src/ports/egress/Egress.ts"
import * as DocumentSource from "../../../src/numbers/porting/DocumentSource.ts"
import * as NoEgress from "../../support/network/NoEgress.ts"

const tenant = Id.deriveUuid("a", "tenant")
const url = "https://example.com/loa.pdf"

/** The result of a fetch, and its request. */
const fetched = (answer: Effect.Effect<EgressResponse, EgressError>, from = url) => {
  const asked: Array<unknown> = []
  const egress = Layer.succeed(Egress, {
    ...NoEgress.service,
    request: (request) => {
      asked.push(request)
      return answer
    }
  })
  return Effect.gen(function* () {
    const source = yield* DocumentSource.make
    const outcome = yield* Effect.match(source.read(tenant, { type: "url", url: from }), {
      onSuccess: ({ bytes }) => Buffer.from(bytes).toString(),
      onFailure: ({ code, param }) => ({ code, param })
    })
    return { outcome, asked }
  }).pipe(Effect.provide(egress))
}
const answered = (status: number) => Effect.succeed({ status, headers: {}, body: Buffer.from("file") })

it.effect("a document is fetched once, bounded, at its tenant's pace", () =>
  Effect.gen(function* () {
    const { asked, outcome } = yield* fetched(answered(200))
    expect(outcome).toBe("file")
    expect(asked).toEqual([
      expect.objectContaining({ url, maxResponseBytes: 10 * 1024 * 1024, pacedFor: tenant, timeoutMs: 30_000 })
    ])
  })
)

it.effect("a URL that may not be fetched is never asked", () =>
  Effect.gen(function* () {
    const { asked, outcome } = yield* fetched(answered(200), "https://10.0.0.1/x")
    expect(outcome).toEqual({ code: "invalid_target_url", param: "url" })
    expect(asked).toEqual([])
  })
)

it.effect("what does not come is the caller's to mend", () =>
  Effect.gen(function* () {
    expect((yield* fetched(answered(404))).outcome).toEqual({ code: "unprocessable", param: "url" })
    const fails = (reason: EgressError["reason"]) => Effect.fail(new EgressError({ reason, detail: "" }))
    expect((yield* fetched(fails("timeout"))).outcome).toEqual({ code: "unprocessable", param: "url" })
    expect((yield* fetched(fails("too_large"))).outcome).toEqual({ code: "invalid_request", param: "url" })
  })
)
