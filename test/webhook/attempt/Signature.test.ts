import { createHmac } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as Signature from "../../../src/webhook/attempt/Signature.ts"
import * as Ids from "../../support/Ids.ts"

describe("webhook signature, guide/webhooks.md#signature", () => {
  it("equals a value computed elsewhere", () => {
    // printf '1767225600.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
    expect(Signature.sign("whsec_test", 1_767_225_600, '{"a":1}')).toBe(
      "sha256=6d204545ff126a339c00513d93603299c984074ce1331c3537c3f6c976b49019"
    )
  })

  it("covers the bytes of the body as they are sent", () => {
    const body = '{"data":{"name":"Zoë 📞"}}'
    const over = Buffer.concat([Buffer.from("12."), Buffer.from(body, "utf8")])
    expect(Signature.sign("s", 12, body)).toBe(`sha256=${createHmac("sha256", "s").update(over).digest("hex")}`)
  })

  it("sends the timestamp in whole seconds and signs that very number", () => {
    const sent = Signature.headers({ secret: "s", eventId: Ids.event("e"), body: "{}", now: 1_999, version: "1.2.3" })
    expect(sent).toStrictEqual({
      "Content-Type": "application/json",
      "User-Agent": "webhook-platform/1.2.3",
      "X-Webhook-Event-Id": "e",
      "X-Webhook-Timestamp": "1",
      "X-Webhook-Signature": Signature.sign("s", 1, "{}")
    })
  })

  it("makes secrets of whsec_ and 43 characters", () => {
    expect(Signature.secretOf(new Uint8Array(32).fill(255))).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/)
  })
})
