/** A server transaction keeps only the parts of a long request that its responses need. */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import { header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"
import * as TransactionTable from "../../../../src/protocol/sip/transaction/TransactionTable.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const peer = SipSample.flow({ address: "192.0.2.2", port: 5062 })

/** Nearly 64 KB, half of it headers that no response copies. */
const long = (method: string, at: number) =>
  Result.getOrThrow(
    SipParser.parse(
      SipWriter.write(
        SipSample.request(method, {
          branch: `z9hG4bKlong${at}`,
          callId: `long-${at}@192.0.2.2`,
          contact: "<sip:alice.of.the.long.name@192.0.2.2:5062>",
          headers: [
            ["Record-Route", "<sip:proxy.example.net;lr>"],
            ["Timestamp", "54"],
            ...Array.from({ length: 100 }, (_, line) => [`X-${line}`, "x".repeat(300)] as const)
          ],
          body: { type: "application/sdp", bytes: new Uint8Array(32_000) }
        })
      )
    )
  )

/** Opens a transaction and answers it; returns the delivered request. */
const open = (table: TransactionTable.TransactionTable, method: string, at: number, status: number) => {
  const outputs = TransactionTable.step(table, { type: "received", message: long(method, at), from: peer }, 0)
  const opened = outputs.find((output) => output.type === "request")
  if (opened === undefined) return expect.fail("no request")
  const response = Responses.make(opened.request, status, { toTag: "ours" })
  TransactionTable.step(table, { type: "respond", id: opened.id, response }, 0)
  return opened.request
}

/** The bytes in memory after all garbage is collected. */
const used = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") for (let times = 0; times < 3; times++) collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

describe("a server transaction", () => {
  it("hands the whole request on", () => {
    const request = open(TransactionTable.make(), "INVITE", 0, 180)
    expect(request.body).toHaveLength(32_000)
    expect(header(request, "X-99")).toHaveLength(300)
    expect(request.headers.map(([name]) => name)).toEqual(long("INVITE", 0).headers.map(([name]) => name))
    expect(header(request, "Call-ID")).toBe("long-0@192.0.2.2")
  })

  it("answers as if it had kept it: 100 by itself, Record-Route in what makes a dialog", () => {
    const table = TransactionTable.make()
    TransactionTable.step(table, { type: "received", message: long("INVITE", 0), from: peer }, 0)
    const [trying] = TransactionTable.advance(table, 200)
    expect(trying).toMatchObject({ type: "send", message: { status: 100 } })
    if (trying?.type !== "send") return
    expect(trying.message.headers.map(([name]) => name)).toEqual(["Via", "From", "To", "Call-ID", "CSeq", "Timestamp"])
  })

  for (const [method, status] of [
    ["INVITE", 180],
    ["INVITE", 200],
    ["INVITE", 486],
    ["OPTIONS", 200]
  ] as const)
    it(`keeps less than 8 KB of a ${method} of 64 KB that was answered ${status}, with the dialog that it made`, () => {
      const table = TransactionTable.make()
      const count = 100
      for (let warm = 0; warm < 20; warm++) open(TransactionTable.make(), method, warm, status)
      const dialogs: Array<Dialog.Dialog | null> = []
      const before = used()
      for (let at = 0; at < count; at++) {
        const request = open(table, method, at, status)
        dialogs.push(Dialog.fromRequest(request, { localTag: "ours", contact: "<sip:us@192.0.2.1>", cseq: 1 }))
      }
      expect((used() - before) / count).toBeLessThan(8_192)
      expect([TransactionTable.size(table), dialogs.length]).toEqual([count, count])
    })
})
