import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import * as PathId from "../../../../src/edge/http/request/PathId.ts"
import { E164 } from "../../../../src/domain/E164.ts"
import { coded, disagreement } from "../../../../src/domain/schema/CodedCheck.ts"
import { toApiError } from "../../../../src/edge/http/request/SchemaFault.ts"

const fault = (schema: Schema.Codec<unknown, unknown>, value: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error", errors: "all" })(value)
  if (Result.isSuccess(decoded)) return null
  const { code, message, param } = toApiError(
    new HttpApiError.HttpApiSchemaError({ kind: "Payload", cause: decoded.failure })
  )
  return param === undefined ? [code, message] : [code, message, param]
}

describe("SchemaFault.toApiError", () => {
  const Body = Schema.Struct({
    names: Schema.Array(Schema.String).check(
      coded("event_types_required", (names) => (names.length === 0 ? "is empty" : undefined))
    ),
    mode: Schema.optionalKey(
      Schema.Literals(["old", "new"]).check(disagreement((mode) => (mode === "new" ? "cannot be had" : undefined)))
    ),
    extra: Schema.optionalKey(Schema.Int.check(disagreement(() => "cannot be had")))
  }).check(disagreement((body) => (body.names.includes(body.mode ?? "") ? "mode is among the names" : undefined)))

  it("names every fault with its path, in order, and as param the one that decides the code", () => {
    expect(fault(Body, { names: ["a", 1, 2], extra: "x" })).toEqual([
      "invalid_request",
      "names[1]: Expected string; names[2]: Expected string; extra: Expected number",
      "names[1]"
    ])
    expect(fault(Body, {})).toEqual(["invalid_request", "names: is required", "names"])
    expect(fault(Body, { names: ["a"], colour: 1 })).toEqual(["invalid_request", "colour: is not known here", "colour"])
  })

  it("names a fault once that two checks of a field find", () => {
    expect(fault(Schema.Struct({ to: E164 }), { to: "12025550100" })?.[1]).toBe(
      "to: must be E.164: +, a country code and a number of its numbering plan, 6 to 15 digits"
    )
  })

  it("names at most ten faults", () => {
    const [, message] = fault(Body, { names: Array.from({ length: 200_000 }, (_, index) => index) }) ?? []
    expect(message?.split("; ")).toHaveLength(10)
  })

  it("puts what is malformed before what is not there and what cannot be had", () => {
    const Order = Schema.Struct({
      route_id: PathId.prefixed("route"),
      mode: Schema.optionalKey(Schema.Int.check(disagreement(() => "cannot be had"))),
      n: Schema.Int
    })
    expect(fault(Order, { route_id: "svc_route_1", mode: 1, n: "1" })).toEqual([
      "invalid_request",
      "route_id: names nothing here; mode: cannot be had; n: Expected number",
      "n"
    ])
    expect(fault(Order, { route_id: "svc_route_1", mode: 1, n: 1 })?.[0]).toBe("not_found")
  })

  it("says of a body that is no object what it must be, not the schema's name", () => {
    const wrong = ["invalid_request", "the body must be a JSON object"]
    for (const value of [null, "x", 5, []]) expect(fault(Body.annotate({ identifier: "Body" }), value)).toEqual(wrong)
    expect(fault(Schema.Union([Body, Schema.Null]), "x")).toEqual(wrong)
  })

  it("takes the code that the failed check names", () => {
    expect(fault(Body, { names: [] })).toEqual(["event_types_required", "names: is empty", "names"])
    expect(fault(Body, { names: ["old"], mode: "old" })).toEqual(["unprocessable", "mode is among the names"])
  })

  it("is a 422 for what cannot be had, and a 400 where its value is wrong", () => {
    expect(fault(Body, { names: ["a"], mode: "new" })).toEqual(["unprocessable", "mode: cannot be had", "mode"])
    expect(fault(Body, { names: ["a"], extra: 1 })).toEqual(["unprocessable", "extra: cannot be had", "extra"])
    expect(fault(Body, { names: ["a"], extra: "1" })?.[0]).toBe("invalid_request")
    expect(fault(Body, { names: ["a"], mode: "old" })).toBeNull()
  })

  it("is a 404 for a path that should be a UUID and is none", () => {
    const Path = Schema.Struct({ id: PathId.apiKey })
    const id = "0190a3c5-1111-8222-8333-444455556666"
    for (const other of ["abc", id.toUpperCase(), `${id}\n`, ` ${id}`, `{${id}}`, id.replace("0", "\u0660")])
      expect(fault(Path, { id: other })?.[0]).toBe("not_found")
    expect(fault(Path, { id: "0190a3c5-1111-8222-8333-444455556666" })).toBeNull()
  })
})
