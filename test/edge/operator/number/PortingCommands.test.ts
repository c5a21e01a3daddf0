import { hash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Porting } from "../../../../src/numbers/porting/Porting.ts"
import type { PortingDocumentView, PortingOrderView } from "../../../../src/numbers/porting/PortingView.ts"
import * as PortingSample from "../../../support/fake/PortingSample.ts"
import { jsonOf, layer as world, operator, Recorded, signup } from "../OperatorWorld.ts"

const endUser = {
  entityName: "Acme Inc.",
  authorizedPersonName: "Ada Lovelace",
  accountNumber: "A-1234",
  pinPasscode: "0000",
  billingPhoneNumber: null,
  address: {
    streetAddress: "1600 Market Street",
    extendedAddress: null,
    locality: "Philadelphia",
    administrativeArea: "PA",
    postalCode: "19103",
    countryCode: "US"
  }
}

describe("porting orders at the operator's (guide/operation.md#porting)", () => {
  layer(world, { excludeTestServices: true })((it) => {
    const drafted = Effect.fnUntraced(function* (slug: string, phoneNumber: string) {
      const porting = yield* Porting
      const caller = yield* signup(slug)
      const made = yield* porting.create(
        caller,
        { phoneNumbers: [phoneNumber], customerReference: null, endUser, requestedFocAt: null, routeId: null },
        null
      )
      const { id } = JSON.parse(made.body ?? "") as PortingOrderView
      const added = Effect.fnUntraced(function* (documentType: "loa" | "invoice", filename: string) {
        const file = { bytes: PortingSample.pdf, sha256: hash("sha256", PortingSample.pdf, "hex") }
        const source = { type: "file", file } as const
        const { body } = yield* porting.addDocument(caller, id, { documentType, filename, source }, null)
        return JSON.parse(body ?? "") as PortingDocumentView
      })
      return { caller, id, loa: yield* added("loa", "loa.pdf"), invoice: yield* added("invoice", "bill.pdf") }
    })

    it.effect("a document is saved byte by byte, and never over a file", () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Recorded
        const { loa } = yield* drafted("saves", "+12155552801")
        const path = join(dataDir, "loa.pdf")
        const saved = yield* operator("port", "document", loa.id, path)
        expect([saved.stderr, saved.code]).toEqual(["", 0])
        expect(new Uint8Array(yield* Effect.promise(() => readFile(path)))).toEqual(PortingSample.pdf)
        const again = yield* operator("port", "document", loa.id, path)
        expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("exists already and is not replaced")])
      })
    )

    it.effect("the operator is shown what tenants are not, judges documents, and takes an order to its end", () =>
      Effect.gen(function* () {
        const porting = yield* Porting
        const { caller, id, invoice, loa } = yield* drafted("through", "+12155552802")
        const status = (...args: ReadonlyArray<string>) =>
          Effect.map(operator("port", ...args, "--json"), (outcome) => jsonOf(outcome)["status"])
        expect((yield* operator("port", "complete", id)).code).toBe(1)
        yield* porting.submit(caller, id, null)
        expect((yield* operator("port", "list")).stdout).toContain(id)
        expect((yield* operator("port", "show", id)).stdout).toContain("A-1234")
        expect(yield* status("judge", loa.id, "verified")).toBe("verified")
        expect(yield* status("judge", invoice.id, "rejected")).toBe("rejected")
        expect(yield* status("foc", id, "--at", "2999-01-01T00:00:00Z", "--carrier", "Other Tel")).toBe("foc_confirmed")
        yield* porting.cancel(caller, id, null)
        expect(yield* status("cancel", id, "--refused")).toBe("foc_confirmed")
        expect(yield* status("complete", id)).toBe("ported")
        expect((yield* operator("port", "cancel", id)).code).toBe(1)
      })
    )

    it.effect("an account number and a PIN that the carrier contests can be guessed from nothing that is stored", () =>
      Effect.gen(function* () {
        const porting = yield* Porting
        const sql = yield* SqlClient.SqlClient
        const stored = Effect.fnUntraced(function* (id: string) {
          const [row] = yield* sql<{ readonly text: string }>`
            SELECT (SELECT to_jsonb(p)::text FROM porting_order p WHERE id = ${id})
              || coalesce((SELECT string_agg(to_jsonb(a)::text, '') FROM audit a WHERE resource_id = ${id}), '') AS text`
          return row?.text ?? ""
        })
        const guesses = Array.from({ length: 10_000 }, (_, pin) => String(pin).padStart(4, "0")).concat("A-1234")
        const digests = new Set(
          guesses.flatMap((guess) => [hash("sha256", guess, "hex"), hash("sha256", JSON.stringify(guess), "hex")])
        )
        const guessed = (text: string) =>
          (text.match(/[0-9a-f]{64}/g) ?? []).filter((digest) => digests.has(digest)).length
        const { caller, id } = yield* drafted("contested", "+12155552803")
        const edited = (pinPasscode: string) => porting.update(caller, id, { endUser: { pinPasscode } }, null)
        const submitted = Effect.match(porting.submit(caller, id, null), {
          onFailure: ({ code }) => code as string,
          onSuccess: () => "submitted"
        })
        yield* submitted
        for (const code of ["pin_passcode_mismatch", "account_number_mismatch"]) {
          expect((yield* operator("port", "exception", id, "--code", code, "--reason", "no")).code).toBe(0)
          expect(guessed(yield* stored(id))).toBe(0)
          expect(yield* stored(id)).not.toContain("A-1234")
          expect(yield* submitted).toBe("csr_mismatch")
          // Another value is taken; the contested one is not, after another one in between neither.
          if (code === "pin_passcode_mismatch")
            for (const [pin, wanted] of [
              ["4711", null],
              ["0000", "csr_mismatch"],
              ["4711", "submitted"]
            ] as const) {
              yield* edited(pin)
              if (wanted !== null) expect(yield* submitted).toBe(wanted)
            }
        }
        yield* porting.cancel(caller, id, null)
        expect(guessed(yield* stored(id))).toBe(0)
      })
    )
  })
})
