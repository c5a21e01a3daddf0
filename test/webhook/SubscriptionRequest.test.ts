import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { eventTypes } from "../../src/domain/event/EventCatalogue.ts"
import * as SubscriptionRequest from "../../src/webhook/SubscriptionRequest.ts"

const refuse = (url: string) => (url.startsWith("https://") ? null : "must begin with https://")

const check = (patch: SubscriptionRequest.SubscriptionPatch) => SubscriptionRequest.check(patch, refuse)
const code = (patch: SubscriptionRequest.SubscriptionPatch) => {
  const result = check(patch)
  return Result.isFailure(result) ? result.failure.code : null
}
const typesOf = (names: ReadonlyArray<string>) => {
  const result = check({ eventTypes: names })
  return Result.isSuccess(result) ? result.success.eventTypes : null
}

describe("what a subscription may say, guide/webhooks.md#subscriptions", () => {
  it("refuses a target that the egress refuses", () => {
    assert.strictEqual(code({ targetUrl: "http://hook.example" }), "invalid_target_url")
    assert.isNull(code({ targetUrl: "https://hook.example" }))
  })

  it("asks for at least one event type", () => {
    assert.strictEqual(code({ eventTypes: [] }), "event_types_required")
  })

  it("knows every name of the catalogue and no other", () => {
    assert.deepStrictEqual(typesOf(eventTypes), [...eventTypes])
    for (const name of ["call.exploded", "CALL.STARTED", "call.*", "", "toString"])
      assert.strictEqual(code({ eventTypes: ["call.started", name] }), "invalid_request")
  })

  it("stores * beside others as *, and a name once", () => {
    assert.deepStrictEqual(typesOf(["call.started", "*"]), ["*"])
    assert.deepStrictEqual(typesOf(["call.ended", "call.started", "call.ended"]), ["call.ended", "call.started"])
  })

  it("checks of a patch only what it gives", () => {
    assert.isNull(code({}))
    assert.isNull(code({ isActive: false, description: null }))
  })
})
