import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { eventTypes } from "../../../src/domain/event/EventCatalogue.ts"
import * as SubscriptionRequest from "../../../src/webhook/subscription/SubscriptionRequest.ts"

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
    expect(code({ targetUrl: "http://hook.example" })).toBe("invalid_target_url")
    expect(code({ targetUrl: "https://hook.example" })).toBeNull()
  })

  it("asks for at least one event type", () => {
    expect(code({ eventTypes: [] })).toBe("event_types_required")
  })

  it("knows every name of the catalogue and no other", () => {
    expect(typesOf(eventTypes)).toStrictEqual([...eventTypes])
    for (const name of ["call.exploded", "CALL.STARTED", "call.*", "", "toString"])
      expect(code({ eventTypes: ["call.started", name] })).toBe("invalid_request")
  })

  it("says which names there are where it does not know one", () => {
    const result = check({ eventTypes: ["call.exploded"] })
    const message = Result.isFailure(result) ? result.failure.message : ""
    expect(message).toContain('"call.exploded"')
    for (const name of ["*", ...eventTypes]) expect(message).toContain(name)
  })

  it("stores * beside others as *, and a name once", () => {
    expect(typesOf(["call.started", "*"])).toStrictEqual(["*"])
    expect(typesOf(["call.ended", "call.started", "call.ended"])).toStrictEqual(["call.ended", "call.started"])
  })

  it("checks of a patch only what it gives", () => {
    expect(code({})).toBeNull()
    expect(code({ isActive: false, description: null })).toBeNull()
  })
})
