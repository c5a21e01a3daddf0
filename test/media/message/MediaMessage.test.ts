import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { failureOf, MediaCommand, MediaEvent } from "../../../src/media/message/MediaMessage.ts"
import * as Media from "../MediaSample.ts"

describe("What crosses the carrier port unopened", () => {
  it.prop(
    "is plain JSON: it comes out of a journal or a socket as it went in",
    { command: MediaCommand, event: MediaEvent },
    ({ command, event }) => {
      for (const [schema, value] of [
        [MediaCommand, command],
        [MediaEvent, event]
      ] as const) {
        const text = JSON.stringify(value)
        assert.strictEqual(JSON.stringify(Schema.decodeUnknownSync(schema)(JSON.parse(text))), text)
      }
    }
  )

  it("fails where it has an outcome, and only there", () => {
    assert.deepStrictEqual(failureOf(Media.play("p", "https://a/"), "gone"), Media.failed("p", "gone"))
    assert.deepStrictEqual(failureOf(Media.dtmf("d", "1"), "gone"), Media.failed("d", "gone"))
    assert.isNull(failureOf(Media.stopPlayback, "gone"))
  })
})
