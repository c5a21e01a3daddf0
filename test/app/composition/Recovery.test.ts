import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Calls } from "../../../src/telephony/call/Call.ts"
import * as Recovery from "../../../src/app/composition/Recovery.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import { Recorder } from "../../../src/telephony/recording/Recorder.ts"
import { Transcriber } from "../../../src/telephony/transcription/Transcriber.ts"
import * as Ids from "../../support/Ids.ts"

const awaited = (id: string, hasLeft: boolean) => ({
  id: Ids.work(id),
  legId: Ids.leg("leg"),
  callId: Ids.call("call"),
  wasAnswered: true,
  hasLeft
})
const recordings = [awaited("goes on", false), awaited("has left", true)]
const room = { ...awaited("of a room", true), conferenceId: Ids.conference("conference") }
const transcriptions = [awaited("words", true)]

describe("The recovery of a service", () => {
  it.effect(
    "brings calls back first, then what they wait for, and watches over recordings that have left their leg",
    () =>
      Effect.gen(function* () {
        const done: Array<unknown> = []
        yield* Recovery.recover.pipe(
          Effect.provide(
            Layer.mergeAll(
              Layer.mock(Calls, {
                recover: Effect.sync(() => done.push("calls")),
                awaiting: (family) => Effect.succeed(family === "recording" ? recordings : transcriptions)
              }),
              Layer.mock(Conferences, {
                recover: Effect.sync(() => done.push("conferences")),
                awaitingRecordings: Effect.succeed([room])
              }),
              Layer.mock(Recorder, {
                recover: (all) => Effect.sync(() => void done.push(["recordings", all.map(({ id }) => id)])),
                watch: (all) => Effect.map(all, (each) => void done.push(["watched", each.map(({ id }) => id)]))
              }),
              Layer.mock(Transcriber, {
                live: () => 0,
                recover: (all) => Effect.sync(() => void done.push(["transcriptions", all.map(({ id }) => id)]))
              })
            )
          )
        )
        expect(done).toEqual([
          "calls",
          "conferences",
          ["recordings", ["goes on", "has left", "of a room"]],
          ["watched", ["has left", "of a room"]],
          ["transcriptions", ["words"]]
        ])
      })
  )
})
