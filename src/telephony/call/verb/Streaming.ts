import { Schema } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import { disagreement } from "../../../domain/schema/CodedCheck.ts"
import * as Id from "../../../domain/Id.ts"
import { StreamId } from "../../../domain/Id.ts"
import type { StreamEvent } from "../../../domain/event/StreamEvent.ts"
import * as StreamField from "../../../domain/schema/StreamField.ts"
import * as StreamMessages from "../../../ports/media/StreamMessages.ts"
import * as ActionKind from "./ActionKind.ts"
import * as BodyField from "../../verb/BodyField.ts"
import * as StreamBody from "./StreamBody.ts"

/**
 * The media stream of a call: its sound goes to a WebSocket server of the tenant, which may answer, guide/streams.md.
 *
 * A call has one at a time. Each that begins ends with one `stream.stopped` or `stream.failed`, after one
 * `stream.started` if it was connected.
 */
const fields = {
  streamId: StreamId,
  /** The URL without its query, which may hold a token. */
  streamUrl: Schema.String,
  streamTrack: StreamMessages.Track,
  /** Null: the codec of the call. */
  streamCodec: Schema.NullOr(StreamField.StreamCodec),
  createdAt: Schema.Number,
  /** Null until it is connected. */
  startedAt: Schema.NullOr(Schema.Number)
}

export const isStream = (
  item: ActionKind.Activity
): item is ActionKind.Activity & Schema.Struct<typeof fields>["Type"] => item.type === "stream"

type Item = Schema.Struct<typeof fields>["Type"]

const shown = ({ streamCodec, streamId, streamTrack, streamUrl }: Item) => ({
  streamId,
  streamUrl,
  streamTrack,
  streamCodec
})

const stopped =
  (item: Item): ActionKind.Ending =>
  (of, at) => ({
    type: "stream.stopped",
    data: {
      ...of,
      ...shown(item),
      stoppedAt: at,
      durationSeconds: item.startedAt === null ? 0 : Math.ceil((at - item.startedAt) / 1000)
    }
  })

type FailedReason = Extract<StreamEvent, { readonly type: "stream.failed" }>["data"]["failureReason"]

const failed =
  (item: Item, failureReason: FailedReason, detail: string | null): ActionKind.Ending =>
  (of, at) => ({ type: "stream.failed", data: { ...of, ...shown(item), failureReason, detail, failedAt: at } })

const isReason = Schema.is(StreamMessages.Failure)

/** The media plane reports a reason and a detail; any other failure is ours. */
const failedAs = (item: Item, told: string | null): ActionKind.Ending => {
  const [reason = "", ...detail] = (told ?? "").split(": ")
  return isReason(reason)
    ? failed(item, reason, detail.length === 0 ? null : detail.join(": "))
    : failed(item, "carrier_error", told)
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/u, "")

const started = (
  { derive, now, of }: Pick<ActionKind.Moment, "derive" | "now" | "of">,
  options: StreamMessages.Options
): ActionKind.Started<ActionKind.Activity & Item> => {
  const id = derive("stream")
  const streamId = Id.ofOpaque("stream", id)
  return {
    id,
    media: { type: "start_stream", id, streamId, options, of },
    streamId,
    streamUrl: withoutQuery(options.url),
    streamTrack: options.track,
    streamCodec: options.codec,
    createdAt: now,
    startedAt: null
  }
}

const stream = ActionKind.make("stream", fields, {
  limit: 1,
  full: "a stream is already running on this call",
  fullCode: "streaming_already_active",
  told: (item, { reason, status }) => (status === "failed" ? failedAs(item, reason) : stopped(item)),
  heard: (item, event, at) =>
    event.type === "stream_started" && item.startedAt === null
      ? {
          item: { ...item, startedAt: at },
          tells: (of) => ({ type: "stream.started", data: { ...of, ...shown(item), startedAt: at } })
        }
      : { item, tells: null },
  starts: ({ stream: options }, occasion, moment) =>
    occasion === "answering" && options !== null ? started(moment, options) : null,
  legEnded: { ending: stopped },
  restarted: {
    ending: (item) => failed(item, "carrier_error", "the service was restarted"),
    quiet: { type: "stop_stream" }
  }
})

export const streamingStart = stream.verb({
  summary: "Stream the call's audio to a WebSocket server, which may talk back",
  when: "talking",
  body: BodyField.body("StartStreaming", { streamUrl: StreamBody.requiredUrl, ...StreamBody.fields }).check(
    disagreement(StreamBody.fault)
  ),
  errors: ["streaming_already_active"],
  sockets: ({ streamUrl }) => ({ stream_url: streamUrl }),
  act: (moment, { streamUrl, ...body }) => ({
    type: "begin",
    item: started(moment, StreamBody.optionsOf(streamUrl, body))
  })
})

const notFound = ApiError.of("streaming_not_found", "no such stream is running on this call")

export const streamingStop = stream.verb({
  summary: "Stop the stream",
  when: "talking",
  body: BodyField.body("StopStreaming", {
    streamId: BodyField.or(
      Schema.NullOr(Id.spelled("stream")).annotate({
        description: "Which; null: the one that runs.",
        examples: [null]
      }),
      null
    )
  }),
  errors: ["streaming_not_found"],
  // The stream reports its own end.
  act: (_, { streamId }) => ({
    type: "stop",
    which: "all",
    media: { type: "stop_stream" },
    only: (item) => streamId === null || item.streamId === streamId,
    none: notFound
  })
})
