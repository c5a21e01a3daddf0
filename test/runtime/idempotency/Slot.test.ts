import { describe, expect, it } from "@effect/vitest"
import * as Slot from "../../../src/runtime/idempotency/Slot.ts"

const request = {
  owner: "key-1",
  credential: "svc_live_secret",
  idempotencyKey: "order-66",
  method: "POST",
  path: "/v1/api-keys",
  body: Buffer.from('{"name":"x"}')
}
const nonce = new Uint8Array(12).fill(7)
const rendered = { status: 201, body: '{"api_key_plaintext":"svc_live_new"}' }

describe("Slot, guide/idempotency.md#which-requests", () => {
  it("keeps neither the key, nor the credential, nor the body", () => {
    const slot = Slot.make(request)
    const row = JSON.stringify(Slot.sealedReceipt(slot, rendered, 1, nonce))
    for (const secret of ["order-66", "svc_live_secret", "svc_live_new", '"name"']) expect(row).not.toContain(secret)
  })

  it("tells bodies apart byte by byte", () => {
    const hashOf = (body: string) => Slot.make({ ...request, body: Buffer.from(body) }).bodyHash
    expect(hashOf('{"a":1}')).toBe(hashOf('{"a":1}'))
    expect(hashOf('{"a":1}')).not.toBe(hashOf('{"a": 1}'))
  })

  it("opens a sealed receipt for the same credential and key", () => {
    const row = Slot.sealedReceipt(Slot.make(request), rendered, 1, nonce)
    expect(row?.sealed).toBe(true)
    expect(row === null ? null : Slot.open(Slot.make(request), row)).toEqual(rendered)
  })

  it("does not open it for another credential or key", () => {
    const row = Slot.sealedReceipt(Slot.make(request), rendered, 1, nonce)
    if (row === null) return expect.unreachable()
    for (const other of [{ credential: "svc_live_other" }, { idempotencyKey: "order-67" }])
      expect(() => Slot.open(Slot.make({ ...request, ...other }), row)).toThrow()
  })

  it("stores a plain response as its exact bytes, and one without a body as null", () => {
    const slot = Slot.make(request)
    expect(Slot.receipt(slot, rendered, 5)).toEqual({
      owner: "key-1",
      key: slot.key,
      method: "POST",
      path: "/v1/api-keys",
      bodyHash: slot.bodyHash,
      status: 201,
      body: rendered.body,
      sealed: false,
      at: 5
    })
    expect(Slot.sealedReceipt(slot, { status: 204, body: null }, 5, nonce)).toMatchObject({ body: null, sealed: false })
  })

  it("makes no receipt for a request without a key", () => {
    expect(Slot.receipt(null, rendered, 5)).toBeNull()
    expect(Slot.sealedReceipt(null, rendered, 5, nonce)).toBeNull()
  })
})
