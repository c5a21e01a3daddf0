import { Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as Message from "../../../ports/media/TranscriptionMessages.ts"
import * as Transcriptions from "../../transcription/Transcription.ts"
import * as Meter from "../machine/Meter.ts"
import * as ActionKind from "./ActionKind.ts"
import * as BodyField from "../../verb/BodyField.ts"
import { reservationErrors } from "../../verb/Verb.ts"

/**
 * Transcription of a call, guide/transcription.md. One runs at a time; while the last words of a stopped one are still
 * to come, the next one may begin. Each phrase is reported with `call.transcript_chunk`, even after the call.
 *
 * A session whose process died ends as failed, with the phrases that it has reported.
 */

/** A little longer than the recognizer waits for an engine's last words. */
const lastWordsMs = 15_000

const fields = {
  engine: Message.Engine,
  language: Schema.String,
  tracks: Message.Tracks,
  startedAt: Schema.Number,
  /** The number of phrases reported so far. */
  phrases: Schema.Int
}

type Item = ActionKind.Activity & Schema.Struct<typeof fields>["Type"]
type Phrase = Extract<ActionKind.Progress, { readonly type: "transcribed" }>

/** The id under which the API knows it. */
const idOf = ({ id }: Pick<Item, "id">): Id.TranscriptionId => Id.ofOpaque("tx", id)

/** Writes the session's row as of `at`. */
const written =
  (item: Item, status: Transcriptions.Session["status"]): ActionKind.Ending =>
  ({ callId }, at, { meters, tenantId }) => {
    const { engine, language, legId, startedAt, tracks } = item
    const own = meters.filter(({ workId }) => workId === item.id)
    const until = own[0]?.endedAt ?? at
    const isOver = status !== "active"
    return {
      events: [],
      rows: Transcriptions.session({
        id: idOf(item),
        tenantId,
        callId,
        legId,
        status,
        engine,
        language,
        tracks,
        startedAt,
        endedAt: isOver ? Math.max(at, startedAt) : null,
        durationSeconds: isOver ? Math.max(0, Math.ceil((until - startedAt) / 1000)) : 0,
        costCents: isOver ? Meter.chargeCents(own) : null
      })
    }
  }

const told =
  (item: Item, phrase: Phrase, now: number): ActionKind.Ending =>
  (of) => {
    const startedAt = Math.min(now, Math.max(item.startedAt, phrase.at))
    const endedAt = startedAt + phrase.durationMs
    const words = phrase.words.map((word) => ({
      ...word,
      startMs: startedAt - item.startedAt + word.startMs,
      endMs: startedAt - item.startedAt + word.endMs
    }))
    const { confidence, text: transcript, track } = phrase
    const segment = { transcriptionId: idOf(item), transcript, confidence, track, startedAt, endedAt, words }
    return {
      events: [{ type: "call.transcript_chunk", data: { ...of, ...segment, isFinal: true } }],
      rows: Transcriptions.segment({ ...segment, sequence: item.phrases + 1 })
    }
  }

const transcription = ActionKind.make("transcription", fields, {
  limit: 1,
  full: "a transcription is already running on this call",
  fullCode: "transcription_already_active",
  meter: { kind: "transcription", per: "minute" },
  started: (item) => written(item, "active"),
  told: (item, { status }) => written(item, status === "failed" ? "failed" : "completed"),
  heard: (item, event, at) =>
    event.type === "transcribed"
      ? { item: { ...item, phrases: item.phrases + 1 }, tells: told(item, event, at) }
      : { item, tells: null },
  legEnded: { outlivesMs: lastWordsMs, expired: (item) => written(item, "failed") },
  restarted: { ending: (item) => written(item, "failed"), quiet: null }
})

export const transcriptionStart = transcription.verb({
  summary: "Transcribe the call while it goes on; each phrase is a `call.transcript_chunk`",
  when: "talking",
  body: BodyField.body(
    "StartTranscription",
    {
      language: BodyField.or(
        BodyField.of(
          BodyField.matching(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,4}$/u, "must be a BCP 47 language tag"),
          "What is spoken, a BCP 47 tag.",
          "en-US"
        ),
        "en"
      ),
      engine: BodyField.or(BodyField.of(Message.Engine, "How well and how soon.", "fast"), "fast"),
      tracks: BodyField.or(
        BodyField.of(
          Message.Tracks,
          "`inbound`: the far end of the leg. `outbound`: what it hears. `both`: both, each by itself.",
          "both"
        ),
        "inbound"
      )
    },
    { tracks: "transcription_tracks" }
  ),
  errors: ["transcription_already_active", "unprocessable", ...reservationErrors],
  recognizes: ({ engine, language }) => ({ engine, language }),
  act: ({ derive, now, of }, { engine, language, tracks }) => {
    const id = derive("transcription")
    return {
      type: "begin",
      item: {
        id,
        engine,
        language,
        tracks,
        startedAt: now,
        phrases: 0,
        media: { type: "start_transcription", id, callId: of.callId, engine, language, tracks }
      }
    }
  }
})

const none = ApiError.of("transcription_not_active", "no transcription is running on this call")

export const transcriptionStop = transcription.verb({
  summary: "End the transcription; its last words still come",
  when: "talking",
  body: BodyField.nothing,
  errors: ["transcription_not_active"],
  act: () => ({
    type: "change",
    none,
    change: (item) => ({
      item,
      tells: null,
      leaves: true,
      media: [{ type: "stop_transcription", transcription: item.id }]
    })
  })
})
