import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { failureOf, MediaCommand, MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import * as Ids from "../../support/Ids.ts"
import * as Media from "../../media/support/MediaSample.ts"

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
        expect(JSON.stringify(Schema.decodeUnknownSync(schema)(JSON.parse(text)))).toBe(text)
      }
    }
  )

  it("fails where it has an outcome, and only there", () => {
    expect(failureOf(Media.play(Ids.work("p"), "https://a/"), "gone")).toStrictEqual(
      Media.failed(Ids.work("p"), "gone")
    )
    expect(failureOf(Media.dtmf(Ids.work("d"), "1"), "gone")).toStrictEqual(Media.failed(Ids.work("d"), "gone"))
    expect(failureOf(Media.stopPlayback, "gone")).toBeNull()
  })
})
