import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as StreamField from "../../domain/schema/StreamField.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import type { CallState } from "./machine/CallState.ts"
import { isStream } from "./verb/Streaming.ts"

/** A media stream as the API shows it, guide/streams.md#starting-a-stream. */
export const MediaStream = Wire.struct({
  id: Field.streamId,
  callId: Field.callId(),
  legId: Field.legId(),
  ...StreamField.shown,
  status: Field.oneOf("A list has only those that are `starting` or `active`.", [
    "active",
    "starting",
    "stopped",
    "failed"
  ]),
  failureReason: Field.textOrNull("Why it failed; null: it has not.", null),
  startedAt: Field.timeOrNull("When it was connected; null until then."),
  stoppedAt: Field.timeOrNull("When it ended; null until then."),
  createdAt: Field.time("When it was asked for.")
}).pipe(Schema.annotateEncoded({ identifier: "MediaStream" }))
export type MediaStream = typeof MediaStream.Encoded

const encode = Wire.encoder(MediaStream)

/** The running streams of a call, without one that is stopping. */
export const ofState = ({ id, work }: CallState): ReadonlyArray<MediaStream> =>
  work
    .filter(isStream)
    .filter(({ stop }) => stop === null)
    .map((item) =>
      encode({
        id: item.streamId,
        callId: id,
        legId: item.legId,
        streamUrl: item.streamUrl,
        streamTrack: item.streamTrack,
        streamCodec: item.streamCodec,
        status: item.startedAt === null ? "starting" : "active",
        failureReason: null,
        startedAt: item.startedAt,
        stoppedAt: null,
        createdAt: item.createdAt
      })
    )
