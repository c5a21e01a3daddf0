import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as LogMail from "../../../../src/ports/mail/log/LogMail.ts"
import { Mail } from "../../../../src/ports/mail/Mail.ts"

describe("mail without a transport", () => {
  it.effect("is written to the log in full, and does not pass for real", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const log = Logger.make(({ message }) => void lines.push(message))
      const isReal = yield* Effect.gen(function* () {
        const mail = yield* Mail
        yield* mail.send({
          messageId: "1@example.com",
          to: { address: "a@example.com" },
          subject: "Verify",
          text: "https://example.com/verify-email#t",
          html: "<p>"
        })
        return mail.isReal
      }).pipe(Effect.provide([LogMail.layer, Logger.layer([log])]))
      expect(isReal).toBe(false)
      expect(lines).toStrictEqual([["mail to a@example.com: Verify\nhttps://example.com/verify-email#t"]])
    })
  )
})
